import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRedisStore, type RedisStore } from '../../src/store/redis/store.ts'
import { change, readRequest } from '../support/changes.ts'
import { sharedRedis } from '../support/redis-driver.ts'
import { quiet } from '../support/log.ts'

describe('the turns of two processes on one Redis', () => {
  let first: RedisStore
  let second: RedisStore
  beforeEach(async () => {
    await open(60_000)
  })
  afterEach(() => Promise.all([first.close(), second.close()]))

  /** @param lease how long a turn lasts at most, in milliseconds: by default, longer than a test on any machine */
  const open = async (lease: number): Promise<void> => {
    const options = { log: quiet, prefix: `turns-${randomUUID()}`, lease }
    first = await openRedisStore(sharedRedis(), options)
    second = await openRedisStore(sharedRedis(), options)
  }
  const put = (n: number, turn?: string) => ({ ...change({ put: { 'a:1': { n } } }), turn })
  const valueIn = async (store: RedisStore) => (await store.read('w1', readRequest({ records: ['a:1'] })))!.records[0]!.stored?.value

  test('while one process has a turn, a commit of the other waits for its end', async () => {
    const order: string[] = []
    const turn = await first.takeTurn('w1')
    const other = second.commit('w1', put(2)).then((outcome) => order.push(`other ${outcome}`))
    await first.commit('w1', put(1, turn.id)).then((outcome) => order.push(`own ${outcome}`))
    expect(await valueIn(second)).toEqual({ n: 1 })
    turn.end()
    await other
    expect([order, await valueIn(first)]).toEqual([['own done', 'other done'], { n: 2 }])
  })

  test('a turn that is not ended ends by itself, and the other process gets the next one', async () => {
    await Promise.all([first.close(), second.close()])
    await open(50)
    await first.takeTurn('w1')
    // Its turn in its own process may end before it has the lease.
    const turn = await second.takeTurn('w1')
    expect(await second.commit('w1', put(1, turn.id))).toBe('done')
    turn.end()
    expect(await first.commit('w1', put(2))).toBe('done')
  })

  test('a turn that has ended does not end the turn of the other process', async () => {
    const turn = await first.takeTurn('w1')
    const next = second.takeTurn('w1')
    turn.end()
    const held = await next
    turn.end()
    expect(await second.commit('w1', put(1, held.id))).toBe('done')
    held.end()
  })

  test('a turn has no effect in another partition', async () => {
    const turn = await first.takeTurn('w1')
    expect(await second.commit('w2', put(1))).toBe('done')
    turn.end()
  })
})
