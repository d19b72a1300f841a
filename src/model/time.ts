/** Returns the milliseconds since 1970-01-01T00:00Z. Injected, so that a test can set the time. */
export type Clock = () => number

// Durations in milliseconds.
export const MINUTE = 60 * 1000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The system clock. */
export const systemClock: Clock = () => Date.now()

/** The last text of {@link timestamp}. A request that writes needs several of the same millisecond, and each would take 2 µs. */
let last = { milliseconds: 0, text: new Date(0).toISOString() }

/** The current time in RFC 3339, in UTC with milliseconds. All timestamps have the same length, so they compare as text. */
export function timestamp(clock: Clock): string {
  const milliseconds = clock()
  if (milliseconds !== last.milliseconds) last = { milliseconds, text: new Date(milliseconds).toISOString() }
  return last.text
}
