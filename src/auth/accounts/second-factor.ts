import type { Session } from '../../model/account.ts'
import { durations } from '../../model/durations.ts'
import type { RandomSource } from '../../model/ids.ts'
import type { SecondFactor } from '../../model/second-factor.ts'
import { timestamp, type Clock } from '../../model/time.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { hashRecoveryCode, newRecoveryCodes, withoutCode } from './recovery-codes.ts'
import { newTotpSecret, stepOfCode } from './totp.ts'

/** Reads the second factor of a person. Without a record they have none. */
export async function secondFactorOf(tx: Transaction, userId: string): Promise<SecondFactor> {
  const stored = await tx.get(keys.secondFactor(userId))
  return stored ?? { user_id: userId, authenticator: null, pending: null, recovery_hashes: [], passkeys: [] }
}

/**
 * Uses a code of a person: the present one of their authenticator app, or a recovery code. Each is accepted once: the commit
 * that accepts it also stores that it was used.
 * @returns what kind of code it is; undefined if it is not accepted
 */
export async function useCode(tx: Transaction, userId: string, code: string, clock: Clock): Promise<'app' | 'recovery' | undefined> {
  const factor = await secondFactorOf(tx, userId)
  const { authenticator } = factor
  if (authenticator === null) return undefined
  const step = await stepOfCode(authenticator.secret, code, clock(), authenticator.last_step)
  if (step !== undefined) {
    tx.put(keys.secondFactor(userId), { ...factor, authenticator: { ...authenticator, last_step: step } })
    return 'app'
  }
  const recovery_hashes = withoutCode(factor.recovery_hashes, code)
  if (recovery_hashes === undefined) return undefined
  tx.put(keys.secondFactor(userId), { ...factor, recovery_hashes })
  return 'recovery'
}

/**
 * Makes a secret for an authenticator app. It counts when its first code has been entered.
 * @param session that has just proved its person's identity
 * @returns the secret in base32
 */
export async function offerAuthenticator(
  tx: Transaction,
  { user_id: userId, id: session_id }: Pick<Session, 'user_id' | 'id'>,
  clock: Clock,
  random: RandomSource,
): Promise<string> {
  const factor = await secondFactorOf(tx, userId)
  const secret = await newTotpSecret(random)
  const expires_at = timestamp(() => clock() + durations.challenge)
  tx.put(keys.secondFactor(userId), { ...factor, pending: { secret, session_id: session_id ?? null, expires_at } })
  return secret
}

/** The secret that waits for its first code; undefined if there is none of this session, or if it has expired. */
export function pendingSecret({ pending }: SecondFactor, { id }: Pick<Session, 'id'>, clock: Clock): string | undefined {
  const isOwn = pending !== null && id !== undefined && pending.session_id === id
  return isOwn && clock() < Date.parse(pending.expires_at) ? pending.secret : undefined
}

/**
 * Adds the authenticator app that waits for its first code. It replaces an earlier one, and its recovery codes.
 * @returns the recovery codes, which are not stored; `refused` if the code is wrong; undefined if no app waits for it
 */
export async function addAuthenticator(
  tx: Transaction,
  session: Pick<Session, 'user_id' | 'id'>,
  code: string,
  clock: Clock,
  random: RandomSource,
): Promise<string[] | 'refused' | undefined> {
  const { user_id: userId } = session
  const factor = await secondFactorOf(tx, userId)
  const secret = pendingSecret(factor, session, clock)
  if (secret === undefined) return undefined
  const last_step = await stepOfCode(secret, code, clock(), 0)
  if (last_step === undefined) return 'refused'
  const codes = newRecoveryCodes(random)
  const authenticator = { secret, added_at: timestamp(clock), last_step }
  tx.put(keys.secondFactor(userId), { ...factor, authenticator, pending: null, recovery_hashes: codes.map(hashRecoveryCode) })
  return codes
}

/** Removes a person's authenticator app and recovery codes. @returns whether there was one */
export async function removeAuthenticator(tx: Transaction, userId: string): Promise<boolean> {
  const factor = await secondFactorOf(tx, userId)
  if (factor.authenticator === null) return false
  putSecondFactor(tx, { ...factor, authenticator: null, pending: null, recovery_hashes: [] })
  return true
}

/** Replaces a person's recovery codes. @returns the new ones, which are not stored; undefined if they have no authenticator app */
export async function renewRecoveryCodes(tx: Transaction, userId: string, random: RandomSource): Promise<string[] | undefined> {
  const factor = await secondFactorOf(tx, userId)
  if (factor.authenticator === null) return undefined
  const codes = newRecoveryCodes(random)
  tx.put(keys.secondFactor(userId), { ...factor, recovery_hashes: codes.map(hashRecoveryCode) })
  return codes
}

/** Writes a second factor that was read in this transaction. One with nothing in it is removed. */
export function putSecondFactor(tx: Transaction, factor: SecondFactor): void {
  const key = keys.secondFactor(factor.user_id)
  if (factor.authenticator === null && factor.pending === null && factor.passkeys.length === 0) tx.remove(key)
  else tx.put(key, factor)
}

/** Removes a person's authenticator app, recovery codes and passkeys. @returns whether there was one of them */
export async function removeSecondFactor(tx: Transaction, userId: string): Promise<boolean> {
  const stored = await tx.get(keys.secondFactor(userId))
  if (stored !== undefined) tx.remove(keys.secondFactor(userId))
  return stored !== undefined
}
