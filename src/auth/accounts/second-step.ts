import type { Session } from '../../model/account.ts'
import { isId } from '../../model/ids.ts'
import type { Challenge, Passkey } from '../../model/second-factor.ts'
import { MINUTE, timestamp } from '../../model/time.ts'
import type { SharedCounters } from '../../store/counters.ts'
import { transact } from '../../store/transact.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import type { SecretDeps } from '../secret-keys.ts'
import { sha256Hex } from '../secrets.ts'
import { createChallenge, findChallenge, takeChallenge } from './challenges.ts'
import { enter, isKnownDevice, type Entry, type Visit } from './entry.ts'
import { verifyAssertion, type PasskeyAnswer } from './passkeys.ts'
import { secondFactorOf, useCode } from './second-factor.ts'
import type { FailedAttempt } from './sign-in.ts'
import { Throttle } from './throttle.ts'

/** A code for a sign-in whose password was right. */
export interface CodeAttempt extends Visit {
  /** the challenge that the right password led to */
  readonly challenge: string
  readonly formToken: string
  readonly code: string
}

/** An answer of a passkey. */
export interface PasskeyAttempt {
  readonly formToken: string
  readonly assertion: PasskeyAnswer
}

/**
 * Completes sign-ins with the code of a second factor, and signs people in with a passkey. Wrong codes are throttled per account:
 * a stranger who knows the password can try about 50 codes a day, and three in a million are right. A browser that has signed in
 * before is throttled separately, so that strangers cannot lock its owner out.
 */
export class SecondStep {
  readonly #deps: SecretDeps
  readonly #byAccount: Throttle
  readonly #challenges: Throttle

  /** @param counters let processes throttle together; default: this process throttles alone */
  constructor(deps: SecretDeps, counters?: SharedCounters) {
    this.#deps = deps
    this.#byAccount = new Throttle({ burst: 6, every: 30 * MINUTE }, deps.clock, 'second-factor', counters)
    this.#challenges = new Throttle({ burst: 30, every: MINUTE / 6 }, deps.clock, 'challenge', counters)
  }

  /**
   * Completes a sign-in with a code. A wrong code does not end it.
   * @returns `expired` if there is no such sign-in, or if it took too long
   */
  async attemptCode({
    challenge: secret,
    formToken,
    code,
    ...visit
  }: CodeAttempt): Promise<(Entry & { readonly used: 'app' | 'recovery' }) | FailedAttempt | { readonly result: 'expired' }> {
    const { store, clock, random } = this.#deps
    const request = { secret, purpose: 'second_factor', formToken } as const
    const [pending, account] = await transact(store, GLOBAL, random, async (tx) => {
      const found = await findChallenge(tx, request, clock)
      return [found, found && (await tx.get(keys.account(found.user_id ?? '')))] as const
    })
    if (pending === undefined || account === undefined) return { result: 'expired' }
    const userId = account.user_id
    const key = isKnownDevice(account, visit.device) ? `${userId} ${sha256Hex(visit.device)}` : userId
    // Taken before the code is checked, so that concurrent attempts count too.
    const retryAfterMs = this.#byAccount.take(key)
    if (retryAfterMs > 0) return { result: 'throttled', userId, retryAfterMs }
    const result = await transact(store, GLOBAL, random, async (tx) => {
      const [stored] = await tx.read([keys.account(userId), keys.secondFactor(userId), keys.challenge(pending.hash)])
      const open = await findChallenge(tx, request, clock)
      // If the password was changed in the meantime, the sign-in that began with the old one ends.
      if (open === undefined || stored === undefined || open.credential !== sha256Hex(stored.password_hash ?? ''))
        return { result: 'expired' } as const
      const used = await useCode(tx, userId, code, this.#deps)
      if (used === undefined) return { result: 'refused', userId } as const
      tx.remove(keys.challenge(open.hash))
      return { ...(await enter(tx, stored, visit, this.#deps)), used }
    })
    if (result.result !== 'refused') this.#byAccount.refund(key)
    return result
  }

  /**
   * Takes an attempt to enter the first code of a new authenticator app.
   * @returns 0 if the attempt is allowed, else the milliseconds until the next one is
   */
  limitCodes({ user_id }: Session): number {
    return this.#challenges.take(`code ${user_id}`)
  }

  /**
   * Creates a challenge to a passkey.
   * @param key who asks: a network, or a person
   * @returns the challenge and the person's passkeys, or how long they must wait
   */
  async challenge(
    key: string,
    { purpose, userId, formToken }: { readonly purpose: Challenge['purpose']; readonly userId: string | null; readonly formToken: string },
  ): Promise<{ readonly challenge: string; readonly passkeys: readonly Passkey[] } | { readonly retryAfterMs: number }> {
    const { store, random } = this.#deps
    const retryAfterMs = this.#challenges.take(key)
    if (retryAfterMs > 0) return { retryAfterMs }
    return transact(store, GLOBAL, random, async (tx) => {
      const passkeys = userId === null ? [] : (await secondFactorOf(tx, userId)).passkeys
      return { challenge: await createChallenge(tx, { purpose, user_id: userId, credential: null, formToken }, this.#deps), passkeys }
    })
  }

  /** Signs a person in with a passkey. Every refusal has the same result, apart from the user id. */
  async attemptPasskey(attempt: PasskeyAttempt, visit: Visit): Promise<Entry | FailedAttempt> {
    const { store, random } = this.#deps
    const retryAfterMs = this.#challenges.take(visit.network)
    if (retryAfterMs > 0) return { result: 'throttled', userId: undefined, retryAfterMs }
    return transact(store, GLOBAL, random, async (tx) => {
      const userId = await this.#acceptAssertion(tx, attempt, 'sign_in', attempt.assertion.userId)
      const account = userId && (await tx.get(keys.account(userId)))
      return account ? enter(tx, account, visit, this.#deps) : { result: 'refused', userId }
    })
  }

  /** Whether a person who is signed in has answered a challenge with one of their passkeys. */
  async provePasskey(attempt: PasskeyAttempt, { user_id }: Session): Promise<boolean> {
    const { store, random } = this.#deps
    return transact(store, GLOBAL, random, async (tx) => (await this.#acceptAssertion(tx, attempt, 'prove', user_id)) !== undefined)
  }

  /**
   * Verifies an answer, uses up its challenge even if the answer is wrong, and stores the passkey's counter.
   * @returns the id of the person, if the answer is accepted
   */
  async #acceptAssertion(
    tx: Transaction,
    { formToken, assertion }: PasskeyAttempt,
    purpose: Challenge['purpose'],
    userId: string,
  ): Promise<string | undefined> {
    const { clock } = this.#deps
    const challenge = await takeChallenge(tx, { secret: assertion.challenge, purpose, formToken }, clock)
    if (challenge === undefined || (challenge.user_id !== null && challenge.user_id !== userId)) return undefined
    const factor = isId('user', userId) ? await secondFactorOf(tx, userId) : undefined
    const passkey = factor?.passkeys.find(({ credential_id }) => credential_id === assertion.credentialId)
    if (factor === undefined || passkey === undefined) return undefined
    const counter = await verifyAssertion(assertion, passkey)
    if (counter === undefined) return undefined
    const used = { ...passkey, counter, used_at: timestamp(clock) }
    tx.put(keys.secondFactor(userId), { ...factor, passkeys: factor.passkeys.map((one) => (one === passkey ? used : one)) })
    return userId
  }
}
