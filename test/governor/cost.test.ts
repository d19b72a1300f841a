import { expect, test } from 'vitest'
import { Cost } from '../../src/governor/cost.ts'

test.each([
  ['65,535 bytes', [65_535, 0, 0], 1],
  ['64 KiB', [65_536, 0, 0], 2],
  ['999 values', [0, 999, 0], 1],
  ['1,000 values', [0, 1000, 0], 2],
  ['255 pieces', [0, 0, 255], 1],
  ['256 pieces', [0, 0, 256], 2],
  ['128 KiB with 3,000 values in 1,024 pieces', [131_072, 3000, 1024], 10],
] as const)('a request whose JSON has %s costs as much as it weighs', (_name, [received, values, pieces], units) => {
  const cost = new Cost()
  cost.weigh(received, values, pieces)
  expect(cost.units).toBe(units)
})

test('a batch costs its operations, or the weight of its body if that is more', () => {
  const cost = new Cost()
  cost.operations = 3
  cost.weigh(65_536, 0, 0)
  expect(cost.units).toBe(3)
  cost.weigh(65_536 * 4, 0, 0)
  expect(cost.units).toBe(5)
})
