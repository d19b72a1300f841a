import { z } from 'zod'
import { durations } from './durations.ts'
import { timestamp, hash, idOf, hiddenTimes } from './fields.ts'
import { limits } from './limits.ts'
import { noticeMailsOfAccount } from './notice-mail.ts'
import { nameLine } from './text.ts'
import { DAY } from './time.ts'

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

/** A hash states what it costs to compute it, and a sign-in computes it: a backup must not be able to stop the service with one. */
const MOST: Readonly<Record<string, number>> = { m: 64 * 1024, t: 4, p: 4 }
/** argon2id in PHC string format */
const passwordHash = z
  .string()
  .regex(/^\$argon2id\$[!-~]{1,200}$/, 'must be a hash of argon2id')
  .refine(
    (text) => [...text.matchAll(/\b([mtp])=([^,$]*)/g)].every(([, name, cost]) => Number(cost) <= MOST[name!]!),
    'must be a hash of argon2id with at most 64 MiB, 4 passes and 4 lanes',
  )

/**
 * The web app's credentials of a user. The API neither reads nor shows them: e-mail addresses are never exposed
 * there (spec §2).
 */
export const account = z.strictObject({
  user_id: idOf('user'),
  email: emailAddress,
  /**
   * Whether somebody else than its person has said that the address is theirs: the provider, or the operator who has invited it. One that
   * was only typed gets mails about the security of the account alone. Absent: an earlier version has stored it, and it gets mail as
   * before.
   */
  email_confirmed: z.boolean().optional(),
  /** which notices they get mails about; absent: as everybody */
  notice_mails: noticeMailsOfAccount.optional(),
  /** the boards that come first in their list, the one starred last first; it decides nothing else. Absent: none */
  starred_boards: z.array(idOf('board')).max(limits.starredBoards).readonly().optional(),
  /** null: they sign in with the identity provider only */
  password_hash: passwordHash.nullable(),
  /** SHA-256 of the device cookies that have signed in before, newest first. Known devices are throttled separately. */
  devices: z.array(hash).max(100).readonly(),
  ...hiddenTimes,
})
export type Account = Readonly<z.infer<typeof account>>

/** The one-time link that lets a user set a password. Only its hash is stored, and it is removed when it is used. */
export const signUp = z.strictObject({
  user_id: idOf('user'),
  hash,
  expires_at: timestamp,
  /** the e-mail address that the form suggests */
  email: z.string().max(limits.email).optional(),
})
export type SignUp = Readonly<z.infer<typeof signUp>>

/**
 * A token that waits for its user's confirmation. The form carries only the id, so what is issued is exactly what
 * was shown.
 */
const confirmation = z.strictObject({
  id: idOf('confirmation'),
  workspace_id: idOf('workspace'),
  name: z.string(),
  scopes: z.array(z.string()).readonly(),
  days: z.int().min(1),
})
export type Confirmation = Readonly<z.infer<typeof confirmation>>

/** A session of the web app. */
export const session = z.strictObject({
  /** SHA-256 of the cookie's value */
  hash,
  user_id: idOf('user'),
  /** the address that signed in, shown on every page */
  email: z.string(),
  begun_at: timestamp,
  seen_at: timestamp,
  /** when the person has proved last who they are */
  proved_at: timestamp,
  /** the CSRF token in every form of this session */
  form_token: z.string().regex(/^[\w-]{43}$/, 'must be a secret in base64url'),
  confirmations: z.array(confirmation).readonly(),
  /** names the session in the list of its person; it stays the same when the cookie is renewed */
  id: idOf('session'),
  /** the browser, in a few words */
  agent: z.string(),
  /** the network that signed in */
  address: z.string(),
  /** `provider`: by the identity provider, which also proves later who it is */
  way: z.literal('provider').optional(),
})
export type Session = Readonly<z.infer<typeof session>>

/**
 * A pointer from a user to a workspace that they are, or were, a member of. It only helps to find the workspace: the
 * membership decides.
 */
export const workspaceLink = z.strictObject({ user_id: idOf('user'), workspace_id: idOf('workspace') })
export type WorkspaceLink = Readonly<z.infer<typeof workspaceLink>>
