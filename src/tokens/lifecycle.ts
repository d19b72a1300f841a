import type { TokenRecord } from '../model/token.ts'

/** Where a token is in its life (spec §3, "Token lifecycle"). Only an active one opens anything. */
export type TokenState = 'active' | 'rotated' | 'revoked' | 'expired'

const DAY = 24 * 60 * 60 * 1000
/** A token lives 90 days at most, in milliseconds (spec §8). */
export const MAX_LIFETIME = 90 * DAY

/**
 * The state of a token at a moment. What was done to it counts before what time did to it.
 * @param now milliseconds since 1970
 */
export function stateOf(token: Pick<TokenRecord, 'issued_at' | 'expires_at' | 'revoked_at' | 'replaced_by'>, now: number): TokenState {
  if (token.replaced_by !== null) return 'rotated'
  if (token.revoked_at !== null) return 'revoked'
  return now >= expiryOf(token) ? 'expired' : 'active'
}

/**
 * When a token stops working: the earlier of what its record says and 90 days after issuance, so that no
 * record can say more. A record that cannot be read as a time has expired.
 */
export function expiryOf({ issued_at, expires_at }: Pick<TokenRecord, 'issued_at' | 'expires_at'>): number {
  const expiry = Math.min(Date.parse(expires_at), Date.parse(issued_at) + MAX_LIFETIME)
  return Number.isNaN(expiry) ? 0 : expiry
}
