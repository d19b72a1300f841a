import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'

/** As `expect(actual).toEqual(expected)`, for what is compared thousands of times: each `expect` takes as long as a request in memory. */
export function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}
