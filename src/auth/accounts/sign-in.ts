import type { Account, Session } from '../../model/account.ts'
import { MINUTE } from '../../model/time.ts'
import type { SharedCounters } from '../../store/counters.ts'
import type { Deps } from '../../store/deps.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { newSecret, sha256Hex } from '../secrets.ts'
import type { Passwords } from './passwords.ts'
import { beginSession, endSession } from './sessions.ts'
import { Throttle } from './throttle.ts'

/** One attempt to sign in. */
export interface SignInAttempt {
  /** normalized: trimmed and in lower case */
  readonly email: string
  readonly password: string
  /** the network of the client's address: attempts from one network are throttled together */
  readonly network: string
  /** the browser's device cookie, set when a person last signed in with it */
  readonly device: string | undefined
  /** the hash of the browser's current session, which ends when the new one begins */
  readonly currentSession: string | undefined
}

/** The result of an attempt. The user id of a failed one is for the log only: the response must not depend on it. */
export type SignInResult =
  | { readonly result: 'signed_in'; readonly userId: string; readonly secret: string; readonly session: Session; readonly device: string }
  | { readonly result: 'refused'; /** the owner of the e-mail address, if it has one */ readonly userId: string | undefined }
  | { readonly result: 'throttled'; readonly userId: string | undefined; readonly retryAfterMs: number }

/** Maximum number of known browsers per account. When it is exceeded, the one that signed in longest ago is forgotten. */
const MAX_DEVICES = 10

/**
 * Signs people in. Failed attempts are throttled per network, per account and network, and per account. Attempts from
 * a browser that has signed in to the account before are throttled separately: strangers cannot lock its owner out.
 */
export class SignIn {
  readonly #deps: Deps
  readonly #passwords: Passwords
  readonly #byNetwork: Throttle
  readonly #byAccountAndNetwork: Throttle
  readonly #byAccount: Throttle

  /** @param counters with which processes throttle together; default: this process throttles alone */
  constructor(deps: Deps, passwords: Passwords, counters?: SharedCounters) {
    this.#deps = deps
    this.#passwords = passwords
    const shared = (name: string) => counters && { counters, name: `sign-in-${name}` }
    this.#byNetwork = new Throttle({ burst: 50, every: MINUTE / 2 }, deps.clock, shared('network'))
    this.#byAccountAndNetwork = new Throttle({ burst: 8, every: 2 * MINUTE }, deps.clock, shared('account-network'))
    this.#byAccount = new Throttle({ burst: 100, every: MINUTE / 4 }, deps.clock, shared('account'))
  }

  /**
   * Checks a password and begins a session. An unknown e-mail address and a wrong password cost the same work and have
   * the same result, apart from the user id.
   * @throws {StorageUnavailable}
   * @throws {ApiError} `unavailable` if too many password checks are waiting
   */
  async attempt({ email, password, network, device, currentSession }: SignInAttempt): Promise<SignInResult> {
    const account = await this.#findAccount(email)
    const knownDevice = device !== undefined && account?.devices.includes(sha256Hex(device)) === true ? device : undefined
    const charge = this.#charge(email, network, knownDevice)
    if ('retryAfterMs' in charge) return { result: 'throttled', userId: account?.user_id, retryAfterMs: charge.retryAfterMs }
    if (!(await this.#passwords.verify(password, account?.password_hash)) || account === undefined)
      return { result: 'refused', userId: account?.user_id }
    charge.refund()
    return this.#begin(account, knownDevice, currentSession)
  }

  /**
   * Checks the password of a person who is already signed in.
   * @throws {StorageUnavailable}
   * @throws {ApiError} `unavailable` if too many password checks are waiting
   */
  async verifyPassword(session: Session, password: string): Promise<'verified' | 'refused' | { readonly retryAfterMs: number }> {
    const { store, random } = this.#deps
    const key = `session ${session.hash}`
    const retryAfterMs = this.#byAccountAndNetwork.take(key)
    if (retryAfterMs > 0) return { retryAfterMs }
    const account = await transact(store, GLOBAL, random, (tx) => tx.get(keys.account(session.user_id)))
    if (!(await this.#passwords.verify(password, account?.password_hash))) return 'refused'
    this.#byAccountAndNetwork.refund(key)
    return 'verified'
  }

  async #findAccount(email: string): Promise<Account | undefined> {
    const { store, random } = this.#deps
    return transact(store, GLOBAL, random, async (tx) => {
      const [, account] = await tx.read([keys.accountEmail(sha256Hex(email)), keys.account('{0.user_id}')])
      return account
    })
  }

  /** Charges an attempt to its throttles before the password is checked, so that concurrent attempts count too. */
  #charge(email: string, network: string, knownDevice: string | undefined): { refund(): void } | { readonly retryAfterMs: number } {
    const charges: [Throttle, string][] =
      knownDevice === undefined
        ? [
            [this.#byNetwork, network],
            [this.#byAccountAndNetwork, `${sha256Hex(email)} ${network}`],
            [this.#byAccount, sha256Hex(email)],
          ]
        : [[this.#byAccountAndNetwork, `${sha256Hex(email)} ${sha256Hex(knownDevice)}`]]
    const taken: [Throttle, string][] = []
    const refund = (): void => {
      for (const [throttle, key] of taken) throttle.refund(key)
    }
    for (const [throttle, key] of charges) {
      const retryAfterMs = throttle.take(key)
      if (retryAfterMs > 0) {
        refund()
        return { retryAfterMs }
      }
      taken.push([throttle, key])
    }
    return { refund }
  }

  async #begin(
    { user_id, password_hash }: Account,
    knownDevice: string | undefined,
    currentSession: string | undefined,
  ): Promise<SignInResult> {
    const { store, clock, random } = this.#deps
    const device = knownDevice ?? newSecret(random)
    const deviceHash = sha256Hex(device)
    return transact(store, GLOBAL, random, async (tx) => {
      // If the password was changed since it was checked, the check no longer counts.
      const account = await tx.get(keys.account(user_id))
      if (account?.password_hash !== password_hash) return { result: 'refused', userId: user_id }
      const devices = [deviceHash, ...account.devices.filter((hash) => hash !== deviceHash)].slice(0, MAX_DEVICES)
      tx.put(keys.account(user_id), { ...account, devices })
      if (currentSession !== undefined) await endSession(tx, currentSession)
      const { secret, session } = await beginSession(tx, account, clock, random)
      return { result: 'signed_in', userId: user_id, secret, session, device }
    })
  }
}
