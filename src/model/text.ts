import { z } from 'zod'
import { documented } from './fields.ts'

// Tab and line breaks are the only control characters that are accepted, and only in multi-line text.
const CONTROL = /(?![\t\n\r])\p{Cc}/u
const LINE_CONTROL = /\p{Cc}/u
/** The same as JSON Schema expresses it. */
const PROSE_PATTERN = '^[^\\u0000-\\u0008\\u000B\\u000C\\u000E-\\u001F\\u007F-\\u009F]*$'
const LINE_PATTERN = '^[^\\u0000-\\u001F\\u007F-\\u009F]*$'

const wellFormed = (text: string) => text.isWellFormed()
const WELL_FORMED = 'must be valid Unicode: it contains a lone surrogate'

/** Whether a text has at most `max` characters. Lengths are counted in Unicode code points. */
export function hasAtMost(max: number, text: string): boolean {
  return text.length <= max || [...text].length <= max
}

/** A check that refuses a text with more than `max` characters. */
export function atMost(max: number) {
  return (context: z.core.ParsePayload<string>): void => {
    if (hasAtMost(max, context.value)) return
    context.issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input: context.value })
  }
}

/**
 * One line of text: 1 to `max` characters, trimmed, with at least one visible character.
 * @param description for the documentation
 */
export function line(max: number, description?: string) {
  const schema = z
    .string()
    .refine(wellFormed, WELL_FORMED)
    .refine((text) => !LINE_CONTROL.test(text), 'must not contain line breaks or control characters')
    .trim()
    .refine((text) => /[^\s\p{Cf}]/u.test(text), 'must not be blank')
    .check(atMost(max))
  return documented(schema, { minLength: 1, maxLength: max, pattern: LINE_PATTERN, ...(description !== undefined && { description }) })
}

/**
 * Multi-line text of up to `max` characters.
 * @param description for the documentation
 */
export function prose(max: number, description?: string) {
  const schema = z
    .string()
    .refine(wellFormed, WELL_FORMED)
    .refine((text) => !CONTROL.test(text), 'must not contain control characters other than tab and line breaks')
    .check(atMost(max))
  return documented(schema, { maxLength: max, pattern: PROSE_PATTERN, ...(description !== undefined && { description }) })
}

const TIME = 'must be a time with its offset, as 2026-11-20T12:00:00Z (RFC 3339)'

/** An RFC 3339 time with any offset; the result is in UTC with milliseconds. */
export const time = z.iso
  .datetime({ offset: true, error: TIME })
  .max(64, TIME)
  .transform((text, context) => {
    const value = new Date(text)
    // In UTC the year may be -1 or 10000, which RFC 3339 cannot express.
    const inUtc = Number.isNaN(value.getTime()) ? '' : value.toISOString()
    if (/^\d{4}-/.test(inUtc)) return inUtc
    context.addIssue({ code: 'custom', message: TIME })
    return z.NEVER
  })
