import { durations } from '../../model/durations.ts'
import type { TokenRecord } from '../../model/token.ts'

/** The states of a token (spec §3, "Token lifecycle"). Only an active token is accepted. */
export type TokenState = 'active' | 'rotated' | 'revoked' | 'expired'

/** The members of a token's record that determine its state. Times are RFC 3339. */
export type TokenLifecycle = Pick<TokenRecord, 'issued_at' | 'expires_at' | 'revoked_at' | 'replaced_by'>

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
 * future is not active either, see {@link isFromFuture}.
 * @param now milliseconds since 1970
 */
export function stateOf(lifecycle: TokenLifecycle, now: number): TokenState {
  if (lifecycle.replaced_by !== null) return 'rotated'
  if (lifecycle.revoked_at !== null) return 'revoked'
  const { issued, expiry } = timesOf(lifecycle)
  return now >= expiry || issued > now + durations.clockSkew ? 'expired' : 'active'
}

/** Whether a token was issued in the future: a clock has stepped back since, or its record was forged. */
export function isFromFuture(lifecycle: Pick<TokenLifecycle, 'issued_at' | 'expires_at'>, now: number): boolean {
  return timesOf(lifecycle).issued > now + durations.clockSkew
}

/**
 * A token that another one replaces.
 * @param successor the id of the other one
 * @param now milliseconds since 1970
 * @returns undefined if it is refused: only an active token can be rotated
 */
export function rotated<Lifecycle extends TokenLifecycle>(lifecycle: Lifecycle, successor: string, now: number): Lifecycle | undefined {
  if (stateOf(lifecycle, now) !== 'active') return undefined
  return { ...lifecycle, revoked_at: new Date(now).toISOString(), replaced_by: successor }
}

/**
 * A token that is revoked, or whose user leaves the workspace.
 * @param now milliseconds since 1970
 * @returns the same object if it was rotated or revoked before
 */
export function revoked<Lifecycle extends TokenLifecycle>(lifecycle: Lifecycle, now: number): Lifecycle {
  // An expired token is revoked too, because the clock of another process may be behind.
  return lifecycle.revoked_at === null && lifecycle.replaced_by === null
    ? { ...lifecycle, revoked_at: new Date(now).toISOString() }
    : lifecycle
}

/**
 * When a token expires, in milliseconds since 1970: at the time in its record, but at most 90 days after it was
 * issued, so that a forged or damaged record cannot extend it. A record with an unreadable time has expired.
 */
export function expiryOf(lifecycle: Pick<TokenLifecycle, 'issued_at' | 'expires_at'>): number {
  return timesOf(lifecycle).expiry
}

/** The same as a text. */
export function expiryTextOf(lifecycle: Pick<TokenLifecycle, 'issued_at' | 'expires_at'>): string {
  const times = timesOf(lifecycle)
  return (times.text ??= new Date(times.expiry).toISOString())
}

/** The times of a record, in milliseconds since 1970. */
interface Times {
  readonly issued: number
  readonly expiry: number
  /** when it expires; set once it was first needed */
  text: string | undefined
}

/** The times of records that are in memory: to parse them takes longer than all else that is checked of a token. */
const known = new WeakMap<object, Times>()

function timesOf(lifecycle: Pick<TokenLifecycle, 'issued_at' | 'expires_at'>): Times {
  const before = known.get(lifecycle)
  // Stryker disable next-line ConditionalExpression: to parse them again only takes longer
  if (before !== undefined) return before
  const issued = Date.parse(lifecycle.issued_at)
  const expiry = Math.min(Date.parse(lifecycle.expires_at), issued + durations.token)
  const times = { issued, expiry: Number.isNaN(expiry) ? 0 : expiry, text: undefined }
  known.set(lifecycle, times)
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
