import { DAY, HOUR, MINUTE } from '../model/time.ts'

const UNITS = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
] as const

const relative = new Intl.RelativeTimeFormat('en')

/** How far a time is from now, in one unit: "in 29 days", "2 hours ago". */
export function distance(at: number, now: number): string {
  const [length, unit] = UNITS.find(([one]) => Math.abs(at - now) >= one) ?? []
  if (length === undefined) return at > now ? 'in less than a minute' : 'just now'
  // What remains is rounded up: a token that expires in 29.5 days is valid on the 29th.
  return relative.format(Math.ceil((at - now) / length), unit!)
}

/** How long something lasts, in the largest unit that needs no fraction: "30 minutes", "7 days". */
export function lengthText(milliseconds: number): string {
  const [length, unit] = UNITS.find(([one]) => milliseconds % one === 0) ?? [MINUTE, 'minute']
  const count = Math.round(milliseconds / length)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

const SHORT: Readonly<Record<(typeof UNITS)[number][1], string>> = { day: 'd', hour: 'h', minute: 'min' }

/** How long until a time, in a few letters, for a clock: "12 min", "3 h". It is rounded up, as {@link distance}. */
export function remaining(at: number, now: number): string {
  const [length, unit] = UNITS.find(([one]) => at - now >= one) ?? []
  return length === undefined ? '< 1 min' : `${Math.ceil((at - now) / length)} ${SHORT[unit!]}`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/**
 * A day in a few letters, with its year unless that is this year.
 * @param month from 0
 */
export function dayText(year: number, month: number, day: number, thisYear: number): string {
  return `${day} ${MONTHS[month]}${year === thisYear ? '' : ` ${year}`}`
}
