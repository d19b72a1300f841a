import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRedisStore, type RedisStore } from '../../src/store/redis/store.ts'
import { change, readRequest } from '../support/changes.ts'
import { sharedRedis } from '../support/redis-driver.ts'
import { quiet } from '../support/log.ts'

describe('the leases of two processes on one Redis', () => {
  let first: RedisStore
  let second: RedisStore
  beforeEach(async () => {
    await open(60_000)
  })
  afterEach(() => Promise.all([first.close(), second.close()]))

  /** @param lease how long a lease lasts at most, in milliseconds: by default, longer than a test on any machine */
  const open = async (lease: number): Promise<void> => {
    const options = { log: quiet, prefix: `leases-${randomUUID()}`, lease }
    first = await openRedisStore(sharedRedis(), options)
    second = await openRedisStore(sharedRedis(), options)
  }
  const put = (n: number, lease?: string) => ({ ...change({ put: { 'a:1': { n } } }), lease })
  const valueIn = async (store: RedisStore) => (await store.read('w1', readRequest({ records: ['a:1'] })))!.records[0]!.stored?.value

  test('while one process has a lease, a commit of the other waits for its end', async () => {
    const order: string[] = []
    const lease = await first.takeLease('w1')
    const other = second.commit('w1', put(2)).then((outcome) => order.push(`other ${outcome}`))
    await first.commit('w1', put(1, lease.id)).then((outcome) => order.push(`own ${outcome}`))
    expect(await valueIn(second)).toEqual({ n: 1 })
    lease.end()
    await other
    expect([order, await valueIn(first)]).toEqual([['own done', 'other done'], { n: 2 }])
  })

  test('a lease that is not ended ends by itself, and the other process gets the next one', async () => {
    await Promise.all([first.close(), second.close()])
    await open(50)
    await first.takeLease('w1')
    // Its lease in its own process may end before it has the lease.
    const lease = await second.takeLease('w1')
    expect(await second.commit('w1', put(1, lease.id))).toBe('done')
    lease.end()
    expect(await first.commit('w1', put(2))).toBe('done')
  })
})
