import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStorage, type StorageHandle } from '../../src/store/open.ts'
import { BadRedisUrl } from '../../src/store/redis/client.ts'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { TestBoard } from '../support/board.ts'
import { contract } from '../support/contract.ts'
import type { Driver } from '../support/drivers.ts'
import { Ledger } from '../support/operation-log.ts'
import { quiet } from '../support/log.ts'
import { startProcess } from '../support/process.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'
import { startCluster, startWatched, type RedisCluster } from '../support/redis-cluster.ts'
import { Service } from '../support/service.ts'

const on = (storage: StorageHandle): Driver => ({
  name: storage.kind,
  open: async () => ({
    ...storage,
    recordKeys: () => Promise.reject(new Error('not here')),
    blobKeys: () => Promise.reject(new Error('not here')),
  }),
})

/** What people do with a board, and read again. */
async function smoke(service: Service): Promise<void> {
  const workspaceId = await service.workspace()
  const [ann, bob] = [await service.person(workspaceId), await service.person(workspaceId)]
  const board = await TestBoard.create(service, ann)
  const column = await board.column()
  const cards = [await board.card(column, 'one'), await board.card(column, 'two'), await board.card(column, 'three')]
  await board.put(`/cards/${cards[0]}/assignees/${bob.id}`)
  await board.post(`/cards/${cards[2]}/move`, { to: 'first' })
  const { body } = await board.attach(cards[1]!, { text: 'x'.repeat(300_000) })
  expect((await board.get(`/attachments/${body.data.id}/content`)).text).toHaveLength(300_000)
  expect(await board.titles('', 1)).toEqual(['three', 'one', 'two'])
  await board.put(`/boards/${board.id}/visibility`, { visibility: 'private' })
  expect((await board.read(cards[0]!)).assignee_ids).toEqual([])
  expect((await service.send(bob.read, 'GET', `/boards/${board.id}`)).status).toBe(404)
  const { headers } = await board.get(`/boards/${board.id}`)
  const both = ['x', 'y'].map((name) => board.send('PATCH', `/boards/${board.id}`, { name }, { 'if-match': headers.get('etag')! }))
  expect((await Promise.all(both)).map(({ status }) => status).toSorted()).toEqual([200, 412])
}

describe('a cluster of three nodes', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startCluster({ password: 'p@ss/word' })
  })
  afterAll(() => cluster.stop())

  test('workspaces are spread over the nodes, and everything works on each', async () => {
    const service = await Service.start(on(await openStorage(cluster.url, { log: quiet })))
    const workspacesOn = async ({ port }: RedisServer): Promise<number> => {
      const client = new Redis({ port, host: '127.0.0.1', password: 'p@ss/word' })
      const keys = await client.keys('lk:{wsp_*}:n')
      client.disconnect()
      return keys.length
    }
    do await smoke(service)
    while ((await Promise.all(cluster.nodes.map(workspacesOn))).includes(0))
    await service.store.ready()
    await service.stop()
  })

  describe('keeps the contract of the store', () => {
    let stores = 0
    contract(() => openRedisStore(cluster.url, { log: quiet, prefix: `t${stores++}` }))
  })

  test('nothing is lost or done twice, though nodes lose their connections, and stop for a while', async () => {
    const store = await openRedisStore(cluster.url, { log: quiet })
    const ledger = new Ledger(store)
    ledger.start()
    for (const { port } of cluster.nodes) {
      await ledger.more(20, 'done')
      const client = new Redis({ port, host: '127.0.0.1', password: 'p@ss/word' })
      await client.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      client.disconnect()
    }
    await ledger.more(50, 'done')
    for (const { process } of cluster.nodes) {
      process.kill('SIGSTOP')
      await expect(store.ready()).rejects.toThrow('Redis')
      process.kill('SIGCONT')
      await ledger.more(20, 'done')
    }
    await ledger.stop()
    const fresh = await openRedisStore(cluster.url, { log: quiet })
    expect(await ledger.problems(fresh)).toEqual([])
    await Promise.all([store.close(), fresh.close()])
  })
})

