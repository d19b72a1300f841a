import { hash, verify } from '@node-rs/argon2'
import { ApiError } from '../../model/errors.ts'

/** Turns passwords into what is kept of them. */
export interface Passwords {
  /**
   * argon2id with a salt of its own, in PHC's format.
   * @throws {ApiError} `unavailable` where too many are waiting
   */
  hash(password: string): Promise<string>
  /**
   * Whether a password is the one. Where there is no hash, because nobody has that name, it takes the same work.
   * What is no hash fits nothing.
   * @throws {ApiError} `unavailable` where too many are waiting
   */
  fits(password: string, kept: string | undefined): Promise<boolean>
}

/** Memory in KiB and passes: OWASP's least for argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** So many are worked on at once: the journal's writes have to find a free thread between them. */
const AT_ONCE = 2
/** And so many wait at most: about two seconds of work. */
const WAITING = 100

/** @param cost for tests, which need it cheap */
export function createPasswords(cost: { memoryCost: number; timeCost: number; parallelism: number } = COST): Passwords {
  const nobody = hash('nobody has this password', cost)
  const turn = turns(AT_ONCE, WAITING)
  return {
    hash: (password) => turn(() => hash(password.normalize('NFC'), cost)),
    fits: (password, kept) =>
      turn(async () => {
        const fits = await verify(kept ?? (await nobody), password.normalize('NFC')).catch(() => false)
        return fits && kept !== undefined
      }),
  }
}

function turns(atOnce: number, waitingAtMost: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= atOnce) {
      if (waiting.length >= waitingAtMost)
        throw new ApiError('unavailable', {
          message: 'Too many people sign in at this moment. Try again soon.',
          headers: { 'retry-after': '2' },
        })
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      // Whoever comes next takes over this place.
      if (next === undefined) running--
      else next()
    }
  }
}
