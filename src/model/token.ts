/** The three scopes, from least to greatest; each includes those before it (spec §5, "Scopes"). */
export const scopes = ['kanban:read', 'kanban:write', 'kanban:admin'] as const
export type Scope = (typeof scopes)[number]

/** The scopes that a token has with those that they include, least first. None where it holds no Kanban scope. */
export function effectiveScopes(chosen: readonly string[]): readonly Scope[] {
  return scopes.slice(0, scopes.findLastIndex((scope) => chosen.includes(scope)) + 1)
}

/** A personal access token as it is stored. The plaintext is nowhere (spec §2). */
export interface TokenRecord {
  readonly id: string
  /** SHA-256 of the plaintext, in hex */
  readonly hash: string
  readonly user_id: string
  readonly name: string
  /** as chosen at creation; those that are no Kanban scope grant nothing here */
  readonly scopes: readonly string[]
  readonly issued_at: string
  readonly expires_at: string
  readonly revoked_at: string | null
  /** the token that took its place */
  readonly replaced_by: string | null
}

/** When a token was last used. Kept apart and coarse, so that using a token conflicts with nothing. */
export interface TokenUse {
  readonly at: string
}
