import { z } from 'zod'
import { MAX_TOKEN_DAYS } from './account.ts'
import { timestamp, hash, idOf, shortText, amount } from './fields.ts'
import { limits } from './limits.ts'
import { line } from './text.ts'

/** The three scopes, from least to greatest. Each includes those before it (spec §5, "Scopes"). */
export const scopes = ['kanban:read', 'kanban:write', 'kanban:admin'] as const
export type Scope = (typeof scopes)[number]

/** The granted scopes with those that they include, least first. Empty if the token has no Kanban scope. */
export function effectiveScopes(chosen: readonly string[]): readonly Scope[] {
  let greatest = scopes.length
  while (greatest > 0 && !chosen.includes(scopes[greatest - 1]!)) greatest--
  return EFFECTIVE[greatest]!
}

/** The lists of scopes by their lengths. Each request asks for one of them. */
const EFFECTIVE = [...scopes, undefined].map((_scope, length) => Object.freeze(scopes.slice(0, length)))

/** A personal access token as it is stored. The plaintext is not stored (spec §2). */
export const token = z.strictObject({
  id: idOf('token'),
  /** SHA-256 of the plaintext */
  hash,
  user_id: idOf('user'),
  /** the membership it was issued in: a later membership of the same user does not revive it. See `isOf` in workspace.ts */
  membership_id: idOf('membership').optional(),
  name: line(limits.tokenName),
  /** as chosen at creation; scopes of other services grant nothing here */
  scopes: z.array(line(100)).max(20).readonly(),
  issued_at: timestamp,
  expires_at: timestamp,
  revoked_at: timestamp.nullable(),
  /** the id of the token that replaced it by rotation */
  replaced_by: idOf('token').nullable(),
  /** of one that has replaced another: the hash of the first token of its family, which rotation hands on. The first one has none. */
  family: hash.optional(),
  /**
   * of the first token of a family, once it was replaced: the id of the last one. So nobody follows `replaced_by`, whose length a client
   * decides
   */
  last: idOf('token').optional(),
  /** who revoked it, if it was not its user: an owner or admin of the workspace */
  revoked_by: idOf('user').optional(),
})
export type TokenRecord = Readonly<z.infer<typeof token>>

/** The name of a token, which its person gave it, wherever its work is shown. */
export function tokenNameField(description: string): z.ZodString {
  return line(limits.tokenName, description)
}

/** The family of a token, which holds what the token holds: the hash of its first token. */
export function familyOf({ family, hash }: Pick<TokenRecord, 'family' | 'hash'>): string {
  return family ?? hash
}

/** The use of a token on one day, in UTC: all requests, and the denied ones. */
const tokenDay = z.strictObject({ day: z.iso.date(), calls: amount, refusals: amount })

/** When and how a token was used. A separate record that is written seldom, so that using a token conflicts with nothing. */
export const tokenUse = z.strictObject({
  /** the last time, within ten minutes */
  at: timestamp,
  /** of the client, at that time */
  address: shortText.nullable().optional(),
  /** the beginning of its User-Agent */
  agent: shortText.nullable().optional(),
  /** the last 30 days with any use of it, oldest first */
  days: z.array(tokenDay).max(30).readonly().optional(),
})
export type TokenUse = Readonly<z.infer<typeof tokenUse>>

/** What owners and admins decide about the new tokens of their workspace. */
export const tokenRules = z.strictObject({
  /** the greatest lifetime in days */
  max_days: z.int().min(1).max(MAX_TOKEN_DAYS),
  /** whether `kanban:admin` may be issued */
  admin: z.boolean(),
  updated_at: timestamp,
  updated_by: idOf('user'),
})
export type TokenRules = Readonly<z.infer<typeof tokenRules>>
