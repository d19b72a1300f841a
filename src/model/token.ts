/** The three scopes, from least to greatest. Each includes those before it (spec §5, "Scopes"). */
export const scopes = ['kanban:read', 'kanban:write', 'kanban:admin'] as const
export type Scope = (typeof scopes)[number]

/** The granted scopes with those that they include, least first. Empty if the token has no Kanban scope. */
export function effectiveScopes(chosen: readonly string[]): readonly Scope[] {
  return scopes.slice(0, scopes.findLastIndex((scope) => chosen.includes(scope)) + 1)
}

/** A personal access token as it is stored. The plaintext is not stored (spec §2). */
export interface TokenRecord {
  readonly id: string
  /** SHA-256 of the plaintext, in hex */
  readonly hash: string
  readonly user_id: string
  readonly name: string
  /** as chosen at creation; scopes of other services grant nothing here */
  readonly scopes: readonly string[]
  readonly issued_at: string
  readonly expires_at: string
  readonly revoked_at: string | null
  /** the id of the token that replaced it by rotation */
  readonly replaced_by: string | null
  /** who revoked it, if it was not its user: an owner or admin of the workspace */
  readonly revoked_by?: string | undefined
}

/** When and how a token was used. A separate record that is written seldom, so that using a token conflicts with nothing. */
export interface TokenUse {
  /** the last time, within ten minutes */
  readonly at: string
  /** of the client, at that time */
  readonly address?: string | null | undefined
  /** the beginning of its User-Agent */
  readonly agent?: string | null | undefined
  /** the last 30 days on which it was used, oldest first */
  readonly days?: readonly TokenDay[] | undefined
}

/** What was done with a token on one day, in UTC. */
export interface TokenDay {
  readonly day: string
  /** all requests */
  readonly calls: number
  /** those that were denied */
  readonly refusals: number
}

/** What owners and admins decide about the new tokens of their workspace. */
export interface TokenRules {
  /** the greatest lifetime in days */
  readonly max_days: number
  /** whether `kanban:admin` may be issued */
  readonly admin: boolean
  readonly updated_at: string
  readonly updated_by: string
}
