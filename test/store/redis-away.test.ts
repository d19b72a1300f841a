import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createApp, type App } from '../../src/app.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { systemClock } from '../../src/model/time.ts'
import { addMember } from '../../src/admin/memberships.ts'
import { addUser } from '../../src/admin/users.ts'
import { createWorkspace } from '../../src/admin/workspaces.ts'
import { openStorage, type StorageHandle } from '../../src/store/open.ts'
import { transact } from '../../src/store/transact.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { quiet } from '../support/log.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

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
  const tools = { store: storage.store, clock: systemClock, random: systemRandom }
  app = createApp({ ...tools, blobs: storage.blobs, log: quiet })
  const { id } = await createWorkspace(tools, 'Acme')
  const user = await addUser(tools, { display_name: 'Ann' })
  await addMember(tools, id, user, 'member')
  const wanted = { userId: user.id, name: 'test', scopes: ['kanban:admin'] }
  token = (await transact(tools.store, id, tools.random, (tx) => issueToken(tx, wanted, tools.clock, tools.random))).plaintext
  board = (await made('/boards', { name: 'Board' })).id
  const column = (await made(`/boards/${board}/columns`, { name: 'Column' })).id
  card = (await made(`/boards/${board}/cards`, { column_id: column, title: 'Card' })).id
  attachment = ((await (await upload('before')).json()) as any).data.id
})
afterEach(async () => {
  await app.services.usage.settled()
  await storage.close()
  await server.stop()
})

const request = (method: string, path: string, body?: object | FormData): Promise<Response> =>
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
const made = async (path: string, body: object) => ((await (await request('POST', `/v1${path}`, body)).json()) as any).data
function upload(text: string): Promise<Response> {
  const form = new FormData()
  form.set('file', new File([text], 'a.txt'))
  return request('POST', `/v1/cards/${card}/attachments`, form)
}

/** Every kind of request: reads, a list, a write, an upload. */
const all = (): Promise<Response>[] => [
  request('GET', '/v1/account'),
  request('GET', `/v1/boards/${board}`),
  request('GET', `/v1/boards/${board}/cards`),
  request('PATCH', `/v1/boards/${board}`, { name: 'While it is away' }),
  request('DELETE', `/v1/cards/${card}`),
  upload('while it is away'),
]

async function expectUnavailable(answers: readonly Promise<Response>[]): Promise<void> {
  for (const answer of await Promise.all(answers)) {
    const body = (await answer.json()) as any
    expect([answer.status, body.error?.code, answer.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
    expect(answer.headers.get('www-authenticate')).toBeNull()
    expect(JSON.stringify(body)).not.toMatch(/redis|127\.0\.0\.1|econn|oom/i)
  }
}

async function expectHealth(ready: number): Promise<void> {
  const [health, readiness] = await Promise.all([request('GET', '/healthz'), request('GET', '/readyz')])
  expect([health.status, readiness.status]).toEqual([200, ready])
}

/** Waits until the service is ready again: by itself. */
async function recovered(): Promise<void> {
  while ((await request('GET', '/readyz')).status !== 200) await new Promise((resolve) => setTimeout(resolve, 20))
  expect((await request('GET', '/healthz')).status).toBe(200)
  expect(((await (await request('GET', `/v1/boards/${board}`)).json()) as any).data.name).toBe('Board')
  expect((await request('GET', `/v1/cards/${card}`)).status).toBe(200)
  const bytes = await request('GET', `/v1/attachments/${attachment}/content`)
  expect(await bytes.text()).toBe('before')
  while ((await upload('after')).status !== 201) await recovered()
  expect((await request('PATCH', `/v1/boards/${board}`, { name: 'After' })).status).toBe(200)
}

describe('over HTTP, while Redis', () => {
  test('is away: 503 to everything, never a 401; ready again once it is back', async () => {
    await expectHealth(200)
    await server.kill()
    await expectUnavailable(all())
    await expectHealth(503)
    server = await server.restart()
    await recovered()
  })

  test('is stopped: the same', async () => {
    server.process.kill('SIGSTOP')
    await expectUnavailable(all())
    await expectHealth(503)
    server.process.kill('SIGCONT')
    await recovered()
  })

  test('goes away between the records and the bytes of a file: the same', async () => {
    const { blobs } = app.services
    const write = blobs.write.bind(blobs)
    Object.assign(blobs, { write: async (...args: Parameters<typeof write>) => (await server.kill(), write(...args)) })
    await expectUnavailable([upload('lost')])
    Object.assign(blobs, { write })
    server = await server.restart()
    await recovered()
  })

  test('has no memory left: writes are refused, what there is can be read', async () => {
    const own = new Redis(server.port, '127.0.0.1')
    await own.config('SET', 'maxmemory', '1mb')
    const [account, read, list, ...writes] = all()
    await expectUnavailable(writes)
    expect([(await account!).status, (await read!).status, (await list!).status]).toEqual([200, 200, 200])
    await expectHealth(503)
    await own.config('SET', 'maxmemory', '0')
    own.disconnect()
    await recovered()
  })
})
