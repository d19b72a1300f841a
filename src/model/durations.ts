import { DAY, HOUR, MINUTE } from './time.ts'

/** All lifetimes of the service, in milliseconds. */
export const durations = {
  /** the maximum lifetime of a token (spec §8) */
  token: 90 * DAY,
  /** the difference between the clocks of two processes that is tolerated */
  clockSkew: 5 * MINUTE,
  /** so long before its end, a token ends soon: its person gets a notice, and every response to it says so */
  tokenEndsSoon: 14 * DAY,
  /** how long a password entry counts as recent for `kanban:admin` (spec §3, §5 "Credential" 7) */
  reauthentication: 10 * MINUTE,
  /** a session of the web app that nobody uses, the default of a setting */
  sessionIdle: 7 * DAY,
  /** a session of the web app in any case, the default of a setting */
  session: 30 * DAY,
  /** a challenge to a passkey or to a second factor, and a second factor that waits for its first code */
  challenge: 5 * MINUTE,
  /** a sign-up link */
  signUpLink: 7 * DAY,
  /** the bytes of an unfinished upload */
  unfinishedUpload: HOUR,
  /** a file without attachments, which can be attached again until then */
  unattachedFile: DAY,
  /** the first response to a write with an Idempotency-Key */
  firstResponse: DAY,
  /** the changes of a board, the default of a setting */
  changes: 7 * DAY,
  /** a notice */
  notices: 90 * DAY,
  /** the audit trail, the default of a setting */
  audit: 90 * DAY,
  /** between two looks for what time has caused: where something was done, and elsewhere */
  reminders: { period: 30_000, idle: HOUR },
  /** between two garbage collections in all workspaces */
  garbageCollection: HOUR,
} as const

/** How long a session of the web app lasts, in milliseconds: without use, and in any case. */
export interface SessionLifetimes {
  readonly idle: number
  readonly max: number
}

/**
 * Whether something that is valid for a time is so now. If it would have been made in the future, a clock has stepped back since, or its
 * record is forged: it is refused until the clock is right, because otherwise it would be valid for as long as the step was.
 * @param until when it ends: RFC 3339
 * @param lifetime how long it is valid at most, in milliseconds
 * @param now milliseconds since 1970
 */
export function isCurrent(until: string, lifetime: number, now: number): boolean {
  const end = Date.parse(until)
  return now < end && end - lifetime <= now + durations.clockSkew
}
