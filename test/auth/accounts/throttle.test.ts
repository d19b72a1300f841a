import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Throttle } from '../../../src/auth/accounts/throttle.ts'
import type { SharedCounters } from '../../../src/store/counters.ts'
import { TokenBuckets } from '../../support/token-bucket.ts'

const make = (burst: number, every: number) => {
  const clock = { now: 1_000_000 }
  return { clock, throttle: new Throttle({ burst, every }, () => clock.now, 'n') }
}

describe('a throttle', () => {
  test('after the clock is set back, no key waits longer than for a full bucket', () => {
    const { clock, throttle } = make(3, 1000)
    throttle.take('a')
    throttle.refund('a')
    for (let i = 0; i < 3; i++) throttle.take('b')
    clock.now -= 3_600_000
    expect([throttle.take('a'), throttle.take('b')]).toEqual([0, 1000])
  })

  test('the number of remembered keys is limited: the key that was idle longest is forgotten', () => {
    const { throttle } = make(2, 1000)
    for (const key of ['first', 'second', 'second', 'first']) throttle.take(key)
    for (let i = 0; i < 19_999; i++) throttle.take(`stranger ${i}`)
    expect([throttle.take('first'), throttle.take('second')]).toEqual([1000, 0])
  })

  test('allows what token buckets allow, and says to the millisecond how long to wait, whatever is refunded', () => {
    const step = fc.record({ key: fc.constantFrom('a', 'b'), pause: fc.constantFrom(0, 0, 0, 1, 7, 50, 1_000_000), isRefund: fc.boolean() })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(step, { minLength: 20, maxLength: 60 }),
        (burst, every, steps) => {
          const { clock, throttle } = make(burst, every)
          const model = new TokenBuckets(burst, every)
          for (const { key, pause, isRefund } of steps) {
            clock.now += pause
            if (isRefund) {
              throttle.refund(key)
              model.take(key, clock.now, -1)
              continue
            }
            const wait = model.waitOf(key, clock.now)
            expect(throttle.take(key)).toBe(wait)
            if (wait === 0) model.take(key, clock.now)
          }
        },
      ),
    )
  })
})

describe('the throttles of several processes', () => {
  /** Counters in memory, in place of Redis. */
  const createCounters = () => {
    const sums = new Map<string, number>()
    const lifetimes = new Set<number>()
    const add: SharedCounters['add'] = async (key, points, seconds) => {
      lifetimes.add(seconds)
      sums.set(key, (sums.get(key) ?? 0) + points)
      return sums.get(key)
    }
    return { sums, lifetimes, add, close: async () => undefined }
  }
  const createProcesses = (burst: number, every: number) => {
    const clock = { now: 1_000_000 }
    const counters = createCounters()
    const create = () => new Throttle({ burst, every }, () => clock.now, 'n', counters)
    return { clock, counters, one: create(), two: create() }
  }

  test('attempts in one process count in the others after the next exchange', async () => {
    const { clock, counters, one, two } = createProcesses(5, 1000)
    for (const throttle of [one, one, one, two]) expect(throttle.take('a')).toBe(0)
    await one.settle()
    await two.settle()
    expect([two.take('a'), two.take('a'), two.take('b')]).toEqual([0, 1000, 0])
    expect([one.take('a'), one.take('a')]).toEqual([0, 0])
    await two.settle()
    await one.settle()
    // One attempt more than the burst was allowed, before the processes knew of each other's. It does not lengthen the wait.
    expect(one.take('a')).toBe(1000)
    clock.now += 1000
    expect([one.take('a'), one.take('a')]).toEqual([0, 1000])
    expect([...counters.sums.keys()].toSorted()).toEqual(['n:a', 'n:b'])
    expect([...counters.lifetimes]).toEqual([5])
  })

  test('refunded attempts count in no process', async () => {
    const { counters, one, two } = createProcesses(2, 1000)
    for (let i = 0; i < 5; i++) {
      one.take('a')
      one.refund('a')
    }
    await one.settle()
    expect(counters.sums.size).toBe(0)
    one.take('a')
    await one.settle()
    one.refund('a')
    await one.settle()
    expect(counters.sums.get('n:a')).toBe(0)
    expect(two.take('a')).toBe(0)
    await two.settle()
    expect([two.take('a'), two.take('a')]).toEqual([0, 1000])
  })

  test('when a counter was forgotten, the attempts in its new one count', async () => {
    const { clock, counters, one, two } = createProcesses(3, 1000)
    for (const throttle of [one, two, two]) throttle.take('a')
    await two.settle()
    await one.settle()
    clock.now += 3000
    counters.sums.clear()
    two.take('a')
    await two.settle()
    one.take('a')
    await one.settle()
    expect([one.take('a'), one.take('a')]).toEqual([0, 1000])
  })
})
