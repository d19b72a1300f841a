import type { Session } from '../../model/account.ts'
import { durations, isCurrent } from '../../model/durations.ts'
import type { Awaitable } from '../../model/awaitable.ts'
import { randomText, type RandomSource } from '../../model/ids.ts'
import type { SecondFactor } from '../../model/second-factor.ts'
import { timestamp } from '../../model/time.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { type Deps, transact } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'
import { limits } from '../../model/limits.ts'
import { SEALED } from '../../model/fields.ts'
import { type SecretDeps, sealIn, type SecretKeys } from '../secret-keys.ts'
import { equalInConstantTime, sha256Hex } from '../secrets.ts'
import { lazy } from '../../model/lazy.ts'

/** Reads the second factor of a person. Without a record they have none. */
export async function secondFactorOf(tx: Transaction, userId: string): Promise<SecondFactor> {
  const stored = await tx.get(keys.secondFactor(userId))
  return stored ?? { user_id: userId, authenticator: null, pending: null, recovery_hashes: [], passkeys: [] }
}

/**
 * Uses a code of a person: the present one of their authenticator app, or a recovery code. Each is accepted once: the commit
 * that accepts it also stores that it was used.
 * @returns what kind of code it is; undefined if it is not accepted
 * @throws {SecretKeyError} if the secret of the app cannot be opened, and it is no recovery code: those work without the key
 */
export async function useCode(
  tx: Transaction,
  userId: string,
  code: string,
  { clock, secretKeys }: Pick<SecretDeps, 'clock' | 'secretKeys'>,
): Promise<'app' | 'recovery' | undefined> {
  const factor = await secondFactorOf(tx, userId)
  const { authenticator } = factor
  if (authenticator === null) return undefined
  const recovery_hashes = withoutCode(factor.recovery_hashes, code)
  if (recovery_hashes !== undefined) {
    tx.put(keys.secondFactor(userId), { ...factor, recovery_hashes })
    return 'recovery'
  }
  const step = await stepOfCode(openSecret(secretKeys, userId, authenticator.secret), code, clock(), authenticator.last_step)
  if (step === undefined) return undefined
  tx.put(keys.secondFactor(userId), { ...factor, authenticator: { ...authenticator, last_step: step } })
  return 'app'
}

/**
 * The secret of an authenticator app.
 * @throws {SecretKeyError} if it cannot be opened
 */
function openSecret(secretKeys: SecretKeys, userId: string, stored: string): string {
  // An earlier version of Lanekeeper stored it as it is.
  return isSealed(stored) ? secretKeys.open(stored, keys.secondFactor(userId)) : stored
}

const isSealed = (stored: string): boolean => SEALED.test(stored)

/** The stored secrets of a person's authenticator apps. */
export function secretsOf({ authenticator, pending }: Pick<SecondFactor, 'authenticator' | 'pending'>): string[] {
  return [authenticator, pending].flatMap((app) => app?.secret ?? [])
}

/**
 * Checks that the secrets of a person can be opened.
 * @throws {SecretKeyError}
 */
export function checkSecrets(secretKeys: SecretKeys, factor: SecondFactor): void {
  for (const secret of secretsOf(factor)) openSecret(secretKeys, factor.user_id, secret)
}

/**
 * Seals the secrets of a person again, with the key that the storage records.
 * @throws {SecretKeyError} if one cannot be opened
 */
export async function resealSecrets(tx: Transaction, userId: string, secretKeys: SecretKeys): Promise<void> {
  const factor = await secondFactorOf(tx, userId)
  const reseal = async <App extends { readonly secret: string }>(app: App | null) =>
    app && { ...app, secret: await sealIn(tx, secretKeys, openSecret(secretKeys, userId, app.secret), keys.secondFactor(userId)) }
  if (secretsOf(factor).length === 0) return
  tx.put(keys.secondFactor(userId), { ...factor, authenticator: await reseal(factor.authenticator), pending: await reseal(factor.pending) })
}

/**
 * Changes the second factor of a person in one commit. One with nothing in it is removed.
 * @param change gets the present one. If it returns none, nothing is changed.
 * @returns what the change returns
 */
export async function changeSecondFactor<Result extends { readonly factor?: SecondFactor }>(
  { store, random }: Deps,
  userId: string,
  change: (factor: SecondFactor, tx: Transaction) => Awaitable<Result>,
): Promise<Result> {
  return transact(store, GLOBAL, random, async (tx) => {
    const result = await change(await secondFactorOf(tx, userId), tx)
    const { factor } = result
    if (factor !== undefined && factor.authenticator === null && factor.pending === null && factor.passkeys.length === 0)
      tx.remove(keys.secondFactor(userId))
    else if (factor !== undefined) tx.put(keys.secondFactor(userId), factor)
    return result
  })
}

/**
 * Makes a secret for an authenticator app. It counts when its first code has been entered.
 * @param session that has just proved its person's identity
 * @returns the secret in base32
 * @throws {SecretKeyError} if there is no key to seal it with
 */
export async function offerAuthenticator(deps: SecretDeps, { user_id, id: session_id }: SessionName): Promise<string> {
  const secret = await newTotpSecret(deps.random)
  const expires_at = timestamp(() => deps.clock() + durations.challenge)
  await changeSecondFactor(deps, user_id, async (factor, tx) => {
    const sealed = await sealIn(tx, deps.secretKeys, secret, keys.secondFactor(user_id))
    return { factor: { ...factor, pending: { secret: sealed, session_id, expires_at } } }
  })
  return secret
}

