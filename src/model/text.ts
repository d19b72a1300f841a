import { z } from 'zod'

// Of control characters only tab and line breaks have a place in text, and only in text of several lines.
const CONTROL = /(?![\t\n\r])\p{Cc}/u
const LINE_CONTROL = /\p{Cc}/u

const wellFormed = (text: string) => text.isWellFormed()
const WELL_FORMED = 'must be valid Unicode: a surrogate stands alone'

/** Text of one line, 1 to `max` characters, with something in it that can be seen. White space around it is cut off. */
export function line(max: number) {
  return z
    .string()
    .refine(wellFormed, WELL_FORMED)
    .refine((text) => !LINE_CONTROL.test(text), 'must not contain line breaks or control characters')
    .trim()
    .refine((text) => /[^\s\p{Cf}]/u.test(text), 'must not be blank')
    .max(max)
}

/** Text of any number of lines, up to `max` characters. */
export function prose(max: number) {
  return z
    .string()
    .refine(wellFormed, WELL_FORMED)
    .refine((text) => !CONTROL.test(text), 'must not contain control characters other than tab and line breaks')
    .max(max)
}

const TIME = 'must be a time with its offset, as 2026-11-20T12:00:00Z (RFC 3339)'

/** A time, RFC 3339. Any offset is taken; it is kept in UTC with milliseconds. */
export const time = z.iso.datetime({ offset: true, error: TIME }).transform((text, context) => {
  const value = new Date(text)
  // In UTC it may be in the year -1 or 10000, which RFC 3339 cannot say.
  const inUtc = Number.isNaN(value.getTime()) ? '' : value.toISOString()
  if (/^\d{4}-/.test(inUtc)) return inUtc
  context.addIssue({ code: 'custom', message: TIME })
  return z.NEVER
})
