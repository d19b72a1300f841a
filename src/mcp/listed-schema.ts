import type { JsonSchema } from '../http/openapi/types.ts'

// The schemas of arguments as the list of tools states them. They are a subset that every client takes: each schema has one type, no null,
// and members that are named. VS Code refuses an array without `items`, OpenAI in strict mode an object with other members, and Gemini what
// has no type. The form stated here differs from the form that the API takes: see argument-values.ts.

/** The descriptions of arguments that many tools have, as short as they can be; empty: the name says it. */
const shortInQuery: Readonly<Record<string, string>> = {
  dry_run: 'Only checks the call.',
  limit: '',
  cursor: '`page.next_cursor` of the previous page.',
  wait: 'The seconds to wait if there is none.',
  work_state: 'Only cards whose work has one of these states.',
  // What cards are filtered by.
  board_id: '',
  column_id: '',
  label_id: '`none`: cards without one.',
  assignee_id: '`me`; `none`: cards of nobody.',
  q: 'Words that title or description must have.',
  completed: '',
  external_ref: '',
  due_before: '',
  due_after: '',
  completed_before: '',
  completed_after: '',
}
const shortInBody: Readonly<Record<string, string>> = {
  before: 'The id of the item that it is placed before.',
  after: 'The id of the item that it is placed after.',
  to: '',
  wait: 'The seconds to wait if there is none.',
  due_at: 'When it is due, as 2026-11-20T12:00:00Z; "none" clears it. Left out or null, it is kept.',
  subtasks: 'In their order.',
  external_ref: 'Its id elsewhere; "none" clears it.',
  outcome: '',
  completes: 'Cards that come in are done.',
  max_attempts: 'After so many failed attempts in a row, a card is stuck; 0: never.',
}

/** What replaces null in an argument that can be cleared: clients send null for arguments that their user did not give. */
export function clearingValue({ type }: JsonSchema): 'none' | 0 | undefined {
  if (!Array.isArray(type) || !type.includes('null')) return undefined
  return type.includes('string') ? 'none' : 0
}

/**
 * An argument as the list of tools states it.
 * @param schema its whole schema
 */
export function listedSchema(place: 'query' | 'body', name: string, schema: JsonSchema): JsonSchema {
  const short = (place === 'query' ? shortInQuery : shortInBody)[name]
  const { description, ...listed } = shorten(schema)
  const said = short ?? description
  return said === undefined || said === '' ? listed : { ...listed, description: said }
}

/** What the service takes and does not read. */
const IGNORED = /^Ignored:/
/** What is said of ETags that are missing: an answer has its `etag`, or it has none. */
const ABOUT_ETAGS = /; a resource then has no ETag| A response that includes something has no ETag,[^.]*\./g

/**
 * What a model needs of a schema to write an argument. The rest would cost context, and the service validates everything.
 */
const KEPT = new Set(['type', 'enum', 'description', 'default', 'format', 'items', 'required'])
const NUMBER_BOUNDS = new Set(['minimum', 'maximum'])
/** A number has these bounds by its meaning. */
const NO_BOUNDS: ReadonlySet<unknown> = new Set([0, 1, Number.MAX_SAFE_INTEGER])
const NO_FORMATS = new Set(['int32', 'int64'])

function shorten(whole: JsonSchema): JsonSchema {
  const schema = shapeOf(whole)
  const result: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    const isKept = KEPT.has(keyword) || (NUMBER_BOUNDS.has(keyword) && Number.isSafeInteger(value) && !NO_BOUNDS.has(value))
    if (!isKept || (keyword === 'format' && NO_FORMATS.has(String(value))) || isEmptyDefault(keyword, value)) continue
    if (keyword === 'items') result[keyword] = shorten(value as JsonSchema)
    else result[keyword] = keyword === 'description' ? String(value).replaceAll(ABOUT_ETAGS, '') : value
  }
  if (schema['const'] !== undefined) result['enum'] = [schema['const']]
  if (result['type'] === 'object') {
    result['properties'] = shortenAll(schema['properties'] as Readonly<Record<string, JsonSchema>>)
    result['additionalProperties'] = false
  }
  return result
}

/** A schema with one type: without null, with the most detailed of several shapes, and with a text for an object of any members. */
function shapeOf({ anyOf, ...outer }: JsonSchema): JsonSchema {
  const shapes = (anyOf ?? []) as readonly JsonSchema[]
  const schema: JsonSchema = { ...(shapes.find(({ type }) => type === 'object') ?? shapes[0]), ...outer }
  const { type, description } = schema
  const cleared = clearingValue(schema)
  if (cleared !== undefined) {
    // The word in the place of null has no such format.
    const { default: none, format: _, enum: words, ...others } = schema
    const text = String(description ?? '').replaceAll(/\bnull\b/g, JSON.stringify(cleared))
    return {
      ...others,
      ...(none === null ? {} : { default: none }),
      ...(words !== undefined && { enum: (words as readonly unknown[]).filter((word) => word !== null) }),
      type: (type as readonly string[]).find((one) => one !== 'null'),
      description: text,
    }
  }
  const isOpen = (type === undefined || type === 'object') && schema['properties'] === undefined
  return isOpen ? { type: 'string', description: `${String(description)} As the text of a JSON object.` } : schema
}

/** The members of an object. */
function shortenAll(members: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  const shortened = Object.entries(members).map(([name, member]) => [name, shorten(member)] as const)
  return Object.fromEntries(shortened.filter(([, { description }]) => !IGNORED.test(String(description))))
}

/** Whether the service takes an argument and does not read it. */
export function isIgnored({ description }: JsonSchema): boolean {
  return IGNORED.test(String(description))
}

/** Whether a default says no more than that the argument may be left out. */
function isEmptyDefault(keyword: string, value: unknown): boolean {
  return keyword === 'default' && ['""', '[]', '{}', 'false', 'null', '0'].includes(JSON.stringify(value))
}
