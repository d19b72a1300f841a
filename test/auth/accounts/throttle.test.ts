import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Throttle } from '../../../src/auth/accounts/throttle.ts'

const make = (burst: number, every: number) => {
  const clock = { now: 1_000_000 }
  return { clock, throttle: new Throttle({ burst, every }, () => clock.now) }
}

describe('a throttle', () => {
  test('lets its burst through at once, and then says how long to wait, to the millisecond', () => {
    const { clock, throttle } = make(3, 1000)
    expect([1, 2, 3, 4].map(() => throttle.take('a'))).toEqual([0, 0, 0, 1000])
    clock.now += 999
    expect(throttle.take('a')).toBe(1)
    clock.now += 1
    expect([throttle.take('a'), throttle.take('a')]).toEqual([0, 1000])
  })

  test('what is refused costs nothing', () => {
    const { clock, throttle } = make(1, 1000)
    throttle.take('a')
    for (let i = 0; i < 100; i++) expect(throttle.take('a')).toBe(1000)
    clock.now += 1000
    expect(throttle.take('a')).toBe(0)
  })

  test('after a pause the whole burst is there again, and no more than that', () => {
    const { clock, throttle } = make(3, 1000)
    for (let i = 0; i < 3; i++) throttle.take('a')
    clock.now += 1_000_000
    expect([1, 2, 3, 4].map(() => throttle.take('a') === 0)).toEqual([true, true, true, false])
  })

  test('a clock that is set back locks nobody out for longer than the burst takes', () => {
    const { clock, throttle } = make(3, 1000)
    throttle.take('a')
    throttle.giveBack('a')
    for (let i = 0; i < 3; i++) throttle.take('b')
    clock.now -= 3_600_000
    expect([throttle.take('a'), throttle.take('b')]).toEqual([0, 1000])
  })

  test('names are apart', () => {
    const { throttle } = make(1, 1000)
    expect([throttle.take('a'), throttle.take('b'), throttle.take('a')]).toEqual([0, 0, 1000])
  })

  test('what is given back can be taken again, and no more than was taken', () => {
    const { throttle } = make(2, 1000)
    throttle.giveBack('a')
    expect([throttle.take('a'), throttle.take('a'), throttle.take('a')]).toEqual([0, 0, 1000])
    throttle.giveBack('a')
    expect([throttle.take('a'), throttle.take('a')]).toEqual([0, 1000])
  })

  test('what is given back late does not add to what time gave back already', () => {
    const { clock, throttle } = make(2, 1000)
    throttle.take('a')
    clock.now += 60_000
    for (let i = 0; i < 10; i++) throttle.giveBack('a')
    expect([1, 2, 3].map(() => throttle.take('a') === 0)).toEqual([true, true, false])
  })

  test('names without end cost no memory without end: those that were quiet longest are forgotten', () => {
    const { throttle } = make(1, 1000)
    throttle.take('first')
    throttle.take('second')
    for (let i = 0; i < 19_999; i++) throttle.take(`stranger ${i}`)
    expect(throttle.take('second')).toBe(1000)
    expect(throttle.take('first')).toBe(0)
  })

  test('in no stretch of time does it let more through than its burst and what that time gives', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.nat(60), { minLength: 1, maxLength: 60 }),
        (burst, every, pauses) => {
          const { clock, throttle } = make(burst, every)
          const passed: number[] = []
          for (const pause of pauses) {
            clock.now += pause
            if (throttle.take('a') === 0) passed.push(clock.now)
          }
          return passed.every((from, i) => passed.slice(i).every((to, j) => j + 1 <= burst + Math.floor((to - from) / every)))
        },
      ),
    )
  })
})
