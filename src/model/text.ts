import { z } from 'zod'
import { documented } from './fields.ts'

// Tab and line breaks are the only control characters that are accepted, and only in multi-line text.
const CONTROL = /(?![\t\n\r])\p{Cc}/u
const LINE_CONTROL = /\p{Cc}/u
/** The same as JSON Schema expresses it. */
const PROSE_PATTERN = '^[^\\u0000-\\u0008\\u000B\\u000C\\u000E-\\u001F\\u007F-\\u009F]*$'
/**
 * Characters that have no form of their own and hide in a name, or reverse what is shown after them: two names would look the same, or one
 * like another text. The joiners U+200C and U+200D are not among them, because emoji and scripts need them.
 */
const INVISIBLE = /[\u200b\u202a-\u202e\u2066-\u2069\ufeff]/u
const INVISIBLE_REFUSED = 'must not contain invisible characters, such as U+200B, U+202E or U+FEFF'
const NAME_PATTERN = '^[^\\u0000-\\u001F\\u007F-\\u009F\\u200B\\u202A-\\u202E\\u2066-\\u2069\\uFEFF]*$'
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
  return lineOf(z.string(), max, LINE_PATTERN, description)
}

/**
 * A name: as {@link line}, without invisible characters. It is for new names: stored names may have some.
 * @param description for the documentation
 */
export function nameLine(max: number, description?: string) {
  const visible = z.string().refine((text) => !INVISIBLE.test(text), { error: INVISIBLE_REFUSED, abort: true })
  return lineOf(visible, max, NAME_PATTERN, description)
}

function lineOf(text: z.ZodString, max: number, pattern: string, description: string | undefined) {
  const schema = text
    .refine(wellFormed, WELL_FORMED)
    .refine((text) => !LINE_CONTROL.test(text), 'must not contain line breaks or control characters')
    .trim()
    .refine((text) => /[^\s\p{Cf}]/u.test(text), 'must not be blank')
    .check(atMost(max))
  return documented(schema, { minLength: 1, maxLength: max, pattern, ...(description !== undefined && { description }) })
}

/** A text without the characters that a {@link nameLine} must not have. */
export function withoutInvisible(text: string): string {
  return text.replaceAll(new RegExp(INVISIBLE, 'gu'), '')
}

/** The beginning of a text on one line: `max` characters at most, the last one an ellipsis if there are more. */
export function beginningOf(text: string, max: number): string {
  const one = text.replaceAll(/\s+/g, ' ').trim()
  if (hasAtMost(max, one)) return one
  // No character has more than two code units.
  return `${Array.from(one.slice(0, 2 * max))
    .slice(0, max - 1)
    .join('')}…`
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
