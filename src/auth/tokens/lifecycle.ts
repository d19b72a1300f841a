import { DAY, MINUTE } from '../../model/time.ts'
import type { TokenRecord } from '../../model/token.ts'

/** Where a token is in its life (spec §3, "Token lifecycle"). Only an active one opens anything. */
export const tokenStates = ['active', 'rotated', 'revoked', 'expired'] as const
export type TokenState = (typeof tokenStates)[number]

/** What of a token its state follows from. Times are RFC 3339. */
export type TokenLifecycle = Pick<TokenRecord, 'issued_at' | 'expires_at' | 'revoked_at' | 'replaced_by'>

/** What can be done to a token. That time passes is no event: the state is asked for with the time. */
export type TokenEvent =
  | { readonly type: 'rotate'; /** the id of the token that takes its place */ readonly successor: string }
  | { readonly type: 'revoke' }
  /** its person's membership ends */
  | { readonly type: 'leave' }

/** A token lives 90 days at most, in milliseconds (spec §8). */
export const MAX_LIFETIME = 90 * DAY
/** From here on answers say when the token expires, in milliseconds before it does. */
export const EXPIRES_SOON = 14 * DAY
/** So long a sign-in is recent enough for `kanban:admin`, in milliseconds (spec §3, §5 "Credential" 7). */
export const RECENT = 10 * MINUTE

/**
 * Begins a life.
 * @param now milliseconds since 1970
 * @param lifetime milliseconds; more than 90 days is taken as 90 days
 */
export function newLifecycle(now: number, lifetime: number): TokenLifecycle {
  return {
    issued_at: new Date(now).toISOString(),
    expires_at: new Date(now + Math.min(lifetime, MAX_LIFETIME)).toISOString(),
    revoked_at: null,
    replaced_by: null,
  }
}

/**
 * The state of a token at a moment. What was done to it counts before what time did to it.
 * @param now milliseconds since 1970
 */
export function stateOf(life: TokenLifecycle, now: number): TokenState {
  if (life.replaced_by !== null) return 'rotated'
  if (life.revoked_at !== null) return 'revoked'
  return now >= expiryOf(life) ? 'expired' : 'active'
}

/**
 * What becomes of a token.
 * @param now milliseconds since 1970
 * @returns its new life, the same one where nothing changes; undefined where the event is refused: only an
 * active token can be rotated
 */
export function transition(life: TokenLifecycle, event: TokenEvent, now: number): TokenLifecycle | undefined {
  const state = stateOf(life, now)
  const at = new Date(now).toISOString()
  if (event.type === 'rotate') return state === 'active' ? { ...life, revoked_at: at, replaced_by: event.successor } : undefined
  // An expired one is revoked too: the clock of another process may be behind.
  return state === 'active' || state === 'expired' ? { ...life, revoked_at: at } : life
}

/**
 * When a token stops working: the earlier of what its record says and 90 days after issuance, so that no
 * record can say more. A record that cannot be read as a time has expired.
 */
export function expiryOf({ issued_at, expires_at }: Pick<TokenLifecycle, 'issued_at' | 'expires_at'>): number {
  const expiry = Math.min(Date.parse(expires_at), Date.parse(issued_at) + MAX_LIFETIME)
  return Number.isNaN(expiry) ? 0 : expiry
}

/**
 * Whether a token with these scopes may be created or rotated by somebody who proved who he is at that time:
 * `kanban:admin` asks for it anew (spec §3).
 * @param provedAt milliseconds since 1970
 */
export function mayIssue(scopes: readonly string[], provedAt: number, now: number): boolean {
  return !scopes.includes('kanban:admin') || (now - provedAt <= RECENT && provedAt <= now)
}
