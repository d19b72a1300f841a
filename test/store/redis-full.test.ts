import { beforeEach, describe, expect, test } from 'vitest'
import type { RedisStore } from '../../src/store/redis/store.ts'
import { change, readRequest } from '../support/changes.ts'
import { RedisPlace } from '../support/redis-place.ts'

// Before "OOM", Redis 6 says where in the script.
const REFUSED = { name: 'StorageUnavailable', outcomeKnown: true, message: expect.stringMatching(/^Redis refused: .*OOM/) }

const redis = RedisPlace.forEach()

/** Gives Redis less memory than it uses. Some kilobytes more would let it accept single writes. */
const fill = () => redis.operator.config('SET', 'maxmemory', '1')

describe('a store on a Redis that is out of memory', () => {
  let store: RedisStore
  beforeEach(async () => {
    store = await redis.open()
    await store.commit('w1', change({ put: { 'a:1': { n: 1 }, 'a:2': { n: 2 } }, index: { i: { add: ['x 1', 'y 2'] } } }))
    await fill()
  })

  const put = (key: string) => change({ put: { [key]: { n: 3 } } })
  const state = async () => {
    const snapshot = (await store.read('w1', readRequest({ records: ['a:1', 'a:2', 'a:3'], ranges: [{ index: 'i', limit: 9 }] })))!
    return [snapshot.records.map(({ stored }) => stored?.value['n']), snapshot.ranges[0]!.entries]
  }

  test('makes a change that only revokes or removes, and refuses any other', async () => {
    await expect(async () => store.commit('w1', put('a:3'))).rejects.toMatchObject(REFUSED)
    const removal = change({ put: { 'a:1': { n: null } }, remove: ['a:2'], index: { i: { remove: ['y 2'] } } })
    expect(await store.commit('w1', { ...removal, onlyRemoves: true })).toBe('done')
    expect(await state()).toEqual([[null, undefined, undefined], ['x 1']])
    await expect(async () => store.commit('w1', put('a:3'))).rejects.toMatchObject(REFUSED)
  })

  test('makes no change that relies on something else than there is', async () => {
    const removal = change({ remove: ['a:1'], expect: { records: new Map([['a:1', 'another']]) } })
    expect(await store.commit('w1', { ...removal, onlyRemoves: true })).toBe('conflict')
    expect(await state()).toEqual([
      [1, 2, undefined],
      ['x 1', 'y 2'],
    ])
  })

  test('gives leases, without the lease that other processes would see', async () => {
    const lease = await store.takeLease('w1')
    const removal = change({ remove: ['a:1'] })
    expect(await store.commit('w1', { ...removal, lease: lease.id, onlyRemoves: true })).toBe('done')
    lease.end()
    expect(await redis.operator.exists('lk:{w1}:t')).toBe(0)
  })
})
