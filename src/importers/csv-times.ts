import { readTime } from './input.ts'

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
/** A date, and perhaps a time of day with or without an offset, as ISO 8601 and spreadsheets write them. */
const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s?(Z|UTC|[+-]\d{2}:?\d{2})?)?$/i
/** `20.11.2026 12:00`: only the order of day, month and year is written with points. */
const POINTS = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,? (\d{1,2}:\d{2}(?::\d{2})?))?$/
/** `20/Nov/26 3:04 PM`: Jira. */
const JIRA = /^(\d{1,2})\/([A-Z]{3})[a-z]*\/(\d{2}|\d{4})(?: (\d{1,2}):(\d{2})(?::\d{2})?(?: ?(AM|PM))?)?$/i
/** `Fri Nov 20 2026 12:00:00 GMT+0000 (GMT)`: Linear. */
const SPELLED = /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d{2} \d{4} \d{2}:\d{2}:\d{2} GMT[+-]\d{4}/

/**
 * Reads a time of a cell. One without an offset is in UTC, and a date is its midnight.
 * @returns undefined if it is no time, or one whose day and month cannot be told apart, such as 3/4/2026
 */
export function readCellTime(text: string): string | undefined {
  const iso = ISO.exec(text)
  if (iso !== null) {
    const [, date, time = '00:00', offset = 'Z'] = iso
    return timeOf(date!, time, /^(?:utc|z)$/i.test(offset) ? 'Z' : offset.replace(/^(...)(\d\d)$/, '$1:$2'))
  }
  const points = POINTS.exec(text)
  if (points !== null) {
    const [, day, month, year, time = '00:00'] = points
    return timeOf(`${year}-${two(month!)}-${two(day!)}`, time, 'Z')
  }
  const jira = JIRA.exec(text)
  if (jira !== null) {
    const [, day, name, year, hour = '0', minute = '00', half = ''] = jira
    const month = MONTHS.indexOf(name!.toLowerCase()) + 1
    const hours = half === '' ? Number(hour) : (Number(hour) % 12) + (half.toUpperCase() === 'PM' ? 12 : 0)
    return timeOf(`${year!.length === 2 ? `20${year}` : year}-${two(`${month}`)}-${two(day!)}`, `${hours}:${minute}`, 'Z')
  }
  return SPELLED.test(text) ? readTime(text.replace(/ \(.*$/, '')) : undefined
}

/** A day that does not exist, such as 31 February, is no time. */
function timeOf(date: string, time: string, offset: string): string | undefined {
  const midnight = readTime(`${date}T00:00:00Z`)
  if (midnight === undefined || !midnight.startsWith(date)) return undefined
  return readTime(`${date}T${time.replace(/^(\d):/, '0$1:')}${offset}`)
}

function two(digits: string): string {
  return digits.padStart(2, '0')
}
