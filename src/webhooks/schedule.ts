import type { RandomSource } from '../model/ids.ts'
import { DAY, MINUTE } from '../model/time.ts'

const SECOND = 1000

/** Milliseconds before each next attempt of a failed delivery; the last delay is repeated (src/http/webhooks.md, "Failures"). */
const DELAYS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE]
/** The fraction by which a delay is shorter or longer, at random. */
const SPREAD = 0.2
/** How long a webhook may fail before it is disabled. */
export const MAX_FAILING = 3 * DAY

/**
 * The time before the next attempt, in milliseconds.
 * @param failures in a row, at least 1
 * @param retryAfter what the receiver has asked for, in seconds: it is not tried earlier, and never at once without end
 */
export function delayAfter(failures: number, random: RandomSource, retryAfter?: number): number {
  const delay = DELAYS[Math.min(failures, DELAYS.length) - 1]!
  const part = random(1)[0]! / 255
  const asked = Math.min((retryAfter ?? 0) * SECOND, DAY)
  return Math.max(Math.round(delay * (1 - SPREAD + 2 * SPREAD * part)), asked)
}
