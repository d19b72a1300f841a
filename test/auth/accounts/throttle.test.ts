import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Throttle } from '../../../src/auth/accounts/throttle.ts'
import type { SharedCounters } from '../../../src/store/counters.ts'

const make = (burst: number, every: number) => {
  const clock = { now: 1_000_000 }
  return { clock, throttle: new Throttle({ burst, every }, () => clock.now) }
}

describe('a throttle', () => {
  test('a throttle allows its burst at once, and then says how long to wait, to the millisecond', () => {
    const { clock, throttle } = make(3, 1000)
    expect([1, 2, 3, 4].map(() => throttle.take('a'))).toEqual([0, 0, 0, 1000])
    clock.now += 999
    expect(throttle.take('a')).toBe(1)
    clock.now += 1
    expect([throttle.take('a'), throttle.take('a')]).toEqual([0, 1000])
    // After a pause it allows its whole burst again, and other keys have theirs.
    clock.now += 1_000_000
    expect(['a', 'a', 'a', 'a', 'b'].map((key) => throttle.take(key))).toEqual([0, 0, 0, 1000, 0])
  })

  test('a refused attempt does not lengthen the wait', () => {
    const { clock, throttle } = make(1, 1000)
    throttle.take('a')
    for (let i = 0; i < 100; i++) expect(throttle.take('a')).toBe(1000)
    clock.now += 1000
    expect(throttle.take('a')).toBe(0)
  })

  test('after the clock is set back, no key waits longer than for a full bucket', () => {
    const { clock, throttle } = make(3, 1000)
    throttle.take('a')
    throttle.refund('a')
    for (let i = 0; i < 3; i++) throttle.take('b')
    clock.now -= 3_600_000
    expect([throttle.take('a'), throttle.take('b')]).toEqual([0, 1000])
  })

  test('a refunded attempt can be taken again, and a bucket never exceeds its burst', () => {
    const { throttle } = make(2, 1000)
    throttle.refund('a')
    expect([throttle.take('a'), throttle.take('a'), throttle.take('a')]).toEqual([0, 0, 1000])
    throttle.refund('a')
    expect([throttle.take('a'), throttle.take('a')]).toEqual([0, 1000])
  })

  test('a late refund does not add to a bucket that has refilled', () => {
    const { clock, throttle } = make(2, 1000)
    throttle.take('a')
    clock.now += 60_000
    for (let i = 0; i < 10; i++) throttle.refund('a')
    expect([1, 2, 3].map(() => throttle.take('a') === 0)).toEqual([true, true, false])
  })

  test('the number of remembered keys is limited: the key that was idle longest is forgotten', () => {
    const { throttle } = make(2, 1000)
    for (const key of ['first', 'second', 'second', 'first']) throttle.take(key)
    for (let i = 0; i < 19_999; i++) throttle.take(`stranger ${i}`)
    expect([throttle.take('first'), throttle.take('second')]).toEqual([1000, 0])
  })

  test('no interval contains more allowed attempts than the burst and the refill of that interval', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.nat(60), { minLength: 1, maxLength: 60 }),
        (burst, every, pauses) => {
          const { clock, throttle } = make(burst, every)
          const allowedAt: number[] = []
          for (const pause of pauses) {
            clock.now += pause
            if (throttle.take('a') === 0) allowedAt.push(clock.now)
          }
          return allowedAt.every((from, i) => allowedAt.slice(i).every((to, j) => j + 1 <= burst + Math.floor((to - from) / every)))
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
    const create = () => new Throttle({ burst, every }, () => clock.now, counters, 'n')
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
