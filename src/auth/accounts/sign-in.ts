import { isIPv4, isIPv6 } from 'node:net'
import type { Account, Session } from '../../model/account.ts'
import { MINUTE } from '../../model/time.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import type { AccountDeps } from './deps.ts'
import type { Passwords } from './passwords.ts'
import { hashOf, newSecret } from './secrets.ts'
import { beginSession, endSession } from './sessions.ts'
import { Throttle } from './throttle.ts'

/** What somebody says who wants to sign in. */
export interface SignInAttempt {
  /** as it is compared */
  readonly email: string
  readonly password: string
  /** where the request came from */
  readonly address: string
  /** what the browser keeps from the last time somebody signed in with it */
  readonly device: string | undefined
  /** the session that the browser has now, by its hash: it ends where another one begins */
  readonly present: string | undefined
}

/** What came of it. */
export type SignInResult =
  | { readonly result: 'signed_in'; readonly userId: string; readonly secret: string; readonly session: Session; readonly device: string }
  | { readonly result: 'refused'; /** whose account was tried, where it is one */ readonly userId: string | undefined }
  | { readonly result: 'throttled'; readonly userId: string | undefined; readonly milliseconds: number }

const MOST_DEVICES = 10

/**
 * Lets people sign in. Failures are counted for an address, for an account from one address, and for an account
 * from everywhere. Browsers that an account was signed in from before are counted apart: so however many
 * strangers try, its person can sign in.
 */
export class SignIn {
  readonly #keeping: AccountDeps
  readonly #passwords: Passwords
  readonly #byAddress: Throttle
  readonly #byPair: Throttle
  readonly #byAccount: Throttle

  constructor(keeping: AccountDeps, passwords: Passwords) {
    this.#keeping = keeping
    this.#passwords = passwords
    this.#byAddress = new Throttle({ burst: 50, every: MINUTE / 2 }, keeping.clock)
    this.#byPair = new Throttle({ burst: 8, every: 2 * MINUTE }, keeping.clock)
    this.#byAccount = new Throttle({ burst: 100, every: MINUTE / 4 }, keeping.clock)
  }

  /**
   * Checks a password, and begins a session. Whether nobody has that address or the password is another one:
   * the answer is the same, and so is the work.
   * @throws {Unavailable}
   */
  async attempt({ email, password, address, device, present }: SignInAttempt): Promise<SignInResult> {
    const account = await this.#account(email)
    const known = device !== undefined && account?.devices.includes(hashOf(device)) === true
    const charged = this.#charge(email, address, known ? device : undefined)
    if (typeof charged === 'number') return { result: 'throttled', userId: account?.user_id, milliseconds: charged }
    if (!(await this.#passwords.fits(password, account?.password_hash)) || account === undefined)
      return { result: 'refused', userId: account?.user_id }
    charged()
    return this.#begin(account, known ? device : undefined, present)
  }

  /** Checks the password of somebody who is signed in already. */
  async verifyPassword(session: Session, password: string): Promise<'proved' | 'refused' | { readonly milliseconds: number }> {
    const { store, random } = this.#keeping
    const name = `session ${session.hash}`
    const milliseconds = this.#byPair.take(name)
    if (milliseconds > 0) return { milliseconds }
    const account = await transact(store, GLOBAL, random, (tx) => tx.get(keys.account(session.user_id)))
    if (!(await this.#passwords.fits(password, account?.password_hash))) return 'refused'
    this.#byPair.giveBack(name)
    return 'proved'
  }

  async #account(email: string): Promise<Account | undefined> {
    const { store, random } = this.#keeping
    return transact(store, GLOBAL, random, async (tx) => {
      const [, account] = await tx.read([keys.accountEmail(hashOf(email)), keys.account('{0.user_id}')])
      return account
    })
  }

  /** Counts an attempt, before its password is looked at. @returns how to take that back, or how long to wait */
  #charge(email: string, address: string, device: string | undefined): (() => void) | number {
    const charges: [Throttle, string][] =
      device === undefined
        ? [
            [this.#byAddress, address],
            [this.#byPair, `${hashOf(email)} ${address}`],
            [this.#byAccount, hashOf(email)],
          ]
        : [[this.#byPair, `${hashOf(email)} ${hashOf(device)}`]]
    const taken: [Throttle, string][] = []
    const giveBack = (): void => {
      for (const [throttle, name] of taken) throttle.giveBack(name)
    }
    for (const [throttle, name] of charges) {
      const milliseconds = throttle.take(name)
      if (milliseconds === 0) taken.push([throttle, name])
      else return (giveBack(), milliseconds)
    }
    return giveBack
  }

  async #begin({ user_id, password_hash }: Account, device: string | undefined, present: string | undefined): Promise<SignInResult> {
    const { store, clock, random } = this.#keeping
    const fresh = device ?? newSecret(random)
    return transact(store, GLOBAL, random, async (tx) => {
      // Whatever was changed meanwhile, such as the password, makes what was checked worthless.
      const account = await tx.get(keys.account(user_id))
      if (account?.password_hash !== password_hash) return { result: 'refused', userId: user_id }
      const devices = [hashOf(fresh), ...account.devices.filter((known) => known !== hashOf(fresh))].slice(0, MOST_DEVICES)
      tx.put(keys.account(user_id), { ...account, devices })
      if (present !== undefined) await endSession(tx, present)
      const { secret, session } = await beginSession(tx, account, clock, random)
      return { result: 'signed_in', userId: user_id, secret, session, device: fresh }
    })
  }
}

/**
 * The part of an address that one customer of a network has: of IPv6, the first 64 bits.
 * @param address also with a port, as some proxies write it
 */
export function networkOf(address: string | undefined): string {
  const bare = (address ?? '')
    .trim()
    .replace(/^\[(.*)\](:\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/, '')
  if (isIPv4(bare)) return bare
  if (!isIPv6(bare)) return 'unknown'
  // The URL parser writes each address in one way.
  const plain = new URL(`http://[${bare}]/`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(plain)
  if (mapped !== null)
    return [mapped[1]!, mapped[2]!].flatMap((half) => [Number.parseInt(half, 16) >> 8, Number.parseInt(half, 16) & 255]).join('.')
  const [head = '', tail] = plain.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0')
  return [...front, ...zeros, ...back].slice(0, 4).join(':')
}
