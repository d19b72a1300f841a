import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RateLimitOptions } from '../../src/governor/quotas.ts'
import { startListener, type Listener } from '../../src/listener/listener.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person, type Reply } from '../support/service.ts'

// Windows, attempts, and a service without limits: governor/quotas.test.ts. Which addresses are one network: client-address.test.ts.

const MINUTE = 60_000
const quotas = { token: 3, workspace: 5, address: 2 }

let service: Service
let ann: Person
let bob: Person
let workspaceId: string
let listener: Listener | undefined
const start = async (options: Partial<RateLimitOptions> = {}) => {
  service = await Service.start(memory, { rateLimits: { quotas, ...options }, proxies: 1 })
  workspaceId = await service.workspace()
  ann = await service.person(workspaceId, 'member', 'Ann')
  bob = await service.person(workspaceId, 'member', 'Bob')
}
beforeEach(() => start())
afterEach(async () => {
  await listener?.close()
  listener = undefined
  await service.stop()
})

/** What a response says about rates, and its status. */
const ratesOf = ({ status, headers }: Reply) => [
  status,
  headers.get('ratelimit'),
  headers.get('ratelimit-policy'),
  headers.get('retry-after'),
]
const statusOf = async (token: string | null, path = '/account', headers: Record<string, string> = {}) =>
  (await service.send(token, 'GET', path, undefined, headers)).status
const POLICY = '"token";q=3;w=60, "workspace";q=5;w=60'

test('an upload that is refused costs the bytes that were received', async () => {
  await service.stop()
  await start({ quotas: { token: 100, workspace: 1000, address: 2 } })
  const board = await TestBoard.create(service, ann)
  const cardId = await board.card(await board.column())
  service.now += MINUTE
  const part = (text: string) => `--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n${text}\r\n`
  const twice = `${part('x'.repeat(12 * 1024 * 1024))}${part('')}--x--\r\n`
  const refused = await service.send(ann.write, 'POST', `/cards/${cardId}/files`, twice, {
    'content-type': 'multipart/form-data; boundary=x',
  })
  expect(refused.status).toBe(422)
  // Of 13 MiB begun, the first ten cost nothing, and the others four each.
  expect((await service.send(ann.write, 'GET', '/account')).headers.get('ratelimit')).toContain('"token";r=86;')
})

describe('the rate of a token', () => {
  test('each response states what remains of the minute, and the request after the last one is refused', async () => {
    service.now += 20_300
    const replies = [1, 2, 3, 4, 5].map(() => () => service.send(ann.read, 'GET', '/account'))
    const rates: unknown[] = []
    for (const send of replies) rates.push(ratesOf(await send()))
    expect(rates).toEqual([
      [200, '"token";r=2;t=40, "workspace";r=4;t=40', POLICY, null],
      [200, '"token";r=1;t=40, "workspace";r=3;t=40', POLICY, null],
      [200, '"token";r=0;t=40, "workspace";r=2;t=40', POLICY, null],
      // What is refused to one token is not missing to the others.
      [429, '"token";r=0;t=40, "workspace";r=2;t=40', POLICY, '40'],
      [429, '"token";r=0;t=40, "workspace";r=2;t=40', POLICY, '40'],
    ])
  })

  test('a refused request has the code rate_limited, and reads and changes nothing but its token', async () => {
    for (let i = 0; i < 3; i++) await statusOf(ann.write)
    service.store.touched.length = 0
    const reply = await service.send(ann.write, 'POST', '/boards', { name: 'New' })
    expect({ status: reply.status, error: reply.body.error }).toEqual({
      status: 429,
      error: { code: 'rate_limited', message: 'Too many requests. Try again later.', request_id: reply.headers.get('x-request-id') },
    })
    expect(service.store.touched.filter((key) => !/^(token|membership):/.test(key))).toEqual([])
    service.now += MINUTE
    expect((await service.send(ann.read, 'GET', '/boards')).body.data).toEqual([])
  })

  test('every answer is counted, also one that refuses the request', async () => {
    const statuses = [await statusOf(ann.read, '/unknown'), await statusOf(ann.none), await statusOf(ann.read, '/boards?limit=x')]
    expect(statuses).toEqual([404, 403, 422])
    expect((await service.send(ann.read, 'GET', '/account')).headers.get('ratelimit')).toMatch(/^"token";r=0;t=60, "workspace";r=1;/)
  })
})

