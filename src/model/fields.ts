import { z } from 'zod'
import { anyIdPattern, idPattern, isAnyId, isId, type IdKind } from './ids.ts'

// The schemas of members that many records have; a resource's schemas include their documentation. Nothing is validated when a
// request reads a record: what is stored was validated when it was written. An import, a restore and a check of the storage validate it.

/** Adds to the documentation of a schema. Unlike `.meta()`, it makes no copy, which would delay the start. */
export function documented<Schema extends z.ZodType>(schema: Schema, meta: z.core.GlobalMeta): Schema {
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), ...meta })
  return schema
}

/** The id of something. */
export function idOf(kind: IdKind): z.ZodString {
  return z.string().refine((text) => isId(kind, text), `must be the id of a ${kind}`)
}

/** The id of something of any kind. */
export function idOfAnything(): z.ZodString {
  return z.string().refine(isAnyId, 'must be an id')
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
/** A time in UTC with milliseconds. All have the same length, because indexes order them as text. */
export const timestamp = utcTime()
function utcTime(): z.ZodString {
  return z.string().refine((text) => TIME.test(text) && !Number.isNaN(Date.parse(text)), 'must be a time as 2026-11-20T12:00:00.000Z')
}

/** The hour of a time. */
export const hour = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}$/, 'must be an hour as 2026-11-20T12')
/** A SHA-256 in hex. */
export const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
/** A secret that the service must read again: it is sealed with the key whose id it has. Below the head are nonce, text and tag. */
export const SEALED = /^sealed1\.([0-9a-f]{8})\.([\w-]{38,4096})$/
/** The id of a key that secrets are sealed with. */
export const keyId = z.string().regex(/^[0-9a-f]{8}$/, 'must be the id of a key')
/** A number of things. */
export const amount = z.int().min(0)
/** A text of any form. */
export const shortText = z.string().max(200)
/** The times of a record that the API does not show. */
export const hiddenTimes = { created_at: timestamp, updated_at: timestamp }

/** The id of something that a resource has. */
export function idField(kind: IdKind, description: string): z.ZodString {
  return documented(idOf(kind), { description, ...idMeta(kind) })
}

/** The id of something in a request: a malformed one is answered like an absent one. */
export function givenIdField(kind: IdKind, description: string): z.ZodString {
  return documented(z.string(), { description, ...idMeta(kind) })
}

function idMeta(kind: IdKind) {
  return { pattern: idPattern(kind), minLength: 24, maxLength: 24 }
}

/** Stands for the caller's own id wherever a request takes the id of a user (src/http/README.md, "Filters and reports"). */
export const OWN_ID = 'me'

/** The shape of the id of a user in a request. */
export const userIdPattern = `^(?:${OWN_ID}|${idPattern('user').slice(1, -1)})$`

/** The id of a user in a request: {@link OWN_ID} was replaced before it is validated. A malformed one is answered like an absent one. */
export function userIdField(description: string): z.ZodString {
  return documented(z.string(), {
    description: `${description} \`me\` is the user of the token.`,
    pattern: userIdPattern,
    minLength: 2,
    maxLength: 24,
  })
}

/** The id of something of any kind. */
export function anyIdField(description: string): z.ZodString {
  return documented(idOfAnything(), { description, ...anyIdMeta })
}

/** The id of another item of a list, in a request. */
export function neighborField(description: string): z.ZodString {
  return documented(z.string(), { description, ...anyIdMeta })
}

const anyIdMeta = { pattern: anyIdPattern, minLength: 24, maxLength: 24 }

/** A time in UTC with milliseconds. */
export function timeField(description: string): z.ZodString {
  return documented(utcTime(), { description, format: 'date-time', maxLength: 24 })
}

/** A text of up to `maxLength` characters. */
export function textField(description: string, maxLength: number): z.ZodString {
  return documented(z.string(), { description, maxLength })
}

/** The color of a board or a label. */
export function colorField(description: string): z.ZodString {
  return documented(z.string().regex(/^#[0-9a-f]{6}$/, 'must be a color: "#rrggbb"'), { description, minLength: 7, maxLength: 7 })
}

/** A position in an ordered list. */
export function position(): z.ZodString {
  return z
    .string()
    .regex(/^[0-9A-Za-z]+$/, 'must be a position')
    .max(40)
}

/** The position of an item in an ordered list. */
export function positionField(items: string): z.ZodString {
  const description = `The place among the ${items}. To sort them, compare their positions as text, by code unit.`
  return documented(position(), { description, minLength: 1 })
}

/** The address of the picture of a user. */
export function avatarField(): z.ZodString {
  return documented(z.string(), {
    description: 'The address of a picture of the user, an https URL; null if they have none.',
    format: 'uri',
    maxLength: 2000,
  })
}

/** A number from 0 to `maximum`. */
export function countField(description: string, maximum: number): z.ZodNumber {
  return documented(z.int().min(0), { description, format: 'int64', minimum: 0, maximum })
}

/** The times that each resource has. */
export const resourceTimes = {
  created_at: timeField('When it was created.'),
  updated_at: timeField('When it was last changed.'),
}

/** Refuses a list that has something twice, with an issue at each repetition. */
export function refuseRepetitions(list: readonly unknown[], context: z.RefinementCtx): void {
  for (const [i, one] of list.entries())
    if (list.indexOf(one) < i) context.addIssue({ code: 'custom', path: [i], message: 'is in the list already' })
}
