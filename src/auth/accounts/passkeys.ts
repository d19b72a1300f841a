import type { AuthenticationResponseJSON, AuthenticatorTransport, RegistrationResponseJSON } from '@simplewebauthn/server'
import { isIPv4 } from 'node:net'
import { z } from 'zod'
import { durations } from '../../model/durations.ts'
import { lazy } from '../../model/lazy.ts'
import type { Passkey } from '../../model/second-factor.ts'
import type { Session } from '../../model/account.ts'
import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { timestamp } from '../../model/time.ts'
import type { Deps } from '../../store/transact.ts'
import { takeChallenge } from './challenges.ts'
import { changeSecondFactor } from './second-factor.ts'

const webauthn = lazy(() => import('@simplewebauthn/server'))

/** The service as authenticators know it: passkeys belong to the host name of its origin. */
export interface RelyingParty {
  readonly origin: string
  readonly id: string
}

/** The relying party of an origin. There are no passkeys for an IP address. */
export function relyingParty(origin: string): RelyingParty | undefined {
  const { hostname } = new URL(origin)
  // A URL has an IPv6 address in brackets.
  return isIPv4(hostname) || hostname.startsWith('[') ? undefined : { origin, id: hostname }
}

/** The members of an answer's JSON that are read before it is verified. The library refuses malformed other members. */
const answer = z.looseObject({
  id: z.string(),
  response: z.looseObject({
    clientDataJSON: z.string(),
    userHandle: z.string().nullish(),
    transports: z.array(z.string().max(20)).max(10).optional(),
  }),
})
const clientData = z.object({ challenge: z.string() })

/** What a browser sends when a passkey has answered a challenge, or when an authenticator has made one. */
export interface PasskeyAnswer {
  readonly party: RelyingParty
  readonly credentialId: string
  /** the person that the passkey belongs to, as it says itself */
  readonly userId: string
  readonly challenge: string
  readonly json: unknown
}

/**
 * Reads an answer to a page of an origin. Nothing in it is verified yet.
 * @returns undefined if it is malformed, or if there are no passkeys
 */
export function readAnswer(text: string, origin: string): PasskeyAnswer | undefined {
  const party = relyingParty(origin)
  const { data: json } = answer.safeParse(parseJson(text))
  if (party === undefined || json === undefined) return undefined
  const { data } = clientData.safeParse(parseJson(textOf(json.response.clientDataJSON)))
  return data && { party, credentialId: json.id, userId: textOf(json.response.userHandle), challenge: data.challenge, json }
}

function textOf(base64: string | null | undefined): string {
  return Buffer.from(base64 ?? '', 'base64url').toString()
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

/** The options for a browser that creates a passkey. It stores the person's id, and asks for a PIN or a fingerprint. */
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

/**
 * The options for a browser that asks a passkey.
 * @param passkeys the accepted ones; undefined: any
 */
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

/**
 * Verifies a new passkey.
 * @returns what is stored of it; undefined if it is refused
 */
async function verifyAttestation({
  party: { origin, id },
  json,
  challenge,
}: PasskeyAnswer): Promise<Pick<Passkey, 'credential_id' | 'public_key' | 'counter' | 'transports'> | undefined> {
  const { verifyRegistrationResponse } = await webauthn()
  const response = json as RegistrationResponseJSON
  const request = { response, expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: id, requireUserVerification: true }
  const result = await verifyRegistrationResponse(request).catch(() => undefined)
  if (result?.verified !== true) return undefined
  const { credential } = result.registrationInfo
  return {
    credential_id: credential.id,
    public_key: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    transports: response.response.transports ?? [],
  }
}

/**
 * Verifies the answer of a passkey.
 * @returns its new counter; undefined if the answer is refused
 */
export async function verifyAssertion(
  { party: { origin, id }, json, challenge }: PasskeyAnswer,
  { credential_id, public_key, counter }: Passkey,
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await webauthn()
  const request = {
    response: json as AuthenticationResponseJSON,
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
  deps: Deps,
  { session, attestation, name }: { session: Session; attestation: PasskeyAnswer; name: string },
): Promise<Passkey | undefined> {
  const { user_id: userId, form_token: formToken } = session
  const { passkey } = await changeSecondFactor(deps, userId, async (factor, tx) => {
    const { passkeys } = factor
    const challenge = await takeChallenge(tx, { secret: attestation.challenge, purpose: 'register', formToken }, deps.clock)
    if (challenge?.user_id !== userId || passkeys.length >= limits.passkeysPerPerson) return {}
    const verified = await verifyAttestation(attestation)
    if (verified === undefined || passkeys.some(({ credential_id }) => credential_id === verified.credential_id)) return {}
    const added: Passkey = { id: newId('passkey', deps.random), name, ...verified, added_at: timestamp(deps.clock), used_at: null }
    return { passkey: added, factor: { ...factor, passkeys: [...passkeys, added] } }
  })
  return passkey
}

/**
 * Changes or removes a passkey of a person.
 * @param change without a result it is removed
 * @returns the passkey before, if they had it
 */
export async function changePasskey(
  deps: Deps,
  userId: string,
  passkeyId: string,
  change: (passkey: Passkey) => Passkey | undefined,
): Promise<Passkey | undefined> {
  const { before } = await changeSecondFactor(deps, userId, (factor) => {
    const before = factor.passkeys.find(({ id }) => id === passkeyId)
    const passkeys = factor.passkeys.map((one) => (one === before ? change(one) : one)).filter((one) => one !== undefined)
    return { before, factor: { ...factor, passkeys } }
  })
  return before
}
