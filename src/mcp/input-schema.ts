import { selectableFields } from '../http/fields.ts'
import { convertOne } from '../http/openapi/schemas.ts'
import type { JsonSchema } from '../http/openapi/types.ts'
import { idPattern, kindOfParameter } from '../model/ids.ts'
import { userIdPattern } from '../model/fields.ts'
import { namesInPath, type Operation } from '../resources/operation.ts'
import { isUnlisted, statedInCalls } from './catalog.ts'
import { isIgnored } from './listed-schema.ts'
import { textFile } from './text-file.ts'

/** The arguments of one operation, with their whole schemas. */
export interface OperationArguments {
  /** in their order */
  readonly path: Readonly<Record<string, JsonSchema>>
  readonly query: Readonly<Record<string, JsonSchema>>
  readonly body: Readonly<Record<string, JsonSchema>>
  /** the names of those that it cannot do without */
  readonly required: readonly string[]
}

/** Without the list of the members, which the error for another one has. */
const FIELDS = { type: 'array', items: { type: 'string' }, description: 'Only these members of each result, and its `id`.' }

/** The argument that reads on in an answer that is too long. It is no parameter of the API. */
export const OFFSET = 'offset'
const OFFSET_SCHEMA = { type: 'integer', default: 0, description: '`next_offset` of a long answer.' }

/** The items of a page, unless a call says how many: the context of a model is small. */
export const PAGE_SIZE = 20

/**
 * Reads the arguments of an operation from its row.
 * @param uploadsText whether it uploads a text, in the place of its body
 */
export function argumentsOf(operation: Operation, uploadsText = false): OperationArguments {
  const { id, path, query } = operation
  const body = uploadsText ? textFile : operation.body
  const names = namesInPath(path)
  const inQuery = membersOf(convertOne(query, 'input'))
  const inBody = membersOf(body === undefined ? {} : convertOne(body, 'input'))
  for (const name of Object.keys(statedInCalls[id] ?? {})) delete inQuery.members[name]
  if (inQuery.members['limit'] !== undefined) inQuery.members['limit'] = { ...inQuery.members['limit'], default: PAGE_SIZE }
  const selectable = selectableFields(operation)
  if (selectable.size > 0) inQuery.members['fields'] = FIELDS
  if (isLong(selectable) && !isList(inQuery.members)) inQuery.members[OFFSET] = OFFSET_SCHEMA
  const required = [...names, ...inQuery.required, ...inBody.required]
  return {
    path: Object.fromEntries(names.map((name) => [name, { type: 'string', pattern: patternOf(name) }])),
    query: inQuery.members,
    body: inBody.members,
    required: required.filter((name) => !isUnlisted(id, name)),
  }
}

/** Whether a resource has a text of any length. */
function isLong(fields: ReadonlySet<string>): boolean {
  return fields.has('description') || fields.has('body')
}

/** Whether an operation with these parameters returns a page of a list. */
export function isList(query: Readonly<Record<string, unknown>>): boolean {
  return query['limit'] !== undefined
}

/** The shape of an id in a path; undefined: what it names is not known. */
function patternOf(name: string): string | undefined {
  const kind = kindOfParameter(name)
  if (kind === 'user') return userIdPattern
  return kind && idPattern(kind)
}

function membersOf(schema: JsonSchema): { members: Record<string, JsonSchema>; required: readonly string[] } {
  const definitions = (schema['$defs'] ?? {}) as Record<string, JsonSchema>
  const { properties = {}, required = [] } = resolveAll(schema, definitions) as {
    properties?: Record<string, JsonSchema>
    required?: readonly string[]
  }
  return { members: Object.fromEntries(Object.entries(properties).filter(([, member]) => !isIgnored(member))), required }
}

/** A value without references to definitions. */
function resolveAll(value: unknown, definitions: Readonly<Record<string, JsonSchema>>): unknown {
  if (Array.isArray(value)) return value.map((item) => resolveAll(item, definitions))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...own } = value as JsonSchema
  const schema = typeof $ref === 'string' ? { ...definitions[$ref.replace('#/$defs/', '')], ...own } : own
  return Object.fromEntries(Object.entries(schema).map(([keyword, part]) => [keyword, resolveAll(part, definitions)]))
}
