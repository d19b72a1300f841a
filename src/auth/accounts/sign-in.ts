import type { Account, Session } from '../../model/account.ts'
import { MINUTE } from '../../model/time.ts'
import type { SharedCounters } from '../../store/counters.ts'
import { transact } from '../../store/transact.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { memberOf } from '../../store/reads.ts'
import type { SecretDeps } from '../secret-keys.ts'
import { sha256Hex } from '../secrets.ts'
import { enterByPassword, isKnownDevice, type PasswordEntry, type Visit } from './entry.ts'
import type { Passwords } from './passwords.ts'
import { secondFactorOf, useCode } from './second-factor.ts'
import { Throttle } from './throttle.ts'

/** One attempt to sign in with a password. */
export interface SignInAttempt extends Visit {
  /** normalized: trimmed and in lower case */
  readonly email: string
  readonly password: string
  /** the form token of the page: the second step must come from the same browser */
  readonly formToken: string
}

/** An attempt that failed. The user id is for the log only: the response must not depend on it. */
export type FailedAttempt =
  | { readonly result: 'refused'; /** the owner of the e-mail address, if it has one */ readonly userId: string | undefined }
  | { readonly result: 'throttled'; readonly userId: string | undefined; readonly retryAfterMs: number }

/** The result of an attempt. */
export type SignInResult = PasswordEntry | FailedAttempt

/**
 * Signs people in. Failed attempts are throttled per network, per account and network, and per account. Attempts from
 * a browser that has signed in to the account before are throttled separately: strangers cannot lock its owner out.
 */
export class SignIn {
  readonly #deps: SecretDeps
  readonly #passwords: Passwords
  readonly #byNetwork: Throttle
  readonly #byAccountAndNetwork: Throttle
  readonly #byAccount: Throttle

  /** @param counters let processes throttle together; default: this process throttles alone */
  constructor(deps: SecretDeps, passwords: Passwords, counters?: SharedCounters) {
    this.#deps = deps
    this.#passwords = passwords
    this.#byNetwork = new Throttle({ burst: 50, every: MINUTE / 2 }, deps.clock, 'sign-in-network', counters)
    this.#byAccountAndNetwork = new Throttle({ burst: 8, every: 2 * MINUTE }, deps.clock, 'sign-in-account-network', counters)
    this.#byAccount = new Throttle({ burst: 100, every: MINUTE / 4 }, deps.clock, 'sign-in-account', counters)
  }

  /**
   * Checks a password and begins a session. An unknown e-mail address and a wrong password cost the same work and have
   * the same result, apart from the user id.
   * @throws {StorageUnavailable}
   * @throws {ApiError} `unavailable` if too many password checks are waiting
   */
  async attempt({ email, password, formToken, ...visit }: SignInAttempt): Promise<SignInResult> {
    const { network, device } = visit
    const account = await this.#findAccount(email)
    const knownDevice = isKnownDevice(account, device) ? device : undefined
    const charges = this.#chargesOf(email, network, knownDevice)
    const retryAfterMs = takeAll(charges)
    if (retryAfterMs > 0) return { result: 'throttled', userId: account?.user_id, retryAfterMs }
    if (!(await this.#passwords.verify(password, account?.password_hash)) || account === undefined)
      return { result: 'refused', userId: account?.user_id }
    refundAll(charges)
    return this.#begin(account, visit, formToken)
  }

  /**
   * Checks the password of a person who is already signed in, and the code of their second factor if they have one.
   * @param code null: the password is enough, because they entered a code a short time ago
   * @returns `code_refused` if only the code is missing or wrong
   * @throws {StorageUnavailable}
   * @throws {ApiError} `unavailable` if too many password checks are waiting
   */
  async verifyPassword(
    session: Session,
    password: string,
    code: string | null,
  ): Promise<'verified' | 'refused' | 'code_refused' | { readonly retryAfterMs: number }> {
    const { store, random } = this.#deps
    const key = `session ${session.hash}`
    const retryAfterMs = this.#byAccountAndNetwork.take(key)
    if (retryAfterMs > 0) return { retryAfterMs }
    const account = await transact(store, GLOBAL, random, (tx) => tx.get(keys.account(session.user_id)))
    if (!(await this.#passwords.verify(password, account?.password_hash))) return 'refused'
    const isProved = code === null || (await this.#acceptCode(session.user_id, code))
    if (!isProved) return 'code_refused'
    this.#byAccountAndNetwork.refund(key)
    return 'verified'
  }

  /** Uses a code of a person, if they have an authenticator app. */
  #acceptCode(userId: string, code: string): Promise<boolean> {
    const { store, random } = this.#deps
    return transact(store, GLOBAL, random, async (tx) => {
      const { authenticator } = await secondFactorOf(tx, userId)
      return authenticator === null || (await useCode(tx, userId, code, this.#deps)) !== undefined
    })
  }

  async #findAccount(email: string): Promise<Account | undefined> {
    const { store, random } = this.#deps
    return transact(store, GLOBAL, random, async (tx) => {
      const address = keys.accountEmail(sha256Hex(email))
      const [, account] = await tx.read([address, keys.account(memberOf(address, 'user_id'))])
      return account
    })
  }

  /** The throttles that an attempt is taken from, with its key in each. */
  #chargesOf(email: string, network: string, knownDevice: string | undefined): readonly Charge[] {
    const address = sha256Hex(email)
    if (knownDevice !== undefined) return [[this.#byAccountAndNetwork, `${address} ${sha256Hex(knownDevice)}`]]
    return [
      [this.#byNetwork, network],
      [this.#byAccountAndNetwork, `${address} ${network}`],
      [this.#byAccount, address],
    ]
  }

  async #begin({ user_id, password_hash }: Account, visit: Visit, formToken: string): Promise<SignInResult> {
    const { store, random } = this.#deps
    return transact(store, GLOBAL, random, async (tx) => {
      const [account] = await tx.read([keys.account(user_id), keys.secondFactor(user_id)])
      // If the password was changed since it was checked, the check no longer counts.
      if (password_hash === null || account?.password_hash !== password_hash) return { result: 'refused', userId: user_id }
      return enterByPassword(tx, { ...account, password_hash }, { ...visit, formToken }, this.#deps)
    })
  }
}

type Charge = readonly [throttle: Throttle, key: string]

/**
 * Takes an attempt from each throttle, before the password is checked, so that concurrent attempts count too. One that is refused counts
 * nowhere.
 * @returns 0 if it is allowed, else the milliseconds until the next one is
 */
function takeAll(charges: readonly Charge[]): number {
  for (const [i, [throttle, key]] of charges.entries()) {
    const wait = throttle.take(key)
    if (wait === 0) continue
    refundAll(charges.slice(0, i))
    return wait
  }
  return 0
}

function refundAll(charges: readonly Charge[]): void {
  for (const [throttle, key] of charges) throttle.refund(key)
}
