import { z } from 'zod'

// Of control characters only tab and line breaks have a place in text, and only in text of several lines.
const CONTROL = /(?![\t\n\r])\p{Cc}/u
const LINE_CONTROL = /\p{Cc}/u

const wellFormed = (text: string) => text.isWellFormed()
const WELL_FORMED = 'must be valid Unicode: a surrogate stands alone'

/** Text of one line, 1 to `max` characters, not blank. White space around it is cut off. */
export function line(max: number) {
  return z
    .string()
    .refine(wellFormed, WELL_FORMED)
    .refine((text) => !LINE_CONTROL.test(text), 'must not contain line breaks or control characters')
    .trim()
    .min(1, 'must not be blank')
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

/** A time, RFC 3339. Any offset is taken; it is kept in UTC with milliseconds. */
export const time = z.iso.datetime({ offset: true }).transform((text, context) => {
  const value = new Date(text)
  if (!Number.isNaN(value.getTime())) return value.toISOString()
  context.addIssue({ code: 'custom', message: 'must be a time that exists' })
  return z.NEVER
})
