import type * as argon2 from '@node-rs/argon2'
import { ApiError } from '../../model/errors.ts'
import { lazy } from '../../model/lazy.ts'
import { Semaphore } from '../../store/semaphore.ts'

/** Hashes and verifies passwords. */
export interface Passwords {
  /**
   * Hashes a password with argon2id and a random salt, in PHC string format.
   * @throws {ApiError} `unavailable` if too many calls are waiting
   */
  hash(password: string): Promise<string>
  /**
   * Whether a password matches a stored hash. Without a hash (no such account) it takes the same time and returns
   * false. A malformed hash matches nothing.
   * @throws {ApiError} `unavailable` if too many calls are waiting
   */
  verify(password: string, storedHash: string | null | undefined): Promise<boolean>
}

/** Memory in KiB and number of passes: the OWASP minimum for argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Hashes computed at the same time. It leaves threads of libuv's pool free for the bytes of files. */
const CONCURRENCY = 2
/** Maximum number of waiting calls, about two seconds of work. */
const MAX_WAITING = 100

/**
 * @param cost lower values are for tests only
 * @param algorithm argon2; another one is for tests only
 */
export function createPasswords(
  cost: { memoryCost: number; timeCost: number; parallelism: number } = COST,
  algorithm: Pick<typeof argon2, 'hash' | 'verify'> = loadedWhenUsed,
): Passwords {
  const { memoryCost, timeCost, parallelism } = cost
  // It costs the same as a stored hash: how long a verification takes does not tell whether there is an account.
  const placeholder = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`
  const enqueue = createQueue(CONCURRENCY, MAX_WAITING)
  return {
    hash: (password) => enqueue(() => algorithm.hash(password.normalize('NFC'), cost)),
    verify: (password, storedHash) =>
      enqueue(async () => {
        const matches = await algorithm.verify(storedHash ?? placeholder, password.normalize('NFC')).catch(() => false)
        return matches && storedHash !== undefined
      }),
  }
}

const argon2Module = lazy(() => import('@node-rs/argon2'))
/** The package is native code, which a start need not load. */
const loadedWhenUsed: Pick<typeof argon2, 'hash' | 'verify'> = {
  hash: async (...args) => (await argon2Module()).hash(...args),
  verify: async (...args) => (await argon2Module()).verify(...args),
}

function createQueue(concurrency: number, maxWaiting: number): <T>(task: () => Promise<T>) => Promise<T> {
  const semaphore = new Semaphore(concurrency)
  return async (task) => {
    if (semaphore.waiting >= maxWaiting)
      throw new ApiError('unavailable', {
        message: 'Too many people are signing in at the moment. Try again in a few seconds.',
        headers: { 'retry-after': '2' },
      })
    await semaphore.acquire()
    try {
      return await task()
    } finally {
      semaphore.release()
    }
  }
}
