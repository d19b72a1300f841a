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
}

/** When a token was last used. A separate record with a coarse time, so that using a token conflicts with nothing. */
export interface TokenUse {
  readonly at: string
}
