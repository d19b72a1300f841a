import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDerivations } from '../../src/resources/derived.ts'
import { openStorage } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port.ts'
import { Pool } from '../../src/store/redis/pool.ts'
import { slotOf } from '../../src/store/redis/slots.ts'
import { openRedisStore, type RedisStore } from '../../src/store/redis/store.ts'
import { TestBoard } from '../support/board.ts'
import { readRequest } from '../support/changes.ts'
import { contract } from '../support/contract.ts'
import { quiet } from '../support/log.ts'
import { OperationLog } from '../support/operation-log.ts'
import type { RedisServer } from '../support/redis.ts'
import { driverOf } from '../support/redis-place.ts'
import { startCluster, startSentinel, type RedisCluster } from '../support/redis-cluster.ts'
import { Service } from '../support/service.ts'

const PASSWORD = 'p@ss/word'
const clientOf = ({ port }: RedisServer) => new Redis({ port, host: '127.0.0.1', password: PASSWORD })

/** Typical requests to a board, each followed by a read of its result. */
async function smokeTest(service: Service): Promise<void> {
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
  const concurrent = ['x', 'y'].map((name) => board.send('PATCH', `/boards/${board.id}`, { name }, { 'if-match': headers.get('etag')! }))
  expect((await Promise.all(concurrent)).map(({ status }) => status).toSorted()).toEqual([200, 412])
}

/** Closes all connections to nodes of a cluster, from their side. */
async function killConnections({ nodes }: Pick<RedisCluster, 'nodes'>): Promise<void> {
  for (const node of nodes) {
    const client = clientOf(node)
    await client.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    client.disconnect()
  }
}

const isReady = (store: Pick<Store, 'ready'>) =>
  store.ready().then(
    () => true,
    () => false,
  )

describe('a Redis cluster of three nodes', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startCluster({ password: PASSWORD })
  })
  afterAll(() => cluster.stop())

  test('the smoke test passes with workspaces on every node of a cluster', async () => {
    const service = await Service.start(driverOf(await openStorage(cluster.url, { log: quiet, derived: createDerivations() })))
    const workspacesOn = async (node: RedisServer): Promise<number> => {
      const client = clientOf(node)
      const keys = await client.keys('lk:{wsp_*}:n')
      client.disconnect()
      return keys.length
    }
    do await smokeTest(service)
    while ((await Promise.all(cluster.nodes.map(workspacesOn))).includes(0))
    await service.store.ready()
    await service.stop()
  })

  describe('the storage port on a Redis cluster', () => {
    let stores = 0
    contract(() => openRedisStore(cluster.url, { log: quiet, derived: [], prefix: `t${stores++}` }))
  })

  // The client reports both in the same way as a redirection, which is a refusal.
  test.each([
    ['whose connection is lost', 'Connection is closed.', killConnections],
    ['that times out', 'Command timed out', () => undefined],
  ])('a command to a cluster node %s is not counted as refused', async (_what, message, interrupt) => {
    const pool = await Pool.open(cluster.url, 1, quiet)
    const waiting = pool.run((client) => client.blpop('lk:{a}:never', 0))
    const failed = expect(waiting).rejects.toMatchObject({ refused: false, unsent: false, message })
    await interrupt(cluster)
    await failed
    pool.close()
  })

  test('the slot of a hash tag is the one that the cluster computes', async () => {
    const client = clientOf(cluster.nodes[0]!)
    for (const tag of ['', '0', 'wsp_01', 'global', 'é🦊', 'x'.repeat(99)])
      expect([tag, slotOf(tag)]).toEqual([tag, tag === '' ? 0 : await client.cluster('KEYSLOT', `lk:{${tag}}:n`)])
    client.disconnect()
  })

  test('a cluster with an emptied node is not ready, and its tokens are not called invalid', async () => {
    const store = await openRedisStore(cluster.url, { log: quiet, derived: [], prefix: 'emptied' })
    const partitions = Array.from({ length: 30 }, (_, i) => `w${i}`)
    const absent = (partition: string) =>
      store.read(partition, readRequest({ records: ['a:1'] })).then(
        () => 'absent',
        ({ name }: Error) => name,
      )
    expect(new Set(await Promise.all(partitions.map(absent)))).toEqual(new Set(['absent']))
    const client = clientOf(cluster.nodes[1]!)
    await client.flushall()
    client.disconnect()
    const [first, end] = [Math.floor(16_384 / 3), Math.floor((2 * 16_384) / 3)]
    const isThere = (partition: string) => slotOf(partition) >= first && slotOf(partition) < end
    expect(await Promise.all(partitions.map(absent))).toEqual(
      partitions.map((partition) => (isThere(partition) ? 'StorageUnavailable' : 'absent')),
    )
    await expect(store.ready()).rejects.toMatchObject({ message: expect.stringContaining('emptied') })
    await store.close()
  })

  test('no commit is lost or done twice when cluster nodes lose their connections or stop for a while', async () => {
    const store = await openRedisStore(cluster.url, { log: quiet, derived: [] })
    const operations = new OperationLog(store)
    operations.start()
    for (const node of cluster.nodes) {
      await operations.more(20, 'done')
      await killConnections({ nodes: [node] })
    }
    await operations.more(50, 'done')
    for (const { process } of cluster.nodes) {
      process.kill('SIGSTOP')
      await expect(store.ready()).rejects.toThrow('Redis')
      process.kill('SIGCONT')
      await operations.more(20, 'done')
    }
    await operations.stop()
    // On a loaded machine, the nodes may need longer to agree that all are present than opening a store may take.
    let verifier: RedisStore | undefined
    while (verifier === undefined) verifier = await openRedisStore(cluster.url, { log: quiet, derived: [] }).catch(() => undefined)
    expect(await operations.findViolations(verifier)).toEqual([])
    await Promise.all([store.close(), verifier.close()])
  })
})

describe('Redis with a sentinel', () => {
  test('the service uses the master, and after a failover the promoted replica', async () => {
    const sentinel = await startSentinel()
    const storage = await openStorage(sentinel.url, { log: quiet, derived: createDerivations() })
    const service = await Service.start(driverOf(storage))
    await smokeTest(service)
    const operations = new OperationLog(storage.store)
    operations.start()
    await operations.more(20, 'done')
    // A failover may lose commits that were acknowledged and not yet replicated, so the outcomes are not verified here.
    await sentinel.failOver()
    // Commits that were in flight can still be acknowledged: more of them than there are clients are new ones.
    await operations.more(20, 'done')
    await operations.stop()
    await storage.store.ready()
    // Bytes have another connection, which was idle until now.
    await expect.poll(() => isReady(storage.blobs)).toBe(true)
    await smokeTest(service)
    await service.stop()
    await sentinel.stop()
  })
})
