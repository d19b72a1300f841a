import { z } from 'zod'
import { anyIdPattern, idPattern, type IdKind } from './ids.ts'

// The schemas of members that many resources have, with what the documentation says of them. Their patterns and lengths describe
// what the service answers. They are not checked when a record is read: what is stored was validated when it was written.

/** Adds to what the documentation says of a schema. Unlike `.meta()`, it makes no copy, which would delay the start. */
export function documented<Schema extends z.ZodType>(schema: Schema, meta: z.core.GlobalMeta): Schema {
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), ...meta })
  return schema
}

/** The id of something. In a request, a malformed one is answered like an absent one. */
export function idField(kind: IdKind, description: string): z.ZodString {
  return documented(z.string(), { description, pattern: idPattern(kind), minLength: 24, maxLength: 24 })
}

/** Stands for the caller's own id wherever a request takes the id of a user (api: Contract 3, number 1). */
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

/** The id of another item of a list. */
export function neighborField(description: string): z.ZodString {
  return documented(z.string(), { description, pattern: anyIdPattern, minLength: 24, maxLength: 24 })
}

/** A time in UTC with milliseconds. */
export function timeField(description: string): z.ZodString {
  return documented(z.string(), { description, format: 'date-time', maxLength: 24 })
}

/** A text of up to `maxLength` characters. */
export function textField(description: string, maxLength: number): z.ZodString {
  return documented(z.string(), { description, maxLength })
}

/** The color of a board or a label. */
export function colorField(description: string): z.ZodString {
  return documented(z.string(), { description, pattern: '^#[0-9a-f]{6}$', minLength: 7, maxLength: 7 })
}

/** The position of an item in an ordered list. */
export function positionField(items: string): z.ZodString {
  const description = `The place among the ${items}. To sort them, compare their positions as text, by code unit.`
  return documented(z.string(), { description, pattern: '^[0-9A-Za-z]+$', minLength: 1, maxLength: 40 })
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
  return documented(z.number().int(), { description, format: 'int64', minimum: 0, maximum })
}

/** The times that each resource has. */
export const resourceTimes = {
  created_at: timeField('When it was created.'),
  updated_at: timeField('When it was last changed.'),
}
