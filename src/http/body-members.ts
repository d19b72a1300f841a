import { z } from 'zod'
import { OWN_ID, userIdPattern } from '../model/fields.ts'
import { anyIdPattern, idPattern, idPrefixes, type IdKind } from '../model/ids.ts'
import type { Operation } from '../resources/operation.ts'

const idPatterns = new Set([anyIdPattern, userIdPattern, ...(Object.keys(idPrefixes) as IdKind[]).map(idPattern)])

/** What the definition of a schema has that others are inside of. */
interface Definition {
  readonly type: string
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly innerType?: z.ZodType
  readonly element?: z.ZodType
  readonly in?: z.ZodType
}

const definitionOf = (schema: z.ZodType): Definition => schema.def as unknown as Definition

/** The members of an object, also if it is converted after its validation. */
export function membersOf(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> {
  if (schema === undefined) return {}
  const { shape, in: input } = definitionOf(schema)
  return shape ?? membersOf(input)
}

/** The members of the body of an operation. */
export function shapeOf({ body }: Operation): Readonly<Record<string, z.ZodType>> {
  return membersOf(body)
}

/** Whether a member is an id, or a list of ids. */
export function isIdMember(schema: z.ZodType): boolean {
  return isDescribed(schema, ({ pattern }) => typeof pattern === 'string' && idPatterns.has(pattern))
}

/** Whether a member or a parameter is the id of a user, or a list of those: it then takes {@link OWN_ID}. */
export function isUserMember(schema: z.ZodType): boolean {
  const isUser = (pattern: unknown) => typeof pattern === 'string' && pattern.startsWith(`^(?:${OWN_ID}|`)
  return isDescribed(schema, ({ pattern, parameter }) => isUser(pattern) || isUser((parameter as Listing | undefined)?.items?.pattern))
}

/** Whether a parameter of a query is a list. */
export function isListParameter(schema: z.ZodType): boolean {
  return isDescribed(schema, ({ parameter }) => (parameter as Listing | undefined)?.type === 'array')
}

/** What the documentation says of a parameter that is a list. */
interface Listing {
  readonly type?: string
  readonly items?: { readonly enum?: readonly string[]; readonly pattern?: string }
}

/** The words that a parameter of a query can list. */
export function wordsOf(schema: z.ZodType | undefined): readonly string[] {
  if (schema === undefined) return []
  const { parameter } = z.globalRegistry.get(schema) ?? {}
  const words = (parameter as Listing | undefined)?.items?.enum
  return words ?? wordsOf(definitionOf(schema).innerType)
}

/** Whether a member is a list. */
export function isListMember(schema: z.ZodType): boolean {
  const { type, innerType } = definitionOf(schema)
  return type === 'array' || (innerType !== undefined && isListMember(innerType))
}

/** Whether a schema, or any part of it, has documentation. */
function isDescribed(schema: z.ZodType, says: (meta: z.core.GlobalMeta) => boolean): boolean {
  const { innerType, element } = definitionOf(schema)
  const inner = innerType ?? element
  return says(z.globalRegistry.get(schema) ?? {}) || (inner !== undefined && isDescribed(inner, says))
}

// `me` becomes the id of the caller before a request is validated. Whatever follows is as if the id had been written: facts, errors,
// records, and what an Idempotency-Key is compared with (src/http/README.md, "Filters and reports").

/** The parameter of a path that is the id of a user. */
const USER = 'user_id'

/** The parameters of a path. */
export function withOwnParameter(params: Readonly<Record<string, string>>, userId: string): Readonly<Record<string, string>> {
  return params[USER] === OWN_ID ? { ...params, [USER]: userId } : params
}

/**
 * The path of a request.
 * @param template the path of its operation, with parameters
 */
export function withOwnPath(template: string, path: string, userId: string): string {
  if (!template.includes(`{${USER}}`)) return path
  const names = template.split('/')
  const parts = path.split('/').map((part, i) => (names[i] === `{${USER}}` && part === OWN_ID ? userId : part))
  return parts.join('/')
}

/**
 * The members of a query or a body that is not validated yet.
 * @param schema undefined: nothing is accepted
 */
export function withOwnMembers(schema: z.ZodType | undefined, value: unknown, userId: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const given = userMembersOf(schema).filter((name) => Object.hasOwn(value, name))
  if (given.length === 0) return value
  return { ...value, ...Object.fromEntries(given.map((name) => [name, withOwnId((value as Record<string, unknown>)[name], userId)])) }
}

const userMembers = new WeakMap<z.ZodType, readonly string[]>()

/** The members that are ids of users. The documentation of a schema says so, which is slow to read. */
function userMembersOf(schema: z.ZodType | undefined): readonly string[] {
  if (schema === undefined) return []
  let names = userMembers.get(schema)
  if (names === undefined) {
    const members = Object.entries(membersOf(schema)).filter(([, member]) => isUserMember(member))
    userMembers.set(schema, (names = members.map(([name]) => name)))
  }
  return names
}

const OWN_LISTED = new RegExp(`(?<=^|,)${OWN_ID}(?=,|$)`, 'g')

/** An id, or a list of ids; in a query, with commas between them. */
export function withOwnId(value: unknown, userId: string): unknown {
  if (typeof value === 'string' && value.includes(',')) return value.replaceAll(OWN_LISTED, userId)
  if (Array.isArray(value)) return value.map((item: unknown) => (item === OWN_ID ? userId : item))
  return value === OWN_ID ? userId : value
}
