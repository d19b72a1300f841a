import type { z } from 'zod'
import type { Operation } from '../resources/operation.ts'
import { membersOf as parametersOf, wordsOf } from './body-members.ts'

/**
 * The names that `?fields=` can select: the top-level members of a GET's result, or of the items of its list. Empty for what
 * returns no such members.
 */
export function selectableFields({ method, data }: Pick<Operation, 'method' | 'data'>): ReadonlySet<string> {
  return new Set(method === 'GET' ? membersOf(data) : [])
}

/** characters of a name that an error repeats */
const LONGEST = 50

function membersOf(schema: z.ZodType): readonly string[] {
  const def = schema.def as z.core.$ZodTypeDef & {
    element?: z.ZodType
    innerType?: z.ZodType
    shape?: object
    options?: readonly z.ZodType[]
  }
  const inner = def.element ?? def.innerType
  if (inner !== undefined) return membersOf(inner)
  if (def.options !== undefined) return def.options.flatMap(membersOf)
  return Object.keys(def.shape ?? {})
}

/** What is wrong with fields that are there only if `include` asks for them, which it does not; undefined: nothing. */
export function withoutInclude(
  { query }: Pick<Operation, 'query'>,
  fields: ReadonlySet<string>,
  include: ReadonlySet<string> | undefined,
): string | undefined {
  const words = wordsOf(parametersOf(query)['include'])
  const missing = words.find((word) => fields.has(word) && include?.has(word) !== true)
  return missing && `names "${missing}", which is only there with include=${missing}`
}

/**
 * Reads the value of `?fields=`.
 * @returns the fields, with `id` if there is one; or what is wrong with the value
 */
export function readFields(text: string, selectable: ReadonlySet<string>): ReadonlySet<string> | string {
  const fields = new Set(text.split(',').map((name) => name.trim()))
  const unknown = [...fields].find((name) => !selectable.has(name))
  if (unknown !== undefined) return `names "${unknown.slice(0, LONGEST)}", which is not one of ${[...selectable].join(', ')}`
  return selectable.has('id') ? fields.add('id') : fields
}

/** Returns only these members of a resource, or of each item of a list, in their order; all of them without fields. */
export function selectFields(data: unknown, fields: ReadonlySet<string> | undefined): unknown {
  if (fields === undefined) return data
  return Array.isArray(data) ? data.map((item) => select(item as object, fields)) : select(data as object | null, fields)
}

function select(item: object | null, fields: ReadonlySet<string>): object | null {
  if (item === null) return null
  return Object.fromEntries(Object.entries(item).filter(([name]) => fields.has(name)))
}
