/** An authenticator app that computes codes from a secret (TOTP, RFC 6238). */
export interface Authenticator {
  /** in base32, as the app got it. The service computes the same codes, so it cannot store a hash instead. */
  readonly secret: string
  readonly added_at: string
  /** the number of the time step whose code was used last: no code of this step or an earlier one is accepted again */
  readonly last_step: number
}

/** An authenticator app whose first code has not been entered yet. */
export interface PendingAuthenticator {
  readonly secret: string
  /** the session that proved the person's identity: no other one is shown the secret, or can complete it */
  readonly session_id: string | null
  readonly expires_at: string
}

/** A passkey (WebAuthn credential). */
export interface Passkey {
  readonly id: string
  readonly name: string
  /** the id that the authenticator gave it, in base64url */
  readonly credential_id: string
  /** the public key as COSE, in base64url */
  readonly public_key: string
  /** how often it was used, as the authenticator counts; 0 if it does not count */
  readonly counter: number
  readonly transports: readonly string[]
  readonly added_at: string
  readonly used_at: string | null
}

/** What a person proves their identity with, besides the password. Times are RFC 3339. */
export interface SecondFactor {
  readonly user_id: string
  readonly authenticator: Authenticator | null
  readonly pending: PendingAuthenticator | null
  /** SHA-256 of the recovery codes that have not been used. Each has 120 random bits, so a slow hash would add nothing. */
  readonly recovery_hashes: readonly string[]
  readonly passkeys: readonly Passkey[]
}

/** What a challenge is for. */
export const challengePurposes = ['second_factor', 'sign_in', 'prove', 'register'] as const
export type ChallengePurpose = (typeof challengePurposes)[number]

/** What must be answered once, within five minutes: a challenge to a passkey, or a sign-in that waits for a code. */
export interface Challenge {
  /** SHA-256 of the challenge, in hex */
  readonly hash: string
  readonly purpose: ChallengePurpose
  /** null: the owner of the passkey that answers */
  readonly user_id: string | null
  /** SHA-256 of the form token of the page: only the browser that got the challenge can answer it */
  readonly bound_to: string
  /** SHA-256 of the stored password hash that was right, for a sign-in that waits for a code: a changed password ends it */
  readonly credential: string | null
  readonly expires_at: string
}

/** What a person is notified of. */
export const noticeKinds = [
  'new_sign_in',
  'token_created',
  'password_changed',
  'authenticator_added',
  'authenticator_removed',
  'recovery_codes_made',
  'recovery_code_used',
  'passkey_added',
  'passkey_removed',
] as const
export type NoticeKind = (typeof noticeKinds)[number]

/** Something that happened to an account. It is shown to its person until they dismiss it. */
export interface Notice {
  readonly id: string
  readonly kind: NoticeKind
  readonly at: string
  /** the browser and the network that did it */
  readonly agent: string
  readonly address: string
  /** the session that did it, which does not see the notice; null: none */
  readonly session_id: string | null
  /** the name of the token or passkey */
  readonly name: string | null
}

/** The notices of a person, oldest first. */
export interface Notices {
  readonly user_id: string
  readonly notices: readonly Notice[]
}
