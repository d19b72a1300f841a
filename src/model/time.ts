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

const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY }

/**
 * Reads how long something lasts: a whole number and a unit (minutes, hours, days or weeks), such as `90m` or `7d`. A day has 24 hours.
 * @returns milliseconds; undefined if the text is no such time
 */
export function readDuration(text: string): number | undefined {
  const [, count, unit] = /^\s*(\d{1,7})\s*([mhdw])\s*$/i.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * UNITS[unit!.toLowerCase()]!
}

/** What a relative time looks like, for messages and help texts. */
export const RELATIVE_TIMES = '-7d, -12h, +2w, -30m or now'

/**
 * Reads a time that is relative to the present one: `now`, or a sign, a number and a unit (minutes, hours, days or weeks).
 * A day has 24 hours.
 * @param now milliseconds since 1970, as the result
 * @returns undefined if the text is no relative time
 */
export function readRelativeTime(text: string, now: number): number | undefined {
  if (text === 'now') return now
  const [, sign, count, unit] = /^([+-])(\d{1,5})([mhdw])$/.exec(text) ?? []
  return count === undefined ? undefined : now + (sign === '-' ? -1 : 1) * Number(count) * UNITS[unit!]!
}
