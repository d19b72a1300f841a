import { z } from 'zod'
import { limits } from './limits.ts'
import { line } from './text.ts'

/**
 * What a person signs in to the web app with. The API knows nothing of it, and shows nothing of it: e-mail
 * addresses are never exposed there (spec §2).
 */
export interface Account {
  readonly user_id: string
  /** as it is compared: without white space around it, in lower case */
  readonly email: string
  /** argon2id, in PHC's format */
  readonly password_hash: string
  /** browsers from which it was signed in to, newest first, as hashes: they are throttled apart from strangers */
  readonly devices: readonly string[]
  readonly created_at: string
  readonly updated_at: string
}

/** The one link with which a person sets a password. It stands here as a hash, and is gone once it was used. */
export interface SignUp {
  readonly user_id: string
  readonly hash: string
  readonly expires_at: string
}

/** A token that is to be made once its person confirms it. Only this record says what it will be; the form just names it. */
export interface Confirmation {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly days: number
}

/** A signed-in browser. Times are RFC 3339. */
export interface Session {
  /** SHA-256 of what the cookie holds, in hex */
  readonly hash: string
  readonly user_id: string
  /** what was signed in with, so that every page can say whose it is */
  readonly email: string
  readonly begun_at: string
  readonly seen_at: string
  /** when the password was given last */
  readonly proved_at: string
  /** what every form of this session carries */
  readonly form_token: string
  readonly confirmations: readonly Confirmation[]
}

/** That a person is, or was, a member of a workspace: only a hint, the membership itself decides. */
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
export const tokenName = line(limits.tokenName)
/** days that a token is to live (spec §8) */
const DAYS = 'must be a whole number from 1 to 90'
export const tokenDays = z.coerce.number<string>(DAYS).int(DAYS).min(1, DAYS).max(90, DAYS)
