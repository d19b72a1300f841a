import type { Session } from '../../model/account.ts'
import { durations, type SessionLifetimes } from '../../model/durations.ts'
import { newId } from '../../model/ids.ts'
import { MINUTE, timestamp } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Deps } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'
import { newSecret, sha256Hex } from '../secrets.ts'
import { newFormToken } from './form-token.ts'

/** Minimum time between two writes of `seen_at`, in milliseconds. */
const WRITE_INTERVAL = MINUTE
/** Maximum number of sessions per person. When it is exceeded, the oldest session ends. */
const MAX_SESSIONS = 20

/** How long sessions last. */
export function lifetimesOf({ sessions }: Pick<Deps, 'sessions'>): SessionLifetimes {
  return sessions ?? { idle: durations.sessionIdle, max: durations.session }
}

/** What decides whether a session is valid now. */
interface SessionDeps extends Pick<Deps, 'clock' | 'sessions'> {
  /** whether people have passwords here (LANEKEEPER_PASSWORDS): without, a session that began with one ends; default: true */
  readonly hasPasswords?: boolean
}

/** A session with the value of its cookie. Only the hash of that value is stored. */
export interface NewSession {
  readonly secret: string
  readonly session: Session
}

/**
 * Whether a session is valid at a time. One that has begun in the future is not, as with tokens: a clock has stepped back since.
 */
function isLive({ begun_at, seen_at }: Pick<Session, 'begun_at' | 'seen_at'>, deps: SessionDeps): boolean {
  const { idle, max } = lifetimesOf(deps)
  const [now, seen, begun] = [deps.clock(), Date.parse(seen_at), Date.parse(begun_at)]
  const isOver = now >= seen + idle || now >= begun + max
  return !isOver && seen <= now + durations.clockSkew
}

/** Whether the way in that began a session is closed now: with passwords off, this covers passwords, passkeys and codes. */
function isClosed({ way }: Pick<Session, 'way'>, { hasPasswords = true }: SessionDeps): boolean {
  return !hasPasswords && way !== 'provider'
}

/** Begins a session for a person who has just proved their identity, and removes their sessions that have ended. */
export async function beginSession(
  tx: Transaction,
  members: Pick<Session, 'user_id' | 'email' | 'agent' | 'address' | 'way'> & Partial<Pick<Session, 'proved_at'>>,
  deps: Deps,
): Promise<NewSession> {
  const { clock, random } = deps
  const sessions = await sessionsOf(tx, members.user_id)
  const ended = sessions.filter((session) => !isLive(session, deps))
  const live = sessions.filter((session) => !ended.includes(session))
  const excess = live.slice(0, Math.max(0, live.length - MAX_SESSIONS + 1))
  for (const { hash } of [...ended, ...excess]) tx.remove(keys.session(hash))
  const now = timestamp(clock)
  const times = { begun_at: now, seen_at: now, proved_at: now }
  return createSession(tx, { ...times, ...members, confirmations: [], id: newId('session', random) }, random)
}

/**
 * Gives a session a new secret and form token after its person has entered their password again. The old cookie is
 * no longer accepted. The session must have been read in this transaction.
 */
export async function renewSession(tx: Transaction, session: Session, { clock, random }: Deps, provedAt?: number): Promise<NewSession> {
  tx.remove(keys.session(session.hash))
  const { hash: _hash, form_token: _formToken, ...members } = session
  const now = timestamp(clock)
  return createSession(tx, { ...members, seen_at: now, proved_at: provedAt === undefined ? now : timestamp(() => provedAt) }, random)
}

/** Returns the session of a cookie if it is valid. At most once a minute it also writes that the session was used. */
export function resumeSession(tx: Transaction, secret: string, deps: SessionDeps): Promise<Session | undefined> {
  return useSession(tx, sha256Hex(secret), deps)
}

/**
 * Returns a session if it is valid. A page that is open before its person uses it: that is written too, at most once a minute.
 * @param hash of its cookie
 */
export async function useSession(tx: Transaction, hash: string, deps: SessionDeps): Promise<Session | undefined> {
  const { clock } = deps
  const session = await tx.get(keys.session(hash))
  if (session === undefined || !isLive(session, deps)) return undefined
  if (isClosed(session, deps)) return void tx.remove(keys.session(session.hash))
  if (clock() - Date.parse(session.seen_at) < WRITE_INTERVAL) return session
  const updated = { ...session, seen_at: timestamp(clock) }
  tx.put(keys.session(session.hash), updated)
  return updated
}

/** Ends one session, if it exists. */
export async function endSession(tx: Transaction, hash: string): Promise<void> {
  await tx.get(keys.session(hash))
  tx.remove(keys.session(hash))
}

/**
 * Ends sessions of a person.
 * @param isMeant default: all of them
 * @returns how many have ended
 */
export async function endSessions(tx: Transaction, userId: string, isMeant: (session: Session) => boolean = () => true): Promise<number> {
  const meant = (await sessionsOf(tx, userId)).filter(isMeant)
  for (const { hash } of meant) tx.remove(keys.session(hash))
  return meant.length
}

/** The valid sessions of a person, newest first. */
export async function liveSessionsOf(tx: Transaction, userId: string, deps: SessionDeps): Promise<Session[]> {
  const isValid = (session: Session) => isLive(session, deps) && !isClosed(session, deps)
  return (await sessionsOf(tx, userId)).filter(isValid).toReversed()
}

/** The stored sessions of a person, oldest first, including those that have ended. */
async function sessionsOf(tx: Transaction, userId: string): Promise<Session[]> {
  const { values } = await tx.all(indexes.sessionsOf(userId))
  // Stryker disable next-line MethodExpression,ConditionalExpression: each entry of this index has a record, which the type does not say
  return values.filter((session) => session !== undefined)
}

async function createSession(tx: Transaction, members: Omit<Session, 'hash' | 'form_token'>, random: Deps['random']): Promise<NewSession> {
  const secret = newSecret(random)
  const session: Session = { hash: sha256Hex(secret), form_token: newFormToken(members.user_id, random), ...members }
  tx.create(keys.session(session.hash), session)
  return { secret, session }
}
