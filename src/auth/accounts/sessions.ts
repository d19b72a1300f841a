import type { Session } from '../../model/account.ts'
import type { RandomSource } from '../../model/ids.ts'
import { HOUR, MINUTE, timestamp, type Clock } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { hashOf, newSecret } from './secrets.ts'

/** A session ends after so long without a request, in milliseconds. */
export const IDLE = 30 * MINUTE
/** And after so long whatever comes, in milliseconds. */
export const ABSOLUTE = 12 * HOUR
/** That it was seen is written no more often than this. */
const COARSENESS = MINUTE
/** So many browsers may be signed in at once; the oldest goes. */
const MOST = 20

/** Whether a session is good at a moment. @param now milliseconds since 1970 */
export function isLive({ begun_at, seen_at }: Pick<Session, 'begun_at' | 'seen_at'>, now: number): boolean {
  return now < Date.parse(seen_at) + IDLE && now < Date.parse(begun_at) + ABSOLUTE
}

/**
 * Begins a session of a person who has just given his password. Sessions of his that are over are removed.
 * @returns what the cookie is to hold, which is nowhere afterwards
 */
export async function beginSession(
  tx: Transaction,
  { user_id: userId, email }: Pick<Session, 'user_id' | 'email'>,
  clock: Clock,
  random: RandomSource,
): Promise<{ secret: string; session: Session }> {
  const { values } = await tx.range(indexes.sessionsOf(userId), { limit: 10 * MOST })
  const present = values.filter((session) => session !== undefined)
  const over = present.filter((session) => !isLive(session, clock()))
  const live = present.filter((session) => !over.includes(session))
  for (const { hash } of [...over, ...live.slice(0, Math.max(0, live.length - MOST + 1))]) tx.remove(keys.session(hash))
  const now = timestamp(clock)
  return put(tx, { user_id: userId, email, begun_at: now, seen_at: now, proved_at: now, confirmations: [] }, random)
}

/**
 * Gives a session another secret and form token, because its person has proved again who he is. The old one is
 * worth nothing from then on.
 */
export async function renewSession(
  tx: Transaction,
  session: Session,
  clock: Clock,
  random: RandomSource,
): Promise<{ secret: string; session: Session }> {
  tx.remove(keys.session(session.hash))
  const { user_id, email, begun_at, confirmations } = session
  return put(tx, { user_id, email, begun_at, seen_at: timestamp(clock), proved_at: timestamp(clock), confirmations }, random)
}

/** The session of a cookie, as long as it is good. That it was seen is written down now and then. */
export async function resumeSession(tx: Transaction, secret: string, clock: Clock): Promise<Session | undefined> {
  const session = await tx.get(keys.session(hashOf(secret)))
  if (session === undefined || !isLive(session, clock())) return undefined
  if (clock() - Date.parse(session.seen_at) < COARSENESS) return session
  const seen = { ...session, seen_at: timestamp(clock) }
  tx.put(keys.session(session.hash), seen)
  return seen
}

/** Ends one session, if it is there. */
export async function endSession(tx: Transaction, hash: string): Promise<void> {
  await tx.get(keys.session(hash))
  tx.remove(keys.session(hash))
}

/** Ends all sessions of a person. */
export async function endSessions(tx: Transaction, userId: string): Promise<void> {
  const { values } = await tx.range(indexes.sessionsOf(userId), { limit: 10 * MOST })
  for (const session of values) if (session !== undefined) tx.remove(keys.session(session.hash))
}

async function put(
  tx: Transaction,
  session: Omit<Session, 'hash' | 'form_token'>,
  random: RandomSource,
): Promise<{ secret: string; session: Session }> {
  const secret = newSecret(random)
  const whole: Session = { hash: hashOf(secret), form_token: newSecret(random), ...session }
  await tx.get(keys.session(whole.hash))
  tx.put(keys.session(whole.hash), whole)
  return { secret, session: whole }
}
