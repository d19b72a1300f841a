import { durations } from '../../model/durations.ts'
import type { TokenRecord } from '../../model/token.ts'

/** The states of a token (spec §3, "Token lifecycle"). Only an active token is accepted. */
export type TokenState = 'active' | 'rotated' | 'revoked' | 'expired'

/** The members of a token's record that determine its state. Times are RFC 3339. */
export type TokenLifecycle = Pick<TokenRecord, 'issued_at' | 'expires_at' | 'revoked_at' | 'replaced_by'>

/** What can happen to a token. Expiry is not an event: {@link stateOf} derives it from the time. */
export type TokenEvent =
  | { readonly type: 'rotate'; /** the id of the token that replaces it */ readonly successor: string }
  | { readonly type: 'revoke' }
  /** the membership of the token's user ends */
  | { readonly type: 'leave' }

/**
 * The lifecycle of a new token.
 * @param now milliseconds since 1970
 * @param lifetime milliseconds; reduced to 90 days if it is longer
 */
export function newLifecycle(now: number, lifetime: number): TokenLifecycle {
  return {
    issued_at: new Date(now).toISOString(),
    expires_at: new Date(now + Math.min(lifetime, durations.token)).toISOString(),
    revoked_at: null,
    replaced_by: null,
  }
}

/**
 * The state of a token at a time. Rotation and revocation take precedence over expiry. A token that was issued in the
 * future is not active either: its record was forged or damaged.
 * @param now milliseconds since 1970
 */
export function stateOf(lifecycle: TokenLifecycle, now: number): TokenState {
  if (lifecycle.replaced_by !== null) return 'rotated'
  if (lifecycle.revoked_at !== null) return 'revoked'
  const { issued, expiry } = timesOf(lifecycle)
  return now >= expiry || issued > now + durations.clockSkew ? 'expired' : 'active'
}

/**
 * Applies an event to a token.
 * @param now milliseconds since 1970
 * @returns the new lifecycle, or the same object if nothing changes; undefined if the event is refused: only an active
 * token can be rotated
 */
export function transition<Lifecycle extends TokenLifecycle>(lifecycle: Lifecycle, event: TokenEvent, now: number): Lifecycle | undefined {
  const state = stateOf(lifecycle, now)
  const at = new Date(now).toISOString()
  if (event.type === 'rotate') return state === 'active' ? { ...lifecycle, revoked_at: at, replaced_by: event.successor } : undefined
  // An expired token is revoked too, because the clock of another process may be behind.
  return state === 'active' || state === 'expired' ? { ...lifecycle, revoked_at: at } : lifecycle
}

/**
 * When a token expires, in milliseconds since 1970: at the time in its record, but at most 90 days after it was
 * issued, so that a forged or damaged record cannot extend it. A record with an unreadable time has expired.
 */
export function expiryOf(lifecycle: Pick<TokenLifecycle, 'issued_at' | 'expires_at'>): number {
  return timesOf(lifecycle).expiry
}

interface Times {
  readonly issued: number
  readonly expiry: number
}

/** The times of tokens, by their record. A record in memory is frozen, and a changed token is another record. */
const knownTimes = new WeakMap<object, Times>()

function timesOf(lifecycle: Pick<TokenLifecycle, 'issued_at' | 'expires_at'>): Times {
  const known = knownTimes.get(lifecycle)
  if (known !== undefined) return known
  const issued = Date.parse(lifecycle.issued_at)
  const expiry = Math.min(Date.parse(lifecycle.expires_at), issued + durations.token)
  const times = { issued, expiry: Number.isNaN(expiry) ? 0 : expiry }
  if (Object.isFrozen(lifecycle)) knownTimes.set(lifecycle, times)
  return times
}

/**
 * Whether a user who entered their password at `provedAt` may create or rotate a token with these scopes:
 * `kanban:admin` requires a recent password entry (spec §3).
 * @param provedAt milliseconds since 1970
 * @param now milliseconds since 1970
 */
export function mayIssue(scopes: readonly string[], provedAt: number, now: number): boolean {
  return !scopes.includes('kanban:admin') || (now - provedAt <= durations.reauthentication && provedAt <= now)
}
