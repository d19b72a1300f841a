import { expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/model/time.ts'
import { delayAfter } from '../../src/webhooks/schedule.ts'

const SECOND = 1000
const bytes = (byte: number) => () => new Uint8Array([byte])

test.each([
  [1, 5 * SECOND],
  [2, 30 * SECOND],
  [3, 2 * MINUTE],
  [4, 10 * MINUTE],
  [5, 30 * MINUTE],
  [6, 30 * MINUTE],
  [1000, 30 * MINUTE],
])('after %d failures it takes %d milliseconds, a fifth more or less', (failures, delay) => {
  expect([bytes(0), bytes(255)].map((random) => delayAfter(failures, random))).toEqual([0.8 * delay, 1.2 * delay])
  for (let byte = 0; byte < 256; byte++) {
    const one = delayAfter(failures, bytes(byte))
    expect(one >= 0.8 * delay && one <= 1.2 * delay).toBe(true)
  }
})

test.each([
  ['nothing', undefined, 4 * SECOND],
  // A receiver that always fails would be sent to without a pause.
  ['0 seconds', 0, 4 * SECOND],
  ['less than the delay', 3, 4 * SECOND],
  ['an hour', 3600, HOUR],
  ['a day', 86_400, DAY],
  ['more than a day', 86_401, DAY],
])('a receiver that asks for %s is not sent to before that, and not earlier than others', (_what, seconds, delay) => {
  expect(delayAfter(1, bytes(0), seconds)).toBe(delay)
})
