import { expect, test } from 'vitest'
import { Counters } from '../../src/store/counters.ts'

const create = (options: { most?: number; every?: number } = {}) => {
  const clock = { now: 1_000_000 }
  return { clock, counters: new Counters({ clock: () => clock.now, lifetime: 1000, most: 3, ...options }) }
}

test('of more counts than are remembered, the one that was idle longest is forgotten', () => {
  const { counters } = create()
  for (const key of ['a', 'b', 'c', 'a', 'd']) counters.add(key, 1)
  expect(['a', 'b', 'c', 'd'].map((key) => counters.read(key))).toEqual([2, 0, 1, 1])
})

test('counts whose time is over are forgotten, two for each event', () => {
  const { clock, counters } = create({ most: 100 })
  for (const key of ['a', 'b', 'c', 'd']) counters.add(key, 1)
  clock.now += 999
  counters.add('e', 1)
  expect(['a', 'b'].map((key) => counters.read(key))).toEqual([1, 1])
  clock.now += 1
  counters.add('f', 1)
  expect(['a', 'b', 'c', 'd', 'e'].map((key) => counters.read(key))).toEqual([0, 0, 1, 1, 1])
  counters.add('f', 1)
  expect(['c', 'd', 'e', 'f'].map((key) => counters.read(key))).toEqual([0, 0, 1, 2])
})

test('a count that falls is stated in milliseconds, and one that does not stays', () => {
  const [falling, staying] = [create({ every: 100 }), create()]
  for (const { clock, counters } of [falling, staying]) {
    counters.add('a', 3)
    clock.now += 30
    counters.add('a', -1)
    clock.now += 30
  }
  expect({ falling: falling.counters.read('a'), staying: staying.counters.read('a') }).toEqual({ falling: 140, staying: 2 })
})