describe('the rate of a workspace', () => {
  test('the requests of all tokens of a workspace count together, and the requests of another workspace do not', async () => {
    const other = await service.person(await service.workspace('Other'))
    for (const token of [ann.read, ann.read, ann.read, ann.write, bob.read]) expect(await statusOf(token)).toBe(200)
    const refused = await service.send(bob.read, 'GET', '/account')
    expect(ratesOf(refused)).toEqual([429, '"token";r=1;t=60, "workspace";r=0;t=60', POLICY, '60'])
    expect(await statusOf(other.read)).toBe(200)
  })
})

describe('the rate of failed credentials', () => {
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const wrong = async (address: string, token: string | null = 'wrong') =>
    ratesOf(await service.send(token, 'GET', '/account', undefined, from(address)))
  const unauthorized = (remaining: number) => [401, `"address";r=${remaining};t=60`, '"address";q=2;w=60', null]

  test('a failed credential is answered with 401, and with 429 when its address failed too often', async () => {
    expect([await wrong('192.0.2.1'), await wrong('192.0.2.1', null)]).toEqual([unauthorized(1), unauthorized(0)])
    expect(await wrong('192.0.2.1')).toEqual([429, '"address";r=0;t=60', '"address";q=2;w=60', '60'])
    expect(await wrong('192.0.2.2')).toEqual(unauthorized(1))
    service.now += MINUTE
    expect(await wrong('192.0.2.1')).toEqual(unauthorized(1))
  })

  test('an address that failed too often still succeeds with a valid token', async () => {
    for (let i = 0; i < 4; i++) await wrong('192.0.2.1')
    expect(await statusOf(ann.read, '/account', from('192.0.2.1'))).toBe(200)
  })

  test('a request whose token could not be checked is not counted, and states the rate of its address', async () => {
    service.store.beforeRead = async () => {
      throw new StorageUnavailable('gone')
    }
    const reply = await service.send(ann.read, 'GET', '/account', undefined, from('192.0.2.1'))
    service.store.beforeRead = undefined
    expect(ratesOf(reply)).toEqual([503, '"address";r=2;t=60', '"address";q=2;w=60', '1'])
    expect(await wrong('192.0.2.1')).toEqual(unauthorized(1))
  })
})

describe('responses that their client does not read', () => {
  test('count as requests in progress until their connection closes', async () => {
    await service.stop()
    await start({ inFlight: 2, quotas: { token: 1000, workspace: 1000, address: 1000 } })
    listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
    const board = await TestBoard.create(service, ann)
    // More than the operating system buffers for a connection.
    const file = await board.attach(await board.card(await board.column()), { text: 'x'.repeat(24 * 1024 * 1024) })
    const get = (path: string) => `GET /v1${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ann.read}\r\n\r\n`
    for (let round = 0; round < 2; round++) {
      service.records.length = 0
      const socket = connect(listener.port, '127.0.0.1').pause()
      // The second response waits behind the first one.
      socket.write(get(`/attachments/${file.body.data.id}/content`) + get('/account'))
      await expect.poll(() => service.records.map(({ status }) => status)).toEqual([200, 200])
      const refused = await service.send(ann.read, 'GET', '/account')
      expect({ status: refused.status, retryAfter: refused.headers.get('retry-after'), message: refused.body.error.message }).toEqual({
        status: 429,
        retryAfter: '1',
        message: 'Too many requests of this token are in progress. Wait for their responses.',
      })
      expect(await statusOf(bob.read)).toBe(200)
      socket.destroy()
      await expect.poll(() => statusOf(ann.read)).toBe(200)
    }
  })
})
