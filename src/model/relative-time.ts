import { DAY, HOUR, MINUTE } from './time.ts'

const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY }

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
