import { selectableFields } from '../http/fields.ts'
import { convertOne } from '../http/openapi/schemas.ts'
import type { JsonSchema } from '../http/openapi/types.ts'
import { namesInPath, type Operation } from '../resources/operation.ts'
import { statedInCalls } from './catalog.ts'
import { textFile } from './text-file.ts'

/** The arguments of one operation. */
export interface OperationArguments {
  /** the names in its path, in their order */
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, JsonSchema>>
  readonly body: Readonly<Record<string, JsonSchema>>
  /** the names of those that it cannot do without */
  readonly required: readonly string[]
}

/** Without the list of the members, which the error for another one has. */
const FIELDS = { type: 'array', items: { type: 'string' }, description: 'Only these members of each result, and its `id`.' }

/** The descriptions of arguments that many tools have, as short as they can be; empty: the name says it. */
const shortInQuery: Readonly<Record<string, string>> = {
  dry_run: 'Only checks the call.',
  limit: '',
  cursor: '`page.next_cursor` of the previous page.',
  wait: 'The seconds to wait if there is none.',
  work_state: 'Only cards whose work has one of these states.',
}
const shortInBody: Readonly<Record<string, string>> = {
  before: 'The id of what it comes before.',
  after: 'The id of what it comes after.',
  to: '',
  wait: 'The seconds to wait if there is none.',
  due_at: 'When it is due; null: at no time.',
  max_attempts: 'After so many failed attempts in a row, a card is stuck; null: never.',
}

/**
 * Reads the arguments of an operation from its row.
 * @param uploadsText whether it uploads a text, in the place of its body
 */
export function argumentsOf(operation: Operation, uploadsText = false): OperationArguments {
  const { path, query } = operation
  const body = uploadsText ? textFile : operation.body
  const names = namesInPath(path)
  const inQuery = membersOf(convertOne(query, 'input', 0), shortInQuery)
  const inBody = membersOf(body === undefined ? {} : convertOne(body, 'input', 0), shortInBody)
  for (const name of Object.keys(statedInCalls[operation.id] ?? {})) delete inQuery.members[name]
  const fields = selectableFields(operation).size === 0 ? {} : { fields: FIELDS }
  return {
    path: names,
    query: { ...inQuery.members, ...fields },
    body: inBody.members,
    required: [...names, ...inQuery.required, ...inBody.required],
  }
}

/** What the service takes and does not read. */
const IGNORED = /^Ignored:/
/** What is said of ETags that are missing: an answer has its `etag`, or it has none. */
const ABOUT_ETAGS = /; a resource then has no ETag| A response that includes something has no ETag,[^.]*\./g

function membersOf(
  schema: JsonSchema,
  short: Readonly<Record<string, string>>,
): { members: Record<string, JsonSchema>; required: readonly string[] } {
  const definitions = (schema['$defs'] ?? {}) as Record<string, JsonSchema>
  const { properties = {}, required = [] } = resolve(schema, definitions) as {
    properties?: Record<string, JsonSchema>
    required?: readonly string[]
  }
  const members = shortenAll(properties, definitions)
  for (const [name, description] of Object.entries(short)) {
    if (members[name] === undefined) continue
    const { description: _, ...schema } = members[name]
    members[name] = description === '' ? schema : { ...schema, description }
  }
  return { members, required }
}

/**
 * What a model needs of a schema to write an argument. The rest would cost context, and the pipeline validates everything: an id that
 * is malformed is answered like one that is absent.
 */
const KEPT = new Set(['type', 'enum', 'const', 'description', 'default', 'format', 'items', 'properties', 'required', 'maxItems'])
const NUMBER_BOUNDS = new Set(['minimum', 'maximum'])
/** A number has these bounds by its meaning. */
const NO_BOUNDS: ReadonlySet<unknown> = new Set([0, 1, Number.MAX_SAFE_INTEGER])
const NO_FORMATS = new Set(['int32', 'int64'])

function shorten(schema: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const result: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(resolve(schema, definitions))) {
    const isKept = KEPT.has(keyword) || (NUMBER_BOUNDS.has(keyword) && Number.isSafeInteger(value) && !NO_BOUNDS.has(value))
    if (keyword === 'anyOf' || keyword === 'oneOf') result['anyOf'] = (value as JsonSchema[]).map((one) => shorten(one, definitions))
    else if (!isKept || (keyword === 'format' && NO_FORMATS.has(String(value))) || isEmptyDefault(keyword, value)) continue
    else if (keyword === 'items') result[keyword] = shorten(value as JsonSchema, definitions)
    else if (keyword === 'properties') result[keyword] = shortenAll(value as Record<string, JsonSchema>, definitions)
    else result[keyword] = keyword === 'description' ? String(value).replaceAll(ABOUT_ETAGS, '') : value
  }
  return result
}

function shortenAll(
  members: Readonly<Record<string, JsonSchema>>,
  definitions: Readonly<Record<string, JsonSchema>>,
): Record<string, JsonSchema> {
  const shortened = Object.entries(members).map(([name, member]) => [name, shorten(member, definitions)] as const)
  return Object.fromEntries(shortened.filter(([, { description }]) => !IGNORED.test(String(description))))
}

/** Whether a default says no more than that the argument may be left out. */
function isEmptyDefault(keyword: string, value: unknown): boolean {
  return keyword === 'default' && ['""', '[]', '{}', 'false', 'null', '0'].includes(JSON.stringify(value))
}

/** A schema without its reference to a definition. */
function resolve({ $ref, ...own }: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return typeof $ref === 'string' ? { ...definitions[$ref.replace('#/$defs/', '')], ...own } : own
}

/** One schema for an argument that several operations have: what all of them say of it. */
export function mergeSchemas(schemas: readonly JsonSchema[]): JsonSchema {
  const [first, ...others] = schemas
  const merged: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(first!)) {
    if (others.every((other) => JSON.stringify(other[keyword]) === JSON.stringify(value))) merged[keyword] = value
  }
  const descriptions = withoutRepetitions(schemas.flatMap(({ description }) => (typeof description === 'string' ? description : [])))
  if (descriptions.length > 0) merged['description'] = descriptions.join(' / ')
  return merged
}

/** The descriptions without the sentences of those before them. */
function withoutRepetitions(descriptions: readonly string[]): string[] {
  const said = new Set<string>()
  return descriptions.flatMap((description) => {
    const further = description.split(/(?<=\.) /).filter((sentence) => !said.has(sentence))
    for (const sentence of further) said.add(sentence)
    return further.length === 0 ? [] : further.join(' ')
  })
}
