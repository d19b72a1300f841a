import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDerivations } from '../../src/resources/derived.ts'
import { openStorage } from '../../src/store/open.ts'
import { TestBoard } from '../support/board.ts'
import { quiet } from '../support/log.ts'
import { driverOf } from '../support/redis-place.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'
import { Service, type Reply } from '../support/service.ts'

let server: RedisServer
let service: Service
let board: TestBoard
let card: string
let attachment: string

beforeEach(async () => {
  server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
  service = await Service.start(driverOf(await openStorage(server.url, { log: quiet, derived: createDerivations() })))
  board = await TestBoard.create(service, await service.person(await service.workspace()))
  card = await board.card(await board.column())
  attachment = (await upload('before')).body.data.id
})
afterEach(async () => {
  await service.stop()
  await server.stop()
})

const upload = (text: string) => board.attach(card, { text })

/** Requests of every kind: two reads, a list, two writes and an upload. */
const sendAll = () => [
  board.get('/account'),
  board.get(`/boards/${board.id}`),
  board.get(`/boards/${board.id}/cards`),
  board.send('PATCH', `/boards/${board.id}`, { name: 'During the outage' }),
  board.send('DELETE', `/cards/${card}`),
  upload('during the outage'),
]

async function expectUnavailable(replies: readonly Promise<Reply>[]): Promise<void> {
  for (const { status, headers, body, text } of await Promise.all(replies)) {
    expect({ status, code: body.error?.code, retryAfter: headers.get('retry-after') }).toEqual({
      status: 503,
      code: 'unavailable',
      retryAfter: '1',
    })
    expect(headers.get('www-authenticate')).toBeNull()
    expect(text).not.toMatch(/redis|127\.0\.0\.1|econn|oom/i)
  }
}

const statusOf = async (path: string) => (await service.app.fetch(new Request(`http://localhost${path}`))).status
const expectHealth = async (ready: number) => expect(await Promise.all(['/healthz', '/readyz'].map(statusOf))).toEqual([200, ready])

/** Waits until the service is ready again, and checks that nothing was written during the outage. */
async function expectRecovery(): Promise<void> {
  await expect.poll(() => statusOf('/readyz')).toBe(200)
  await expectHealth(200)
  expect((await board.get(`/boards/${board.id}`)).body.data.name).toBe('Board')
  expect((await board.get(`/cards/${card}`)).status).toBe(200)
  expect((await board.get(`/attachments/${attachment}/content`)).text).toBe('before')
  while ((await upload('after')).status !== 201) await expectRecovery()
  await board.patch(`/boards/${board.id}`, { name: 'After' })
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
    const { blobs } = service.app.services
    const write = blobs.write.bind(blobs)
    Object.assign(blobs, { write: async (...args: Parameters<typeof write>) => (await server.kill(), write(...args)) })
    await expectUnavailable([upload('lost')])
    Object.assign(blobs, { write })
    server = await server.restart()
    await expectRecovery()
  })
})
