import { z } from 'zod'
import { durations } from './durations.ts'
import { limits } from './limits.ts'
import { nameLine } from './text.ts'
import { DAY } from './time.ts'

/**
 * The web app's credentials of a user. The API neither reads nor shows them: e-mail addresses are never exposed
 * there (spec §2).
 */
export interface Account {
  readonly user_id: string
  /** normalised for comparison: trimmed and in lower case */
  readonly email: string
  /** argon2id in PHC string format */
  readonly password_hash: string
  /** SHA-256 of the device cookies that have signed in before, newest first. Known devices are throttled separately. */
  readonly devices: readonly string[]
  readonly created_at: string
  readonly updated_at: string
}

/** The one-time link with which a user sets a password. Only its hash is stored, and it is removed when it is used. */
export interface SignUp {
  readonly user_id: string
  readonly hash: string
  readonly expires_at: string
  /** the e-mail address that the form suggests */
  readonly email?: string
}

/**
 * A token that waits for its user's confirmation. The form carries only the id, so what is issued is exactly what
 * was shown.
 */
export interface Confirmation {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly days: number
}

/** A session of the web app. Times are RFC 3339. */
export interface Session {
  /** SHA-256 of the cookie's value, in hex */
  readonly hash: string
  readonly user_id: string
  /** the address that signed in, shown on every page */
  readonly email: string
  readonly begun_at: string
  readonly seen_at: string
  /** when the password was last entered */
  readonly proved_at: string
  /** the CSRF token in every form of this session */
  readonly form_token: string
  readonly confirmations: readonly Confirmation[]
  /** names the session in the list of its person; it stays the same when the cookie is renewed. Older sessions have none. */
  readonly id?: string
  /** the browser, in a few words */
  readonly agent?: string
  /** the network that signed in */
  readonly address?: string
}

/**
 * A pointer from a user to a workspace that they are, or were, a member of. It only helps to find the workspace: the
 * membership decides.
 */
export interface WorkspaceLink {
  readonly user_id: string
  readonly workspace_id: string
}

export const emailAddress = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(z.email('must be an e-mail address').max(limits.email, `must have at most ${limits.email} characters`))
export const newPassword = z
  .string()
  .refine((text) => text.isWellFormed(), 'must be valid Unicode')
  .min(limits.passwordShortest, `must have at least ${limits.passwordShortest} characters`)
  .max(limits.passwordLongest, `must have at most ${limits.passwordLongest} characters`)
export const tokenName = nameLine(limits.tokenName)

/** The maximum lifetime of a token in days (spec §8). */
export const MAX_TOKEN_DAYS = durations.token / DAY
const DAYS = `must be a whole number from 1 to ${MAX_TOKEN_DAYS}`
/** The lifetime of a token in days (spec §8), as text: digits only, because what else Number reads, such as "0x10", was not meant. */
export const tokenDays = z
  .string(DAYS)
  .regex(/^[0-9]{1,3}$/, DAYS)
  .transform(Number)
  .pipe(z.number().min(1, DAYS).max(MAX_TOKEN_DAYS, DAYS))
