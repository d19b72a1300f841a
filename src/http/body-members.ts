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
  return isDescribed(schema, ({ pattern }) => typeof pattern === 'string' && pattern.startsWith(`^(?:${OWN_ID}|`))
}

/** Whether a parameter of a query is a list. */
export function isListParameter(schema: z.ZodType): boolean {
  return isDescribed(schema, ({ parameter }) => (parameter as { readonly type?: string } | undefined)?.type === 'array')
}

/** The words that a parameter of a query can list. */
export function wordsOf(schema: z.ZodType | undefined): readonly string[] {
  if (schema === undefined) return []
  const { parameter } = z.globalRegistry.get(schema) ?? {}
  const words = (parameter as { readonly items?: { readonly enum?: readonly string[] } } | undefined)?.items?.enum
  return words ?? wordsOf(definitionOf(schema).innerType)
}

/** Whether a member is a list. */
export function isListMember(schema: z.ZodType): boolean {
  const { type, innerType } = definitionOf(schema)
  return type === 'array' || (innerType !== undefined && isListMember(innerType))
}

/** Whether the documentation says something of a schema, or of what it consists of. */
function isDescribed(schema: z.ZodType, says: (meta: z.core.GlobalMeta) => boolean): boolean {
  const { innerType, element } = definitionOf(schema)
  const inner = innerType ?? element
  return says(z.globalRegistry.get(schema) ?? {}) || (inner !== undefined && isDescribed(inner, says))
}
