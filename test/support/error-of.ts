import { expect } from 'vitest'

/** The error of a promise that must fail. */
export const errorOf = (promise: Promise<unknown>): Promise<any> =>
  promise.then(
    () => expect.unreachable('it succeeded'),
    (error: unknown) => error,
  )
