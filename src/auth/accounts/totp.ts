import type { RandomSource } from '../../model/ids.ts'
import { lazy } from '../../model/lazy.ts'

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
