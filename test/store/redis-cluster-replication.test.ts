import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { openRedisBlobDriver } from '../../src/store/redis/blob-driver.ts'
import { slotOf } from '../../src/store/redis/slots.ts'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { change } from '../support/changes.ts'
import { quiet } from '../support/log.ts'
import { untilAcknowledged } from '../support/replication.ts'
import { startCluster, startNode } from '../support/redis-cluster.ts'

test('in a cluster, a write waits for replicas of the node that has its keys', async () => {
  const cluster = await startCluster()
  const [master] = cluster.nodes
  const replica = await startNode()
  const operators = [master!, replica].map(({ port }) => new Redis(port, '127.0.0.1'))
  await operators[0]!.config('SET', 'repl-diskless-sync-delay', '0')
  await operators[1]!.call('CLUSTER', 'MEET', '127.0.0.1', master!.port)
  const masterId = String(await operators[0]!.cluster('MYID'))
  const replicate = () => operators[1]!.call('CLUSTER', 'REPLICATE', masterId).catch(() => undefined)
  while ((await replicate()) === undefined);
  while (!/slave0:.*state=online/.test(await operators[0]!.info('replication')));

  const url = `${cluster.url}?wait=1&wait_timeout=300`
  const store = await openRedisStore(url, { log: quiet, derived: [] })
  const outcome = (work: () => Promise<unknown>) =>
    work().then(
      () => 'done',
      ({ message }: Error) => message,
    )
  /** The outcome of a write that may be repeated. */
  const outcomeOf = (key: string, work: () => Promise<unknown>) => outcome(expected(key) === 'done' ? () => untilAcknowledged(work) : work)
  const expected = (key: string) => (slotOf(key) < Math.floor(16_384 / 3) ? 'done' : '0 of 1 replicas answered in time')
  const keys = Array.from({ length: 12 }, (_, i) => `w${i}`)
  expect(new Set(keys.map(expected)).size).toBe(2)
  for (const partition of keys)
    expect(await outcomeOf(partition, () => store.commit(partition, change({ put: { 'a:1': {} } })))).toBe(expected(partition))
  // The other masters have no replicas.
  expect(await outcome(() => store.ready())).toBe('0 of 1 replicas answered in time')
  const bytes = await openRedisBlobDriver(url, quiet)
  for (const key of keys) {
    const name = `lk:bytes:${key}`
    expect(await outcomeOf(name, async () => bytes.setItem!(key, 'x', {}))).toBe(expected(name))
  }
  await bytes.dispose!()
  await store.close()
  for (const operator of operators) operator.disconnect()
  await Promise.all([cluster.stop(), replica.stop()])
})
