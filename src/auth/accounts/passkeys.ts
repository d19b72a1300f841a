import type { AuthenticationResponseJSON, AuthenticatorTransport, RegistrationResponseJSON } from '@simplewebauthn/server'
import { isIP } from 'node:net'
import { z } from 'zod'
import { durations } from '../../model/durations.ts'
import { lazy } from '../../model/lazy.ts'
import type { Passkey } from '../../model/second-factor.ts'
import type { Session } from '../../model/account.ts'
import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { timestamp } from '../../model/time.ts'

import { GLOBAL, keys } from '../../store/keys.ts'
import { type Deps, transact } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'
import { takeChallenge } from './challenges.ts'
import { putSecondFactor, secondFactorOf } from './second-factor.ts'

const webauthn = lazy(() => import('@simplewebauthn/server'))

/** The service as authenticators know it: passkeys belong to the host name of its origin. */
export interface RelyingParty {
  readonly origin: string
  readonly id: string
}

/** The relying party of an origin. There are no passkeys for an IP address. */
export function relyingParty(origin: string): RelyingParty | undefined {
  const { hostname } = new URL(origin)
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0 ? { origin, id: hostname } : undefined
}

const base64url = z.string().regex(/^[\w-]{1,8192}$/)
const answer = { id: base64url, rawId: base64url, type: z.literal('public-key'), clientExtensionResults: z.looseObject({}).default({}) }
const assertion = z.looseObject({
  ...answer,
  response: z.looseObject({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.nullish(),
  }),
})
const attestation = z.looseObject({
  ...answer,
  response: z.looseObject({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().max(20)).max(10).optional(),
  }),
})

/** What a browser sends when a passkey has answered a challenge. */
export interface Assertion {
  readonly credentialId: string
  /** the person that the passkey belongs to, as it says itself */
  readonly userId: string
  readonly challenge: string
  readonly json: AuthenticationResponseJSON
}

/** What a browser sends when an authenticator has made a passkey. */
export interface Attestation {
  readonly challenge: string
  readonly json: RegistrationResponseJSON
}

/** Reads the answer of a passkey. Nothing in it is verified yet. @returns undefined if it is malformed */
export function readAssertion(text: string): Assertion | undefined {
  const parsed = assertion.safeParse(parseJson(text))
  if (!parsed.success) return undefined
  const { id, response } = parsed.data
  const challenge = challengeOf(response.clientDataJSON)
  const userId = Buffer.from(response.userHandle ?? '', 'base64url').toString()
  return challenge === undefined ? undefined : { credentialId: id, userId, challenge, json: parsed.data as AuthenticationResponseJSON }
}

/** Reads a new passkey. Nothing in it is verified yet. @returns undefined if it is malformed */
export function readAttestation(text: string): Attestation | undefined {
  const parsed = attestation.safeParse(parseJson(text))
  const challenge = parsed.success ? challengeOf(parsed.data.response.clientDataJSON) : undefined
  return challenge === undefined ? undefined : { challenge, json: parsed.data as RegistrationResponseJSON }
}

