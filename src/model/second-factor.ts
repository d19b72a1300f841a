import { z } from 'zod'
import { timestamp, hash, idOf, SEALED, shortText, amount } from './fields.ts'
import { limits } from './limits.ts'
import { line } from './text.ts'

/**
 * The sealed secret of an authenticator app. The service computes the same codes, so it cannot store a hash instead. It may be plain, in
 * base32, until the next start of a service with a key.
 */
const secret = z.union([z.string().regex(SEALED), z.string().regex(/^[A-Z2-7]{16,104}$/)], 'must be a sealed secret, or one in base32')
const base64url = z.string().regex(/^[\w-]{1,4096}$/, 'must be base64url')

/** An authenticator app that computes codes from a secret (TOTP, RFC 6238). */
const authenticator = z.strictObject({
  secret,
  added_at: timestamp,
  /** the number of the time step whose code was used last: no code of this step or an earlier one is accepted again */
  last_step: amount,
})

/** An authenticator app whose first code has not been entered yet. */
const pendingAuthenticator = z.strictObject({
  secret,
  /** the session that proved the person's identity: no other one is shown the secret, or can complete it */
  session_id: idOf('session').nullable(),
  expires_at: timestamp,
})

/** A passkey (WebAuthn credential). */
const passkey = z.strictObject({
  id: idOf('passkey'),
  name: line(limits.passkeyName),
  /** the id that the authenticator gave it */
  credential_id: base64url,
  /** the public key as COSE */
  public_key: base64url,
  /** how often it was used, as the authenticator counts; 0 if it does not count */
  counter: amount,
  transports: z.array(shortText).max(20).readonly(),
  added_at: timestamp,
  used_at: timestamp.nullable(),
})
export type Passkey = Readonly<z.infer<typeof passkey>>

/** A person's proofs of identity other than the password. */
export const secondFactor = z.strictObject({
  user_id: idOf('user'),
  authenticator: authenticator.nullable(),
  pending: pendingAuthenticator.nullable(),
  /** SHA-256 of the recovery codes that have not been used. Each has 120 random bits, so a slow hash would add nothing. */
  recovery_hashes: z.array(hash).max(limits.recoveryCodes).readonly(),
  passkeys: z.array(passkey).max(limits.passkeysPerPerson).readonly(),
})
export type SecondFactor = Readonly<z.infer<typeof secondFactor>>

/** What a challenge is for. */
const challengePurpose = z.enum(['second_factor', 'sign_in', 'prove', 'register', 'provider'])

/** What must be answered once, within five minutes: a challenge to a passkey, or a sign-in that waits for a code. */
export const challenge = z.strictObject({
  /** SHA-256 of the challenge */
  hash,
  purpose: challengePurpose,
  /** null: the owner of the passkey that answers, or whoever the provider names */
  user_id: idOf('user').nullable(),
  /** SHA-256 of the form token of the page: only the browser that got the challenge can answer it */
  bound_to: hash,
  /** SHA-256 of the stored password hash that was right, for a sign-in that waits for a code: a changed password ends it */
  credential: hash.nullable(),
  /** the page that a person returns to after the provider's proof; undefined: the account page, or no such proof */
  return_to: z.string().max(2000).optional(),
  expires_at: timestamp,
})
export type Challenge = Readonly<z.infer<typeof challenge>>

/** What happens to an account. */
const alertKind = z.enum([
  'new_sign_in',
  'token_created',
  'password_changed',
  'authenticator_added',
  'authenticator_removed',
  'recovery_codes_made',
  'recovery_code_used',
  'passkey_added',
  'passkey_removed',
  'identity_bound',
  'workspace_joined',
  'role_changed',
  'membership_ended',
  'link_made',
])
export type AlertKind = z.infer<typeof alertKind>

/** Something that happened to an account. It is shown to its person until they dismiss it. */
const alert = z.strictObject({
  id: idOf('alert'),
  kind: alertKind,
  at: timestamp,
  /** the browser and the network that did it; if an owner or admin of a workspace did it, their name and an empty text */
  agent: shortText,
  address: shortText,
  /** the session that did it, which does not see the alert; null: all see it */
  session_id: idOf('session').nullable(),
  /** the name of the token, passkey or workspace */
  name: shortText.nullable(),
})
export type Alert = Readonly<z.infer<typeof alert>>

/** The alerts of a person, oldest first. */
export const alerts = z.strictObject({
  user_id: idOf('user'),
  alerts: z
    .array(alert)
    .max(limits.alertsOfKind * alertKind.options.length)
    .readonly(),
})
export type Alerts = Readonly<z.infer<typeof alerts>>