/** What names a session, and its person. */
type SessionName = Pick<Session, 'user_id' | 'id'>

/**
 * Adds the authenticator app that waits for its first code. It replaces an earlier one, and its recovery codes.
 * @returns the recovery codes, which are not stored; without them the code is wrong, and without the secret no app of this session waits
 * @throws {SecretKeyError} if its secret cannot be opened
 */
export function addAuthenticator(
  deps: SecretDeps,
  { user_id, id }: SessionName,
  code: string,
): Promise<{ readonly secret?: string; readonly codes?: readonly string[] }> {
  const { clock, random, secretKeys } = deps
  return changeSecondFactor(deps, user_id, async (factor) => {
    const { pending } = factor
    if (pending?.session_id !== id || !isCurrent(pending.expires_at, durations.challenge, clock())) return {}
    const secret = openSecret(secretKeys, user_id, pending.secret)
    const last_step = await stepOfCode(secret, code, clock(), 0)
    if (last_step === undefined) return { secret }
    const codes = newRecoveryCodes(random)
    const authenticator = { secret: pending.secret, added_at: timestamp(clock), last_step }
    return { secret, codes, factor: { ...factor, authenticator, pending: null, recovery_hashes: codes.map(hashRecoveryCode) } }
  })
}

/**
 * Removes a person's authenticator app and recovery codes.
 * @returns whether there was one
 */
export async function removeAuthenticator(deps: Deps, userId: string): Promise<boolean> {
  const { factor } = await changeSecondFactor(deps, userId, (before) =>
    before.authenticator === null ? {} : { factor: { ...before, authenticator: null, pending: null, recovery_hashes: [] } },
  )
  return factor !== undefined
}

/**
 * Replaces a person's recovery codes.
 * @returns the new ones, which are not stored; undefined if they have no authenticator app
 */
export async function renewRecoveryCodes(deps: Deps, userId: string): Promise<readonly string[] | undefined> {
  const codes = newRecoveryCodes(deps.random)
  const { factor } = await changeSecondFactor(deps, userId, (before) =>
    before.authenticator === null ? {} : { factor: { ...before, recovery_hashes: codes.map(hashRecoveryCode) } },
  )
  return factor && codes
}

/**
 * Removes a person's authenticator app, recovery codes and passkeys.
 * @returns whether there was one of them
 */
export async function removeSecondFactor(tx: Transaction, userId: string): Promise<boolean> {
  const stored = await tx.get(keys.secondFactor(userId))
  tx.remove(keys.secondFactor(userId))
  return stored !== undefined
}

/** Characters of a code: 120 random bits, so that a fast hash is enough (ASVS 5.0, 6.5.2). */
const LENGTH = 24

/** Returns new recovery codes, in groups of four characters. Only their hashes are stored. */
export function newRecoveryCodes(random: RandomSource): string[] {
  return Array.from({ length: limits.recoveryCodes }, () => randomText(random, LENGTH).replaceAll(/(.{4})(?=.)/g, '$1-'))
}

/** The stored form of a code. Case, spaces and hyphens do not count, and the letters O, I and L are read as the digits 0, 1 and 1. */
export function hashRecoveryCode(code: string): string {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, '')
  return sha256Hex(plain.replaceAll('o', '0').replaceAll(/[il]/g, '1'))
}

/** The hashes that remain when a code is used; undefined if it is not one of them. */
export function withoutCode(hashes: readonly string[], code: string): string[] | undefined {
  const hash = hashRecoveryCode(code)
  const rest = hashes.filter((one) => !equalInConstantTime(one, hash))
  return rest.length === hashes.length ? undefined : rest
}

const otpauth = lazy(() => import('otpauth'))

/** What authenticator apps show as the name of the service. */
const ISSUER = 'Lanekeeper'
/** Bytes of a secret: the length of the output of SHA-1, which RFC 4226 recommends. */
const SECRET_BYTES = 20
/** Steps of 30 seconds before and after the present one whose codes are accepted too (RFC 6238, 5.2). */
const WINDOW = 1

/** Returns a new secret of an authenticator app, in base32. */
export async function newTotpSecret(random: RandomSource): Promise<string> {
  const { Secret } = await otpauth()
  return new Secret({ buffer: new Uint8Array(random(SECRET_BYTES)).buffer }).base32
}

/** The address that an authenticator app reads from a QR code. */
export async function totpUri(secret: string, email: string): Promise<string> {
  const { Secret, TOTP } = await otpauth()
  return new TOTP({ issuer: ISSUER, label: email, secret: Secret.fromBase32(secret) }).toString()
}

/**
 * The time step that a code belongs to: six digits, SHA-1 and steps of 30 seconds, as all authenticator apps compute them.
 * @param now milliseconds since 1970
 * @param lastStep no code of this step or an earlier one is accepted
 * @returns undefined if the code is not accepted
 */
export async function stepOfCode(secret: string, code: string, now: number, lastStep: number): Promise<number | undefined> {
  const digits = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(digits)) return undefined
  const { Secret, TOTP } = await otpauth()
  const delta = TOTP.validate({ token: digits, secret: Secret.fromBase32(secret), timestamp: now, window: WINDOW })
  if (delta === null) return undefined
  const step = TOTP.counter({ timestamp: now }) + delta
  return step > lastStep ? step : undefined
}