function challengeOf(clientData: string): string | undefined {
  const parsed = z.looseObject({ challenge: base64url }).safeParse(parseJson(Buffer.from(clientData, 'base64url').toString()))
  return parsed.data?.challenge
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64url'))
const idsOf = (passkeys: readonly Passkey[]) =>
  passkeys.map(({ credential_id, transports }) => ({ id: credential_id, transports: [...transports] as AuthenticatorTransport[] }))

/** The options with which a browser makes a passkey. It stores the person's id, and asks for a PIN or a fingerprint. */
export async function registrationOptions(
  { id }: RelyingParty,
  challenge: string,
  { userId, email, name, passkeys }: { userId: string; email: string; name: string; passkeys: readonly Passkey[] },
): Promise<object> {
  const { generateRegistrationOptions } = await webauthn()
  return generateRegistrationOptions({
    rpName: 'Lanekeeper',
    rpID: id,
    userName: email,
    userDisplayName: name,
    userID: new TextEncoder().encode(userId),
    challenge: bytesOf(challenge),
    timeout: durations.challenge,
    attestationType: 'none',
    excludeCredentials: idsOf(passkeys),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

/** The options with which a browser asks a passkey. @param passkeys those that are accepted; undefined: any */
export async function assertionOptions({ id }: RelyingParty, challenge: string, passkeys?: readonly Passkey[]): Promise<object> {
  const { generateAuthenticationOptions } = await webauthn()
  return generateAuthenticationOptions({
    rpID: id,
    challenge: bytesOf(challenge),
    timeout: durations.challenge,
    userVerification: 'required',
    ...(passkeys === undefined ? {} : { allowCredentials: idsOf(passkeys) }),
  })
}

/** Verifies a new passkey. @returns what is stored of it; undefined if it is refused */
async function verifyAttestation(
  { origin, id }: RelyingParty,
  { json, challenge }: Attestation,
): Promise<Pick<Passkey, 'credential_id' | 'public_key' | 'counter' | 'transports'> | undefined> {
  const { verifyRegistrationResponse } = await webauthn()
  const request = { response: json, expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: id, requireUserVerification: true }
  const result = await verifyRegistrationResponse(request).catch(() => undefined)
  if (result?.verified !== true) return undefined
  const { credential } = result.registrationInfo
  return {
    credential_id: credential.id,
    public_key: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    transports: json.response.transports ?? [],
  }
}

/** Verifies the answer of a passkey. @returns its new counter; undefined if the answer is refused */
export async function verifyAssertion(
  { origin, id }: RelyingParty,
  { json, challenge }: Assertion,
  { credential_id, public_key, counter }: Passkey,
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await webauthn()
  const request = {
    response: json,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    credential: { id: credential_id, publicKey: bytesOf(public_key), counter },
  }
  const result = await verifyAuthenticationResponse(request).catch(() => undefined)
  return result?.verified === true ? result.authenticationInfo.newCounter : undefined
}

/**
 * Stores a new passkey of a person who is signed in. Its challenge is used up, even if the passkey is refused.
 * @returns undefined if the passkey is refused, or if the person has ten
 */
export async function registerPasskey(
  { store, clock, random }: Deps,
  { party, session, attestation, name }: { party: RelyingParty; session: Session; attestation: Attestation; name: string },
): Promise<Passkey | undefined> {
  const userId = session.user_id
  return transact(store, GLOBAL, random, async (tx) => {
    const request = { secret: attestation.challenge, purpose: 'register', formToken: session.form_token } as const
    const challenge = await takeChallenge(tx, request, clock)
    const factor = await secondFactorOf(tx, userId)
    if (challenge?.user_id !== userId || factor.passkeys.length >= limits.passkeysPerPerson) return undefined
    const verified = await verifyAttestation(party, attestation)
    if (verified === undefined || factor.passkeys.some(({ credential_id }) => credential_id === verified.credential_id)) return undefined
    const passkey: Passkey = { id: newId('passkey', random), name, ...verified, added_at: timestamp(clock), used_at: null }
    tx.put(keys.secondFactor(userId), { ...factor, passkeys: [...factor.passkeys, passkey] })
    return passkey
  })
}

/** Renames a passkey of a person. @returns false if they have no such passkey */
export async function renamePasskey(tx: Transaction, userId: string, passkeyId: string, name: string): Promise<boolean> {
  const factor = await secondFactorOf(tx, userId)
  if (!factor.passkeys.some(({ id }) => id === passkeyId)) return false
  putSecondFactor(tx, { ...factor, passkeys: factor.passkeys.map((one) => (one.id === passkeyId ? { ...one, name } : one)) })
  return true
}

/** Removes a passkey of a person. @returns the passkey, if they had it */
export async function removePasskey(tx: Transaction, userId: string, passkeyId: string): Promise<Passkey | undefined> {
  const factor = await secondFactorOf(tx, userId)
  const passkey = factor.passkeys.find(({ id }) => id === passkeyId)
  if (passkey !== undefined) putSecondFactor(tx, { ...factor, passkeys: factor.passkeys.filter((one) => one !== passkey) })
  return passkey
}
