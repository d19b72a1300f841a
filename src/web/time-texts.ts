import { DAY, HOUR, MINUTE } from '../model/time.ts'

const UNITS = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
] as const

/** How far a time is from now, in one unit: "in 29 days", "2 hours ago". */
export function distance(at: number, now: number): string {
  const milliseconds = Math.abs(at - now)
  const [length, unit] = UNITS.find(([one]) => milliseconds >= one) ?? []
  if (length === undefined) return at > now ? 'in less than a minute' : 'just now'
  // What remains is rounded up: a token that expires in 29.5 days is valid on the 29th.
  const count = at > now ? Math.ceil(milliseconds / length) : Math.floor(milliseconds / length)
  const text = `${count} ${unit}${count === 1 ? '' : 's'}`
  return at > now ? `in ${text}` : `${text} ago`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A day in a few letters, with its year unless that is this year. @param month from 0 */
export function dayText(year: number, month: number, day: number, thisYear: number): string {
  return `${day} ${MONTHS[month]}${year === thisYear ? '' : ` ${year}`}`
}
