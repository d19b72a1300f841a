import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createApp, type App } from '../../src/app.ts'
import { addMember } from '../../src/admin/memberships.ts'
import { addUser } from '../../src/admin/users.ts'
import { createWorkspace } from '../../src/admin/workspaces.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { systemClock } from '../../src/model/time.ts'
import { openStorage, type StorageHandle } from '../../src/store/open.ts'
import { transact } from '../../src/store/transact.ts'
import { quiet } from '../support/log.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'
import { cheapPasswords } from '../support/service.ts'

let server: RedisServer
let storage: StorageHandle
let app: App
let token: string
let board: string
let card: string
let attachment: string

beforeEach(async () => {
  server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
  storage = await openStorage(server.url, { log: quiet })
  const deps = { store: storage.store, clock: systemClock, random: systemRandom }
  app = createApp({ ...deps, blobs: storage.blobs, log: quiet, passwords: cheapPasswords })
  const { id } = await createWorkspace(deps, 'Acme')
  const user = await addUser(deps, { display_name: 'Ann' })
  await addMember(deps, id, user, 'member')
  const tokenRequest = { userId: user.id, name: 'test', scopes: ['kanban:admin'] }
  token = (await transact(deps.store, id, deps.random, (tx) => issueToken(tx, tokenRequest, deps))).plaintext
  board = (await create('/boards', { name: 'Board' })).id
  const column = (await create(`/boards/${board}/columns`, { name: 'Column' })).id
  card = (await create(`/boards/${board}/cards`, { column_id: column, title: 'Card' })).id
  attachment = ((await (await upload('before')).json()) as any).data.id
})
afterEach(async () => {
  await app.services.usage.settled()
  await storage.close()
  await server.stop()
})

const send = (method: string, path: string, body?: object | FormData): Promise<Response> =>
  app.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    }),
  )
const create = async (path: string, body: object) => ((await (await send('POST', `/v1${path}`, body)).json()) as any).data
function upload(text: string): Promise<Response> {
  const form = new FormData()
  form.set('file', new File([text], 'a.txt'))
  return send('POST', `/v1/cards/${card}/attachments`, form)
}

/** Requests of every kind: two reads, a list, two writes and an upload. */
const sendAll = (): Promise<Response>[] => [
  send('GET', '/v1/account'),
  send('GET', `/v1/boards/${board}`),
  send('GET', `/v1/boards/${board}/cards`),
  send('PATCH', `/v1/boards/${board}`, { name: 'During the outage' }),
  send('DELETE', `/v1/cards/${card}`),
  upload('during the outage'),
]

async function expectUnavailable(responses: readonly Promise<Response>[]): Promise<void> {
  for (const response of await Promise.all(responses)) {
    const body = (await response.json()) as any
    expect([response.status, body.error?.code, response.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
    expect(response.headers.get('www-authenticate')).toBeNull()
    expect(JSON.stringify(body)).not.toMatch(/redis|127\.0\.0\.1|econn|oom/i)
  }
}

async function expectHealth(readyStatus: number): Promise<void> {
  const [health, readiness] = await Promise.all([send('GET', '/healthz'), send('GET', '/readyz')])
  expect([health.status, readiness.status]).toEqual([200, readyStatus])
}

/** Waits until the service is ready again, and checks that nothing was written during the outage. */
async function expectRecovery(): Promise<void> {
  await expect.poll(async () => (await send('GET', '/readyz')).status).toBe(200)
  expect((await send('GET', '/healthz')).status).toBe(200)
  expect(((await (await send('GET', `/v1/boards/${board}`)).json()) as any).data.name).toBe('Board')
  expect((await send('GET', `/v1/cards/${card}`)).status).toBe(200)
  const content = await send('GET', `/v1/attachments/${attachment}/content`)
  expect(await content.text()).toBe('before')
  while ((await upload('after')).status !== 201) await expectRecovery()
  expect((await send('PATCH', `/v1/boards/${board}`, { name: 'After' })).status).toBe(200)
}

describe('the HTTP API during an outage of Redis', () => {
  test('every request is answered with 503 while Redis is killed, and the service recovers after its restart', async () => {
    await expectHealth(200)
    await server.kill()
    await expectUnavailable(sendAll())
    await expectHealth(503)
    server = await server.restart()
    await expectRecovery()
  })

  test.each([
    ['emptied', (client: Redis) => client.flushall()],
    ['filled with other data', (client: Redis) => client.flushall().then(() => client.set('lk:id', 'another'))],
  ])('every request is answered with 503 after Redis was %s, and no token is called invalid', async (_how, empty) => {
    const client = new Redis(server.url)
    await empty(client)
    client.disconnect()
    await expectUnavailable(sendAll())
    await expectHealth(503)
  })

  test('an upload is answered with 503 when Redis is killed between its records and its bytes', async () => {
    const { blobs } = app.services
    const write = blobs.write.bind(blobs)
    Object.assign(blobs, { write: async (...args: Parameters<typeof write>) => (await server.kill(), write(...args)) })
    await expectUnavailable([upload('lost')])
    Object.assign(blobs, { write })
    server = await server.restart()
    await expectRecovery()
  })
})
