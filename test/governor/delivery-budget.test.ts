import { expect, test } from 'vitest'
import { DeliveryBudget } from '../../src/governor/delivery-budget.ts'

// 1,200 units a minute are 20 a second: ten attempts. The attempts of ten seconds may be made at once.
const QUOTAS = { token: 1200, workspace: 12_000 }

function setUp(quotas = QUOTAS) {
  const time = { now: 5_000_000 }
  const budget = new DeliveryBudget(quotas, () => time.now)
  /** When so many attempts may begin, in milliseconds from now. */
  const attempts = (count: number, userId = 'ann', workspaceId = 'w') =>
    Array.from({ length: count }, () => budget.reserve(workspaceId, userId).wait)
  return { time, budget, attempts }
}

test('a hundred attempts of a person may be made at once, and then ten in a second', () => {
  const { attempts } = setUp()
  // The one that exceeds it is made, too: what it costs is paid afterwards.
  expect(attempts(101)).toEqual(Array<number>(101).fill(0))
  expect(attempts(20)).toEqual(Array.from({ length: 20 }, (_, i) => (i + 1) * 100))
})

test('the attempts of one person delay nobody else, and the attempts of one workspace delay no other workspace', () => {
  const { attempts } = setUp()
  attempts(500)
  expect([attempts(1, 'bob'), attempts(1, 'ann', 'other')]).toEqual([[0], [0]])
  for (let i = 0; i < 20; i++) attempts(100, `p${i}`)
  expect(attempts(1, 'bob')[0]).toBeGreaterThan(0)
  expect(attempts(1, 'bob', 'other')).toEqual([0])
})

test('a reservation comes due with time, once', () => {
  const { time, budget, attempts } = setUp()
  attempts(101)
  const reserved = budget.reserve('w', 'ann')
  time.now += 60
  expect(reserved.wait).toBe(40)
  time.now += 40
  expect(reserved.wait).toBe(0)
  expect(budget.reserve('w', 'ann').wait).toBe(100)
})

test('an unused budget is kept for at most ten seconds', () => {
  const { time, attempts } = setUp()
  time.now += 3_600_000
  expect(attempts(102).at(-1)).toBe(100)
})

test.each([
  [65_535, 100],
  [65_536, 150],
  [262_144, 300],
])('%i bytes delay the next attempt to %i ms', (bytes, wait) => {
  const { budget, attempts } = setUp()
  attempts(101)
  budget.charge('w', 'ann', bytes)
  expect(attempts(1)).toEqual([wait])
})