describe('a sentinel', () => {
  test('leads to the master, and to the replica that took its place', async () => {
    const watched = await startWatched()
    const storage = await openStorage(watched.url, { log: quiet })
    const service = await Service.start(on(storage))
    await smoke(service)
    const ledger = new Ledger(storage.store)
    ledger.start()
    await ledger.more(20, 'done')
    // What was acknowledged and not yet replicated may be lost in a failover: Redis promises no more. So nothing is held against it here.
    await watched.master.kill()
    await ledger.more(20, 'not done', 'unknown')
    await ledger.more(20, 'done')
    await ledger.stop()
    await storage.store.ready()
    await smoke(service)
    await service.stop()
    await watched.stop()
  })
})

describe('a password in the address', () => {
  const PASSWORD = 's3cr%t:/@pässword'
  const address = ({ port }: RedisServer, password: string, user = '') =>
    `redis://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}`
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis(['--requirepass', PASSWORD])
    const client = new Redis({ port: server.port, host: '127.0.0.1', password: PASSWORD })
    await client.call('ACL', 'SETUSER', 'lane', 'on', `>${PASSWORD}`, '~*', '+@all')
    await client.call('ACL', 'SETUSER', 'narrow', 'on', `>${PASSWORD}`, '~lk:*', '+@all', '-@admin', '-info')
    client.disconnect()
  })
  afterAll(() => server.stop())

  test.each(['', 'lane', 'default', 'narrow'])('lets in user "%s"', async (user) => {
    const storage = await openStorage(address(server, PASSWORD, user), { log: quiet })
    await storage.store.ready()
    await storage.close()
  })

  test.each([
    ['is wrong', (right: string) => right.replace('s3cr', 'wr0ng'), /WRONGPASS/],
    ['is missing', (right: string) => right.replace(/\/\/.*@/, '//'), /NOAUTH/],
    ['is of a server that is not there', (right: string) => right.replace(/:\d+$/, ':1'), /ECONNREFUSED/],
  ])('that %s: it says so, and never says it', async (_what, spoil, reason) => {
    const lines: string[] = []
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    const url = spoil(address(server, PASSWORD))
    const error = (await openStorage(url, { log }).catch((thrown: unknown) => thrown)) as Error
    expect([error.name, error.message]).toEqual(['Unavailable', expect.stringMatching(reason)])
    log.error({ err: error }, error.stack)
    expect(lines.join('')).not.toMatch(/s3cr|wr0ng|pässword|p%C3%A4ssword/)
  })

  test.each(['redis://:%zz-s3cret@127.0.0.1:6379', 'redis-cluster://:%zz-s3cret@127.0.0.1:6379', 'redis-cluster://:s3cret@127.0.0.1:port'])(
    'of an address that cannot be read, %s: the same',
    async (url) => {
      const error = (await openStorage(url, { log: quiet }).catch((thrown: unknown) => thrown)) as Error
      expect(error).toBeInstanceOf(BadRedisUrl)
      expect(`${error.message} ${error.stack}`).not.toContain('s3cret')
    },
  )

  test('and a process never prints it, whatever happens to Redis', async () => {
    const own = await startRedis(['--requirepass', PASSWORD])
    const env = { LANEKEEPER_LOG: 'debug', LANEKEEPER_STORAGE: address(own, PASSWORD) }
    const service = startProcess(['serve', '--json', '--demo'], env)
    const { url } = JSON.parse(await service.until('\n')) as { url: string }
    await own.kill()
    expect((await fetch(`${url}/readyz`)).status).toBe(503)
    const late = startProcess(['serve'], env)
    await expect(late.until('never')).rejects.toThrow('ended with 4')
    await service.stop()
    await own.stop()
    const printed = [service, late].map((process) => process.stdout() + process.stderr()).join('')
    expect(printed).toContain('redis connection')
    expect(printed).not.toMatch(/s3cr|pässword|p%C3%A4ssword/)
  })
})
