import { hash, verify } from '@node-rs/argon2'

/** Turns passwords into what is kept of them. */
export interface Passwords {
  /** argon2id with a salt of its own, in PHC's format */
  hash(password: string): Promise<string>
  /**
   * Whether a password is the one. Where there is no hash, because nobody has that name, it takes the same work.
   * Never throws: what is no hash fits nothing.
   */
  fits(password: string, kept: string | undefined): Promise<boolean>
}

/** Memory in KiB and passes: OWASP's least for argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** @param cost for tests, which need it cheap */
export function createPasswords(cost: { memoryCost: number; timeCost: number; parallelism: number } = COST): Passwords {
  const nobody = hash('nobody has this password', cost)
  return {
    hash: (password) => hash(password.normalize('NFC'), cost),
    async fits(password, kept) {
      const fits = await verify(kept ?? (await nobody), password.normalize('NFC')).catch(() => false)
      return fits && kept !== undefined
    },
  }
}
