import type { JsonSchema } from '../http/openapi/types.ts'
import { anyIdPattern, idPrefixes, isAnyId, type IdKind } from '../model/ids.ts'
import { clearingValue } from './listed-schema.ts'

// Clients and models write values in many forms: a number as text, a list as JSON text, an id in quotes. What can mean only one thing is
// read as that; everything else is left as it is, and the API says what is wrong with it.

/** Where a value is, and what to do with a mistake in it. */
export interface Reading {
  /** the argument, with dots between levels */
  readonly path: string
  readonly refuse: (path: string, message: string) => void
  /** whether a text like `$0` can stand for an id */
  readonly takesReferences?: boolean
}

/**
 * Reads the value of an argument. Null is no value: a schema takes it in another form, see {@link clearingValue}.
 * @param schema its whole schema
 * @returns undefined if there is no value
 */
export function readValue(schema: JsonSchema, value: unknown, reading: Reading): unknown {
  if (value === null || value === undefined) return undefined
  const { anyOf, pattern } = schema
  if (anyOf !== undefined) return readValue(shapeFor(value, anyOf as readonly JsonSchema[]), value, reading)
  if (typeof pattern === 'string' && isIdPattern(pattern)) return typeof value === 'string' ? readId(pattern, value, reading) : value
  const cleared = clearingValue(schema)
  const plain = typeof value === 'string' ? readText(schema, value) : value
  if (cleared !== undefined && (plain === cleared || plain === 'none')) return null
  if (isType(schema, 'array')) return readList(schema, plain, reading)
  if (!isType(schema, 'object')) return plain
  if (isObject(plain)) return readMembers(schema, plain, reading)
  reading.refuse(reading.path, 'must be an object, or the JSON text of one')
  return plain
}

function isType({ type }: JsonSchema, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name))
}

/** Whether a value is an object with members. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text in the type of its schema, if it can be read so. */
function readText(schema: JsonSchema, text: string): unknown {
  const word = text.trim()
  if (isType(schema, 'string')) return text
  if (isType(schema, 'boolean')) return /^(?:true|false)$/i.test(word) ? word.toLowerCase() === 'true' : text
  if (isType(schema, 'integer') || isType(schema, 'number')) return /^-?\d+(?:\.\d+)?$/.test(word) ? Number(word) : text
  if (isType(schema, 'array')) return parsed(word, '[') ?? text
  if (isType(schema, 'object')) return parsed(word, '{') ?? text
  return text
}

/** The value of a JSON text that begins so; undefined if it is not JSON. */
function parsed(text: string, first: '[' | '{'): unknown {
  if (!text.startsWith(first)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Which of several shapes a value has: the object shape for an object, also as JSON text. */
function shapeFor(value: unknown, shapes: readonly JsonSchema[]): JsonSchema {
  const object = shapes.find((shape) => isType(shape, 'object'))
  const isOne = isObject(value) || (typeof value === 'string' && isObject(parsed(value.trim(), '{')))
  return (isOne ? object : shapes.find((shape) => shape !== object)) ?? shapes[0]!
}

/** A list; what is no list is its only item. The ids of a list that is one text have commas between them. */
function readList({ items }: JsonSchema, value: unknown, reading: Reading): unknown {
  const schema = (items ?? {}) as JsonSchema
  const isText = typeof value === 'string' && isType(schema, 'string')
  if (!isText && typeof value === 'string' && isNoItem(value.trim())) {
    reading.refuse(reading.path, 'must be a list, or the JSON text of one')
    return value
  }
  const given = Array.isArray(value) ? value : isText ? value.split(',').map((item) => item.trim()) : [value]
  return given.flatMap((item: unknown, i) => readValue(schema, item, { ...reading, path: `${reading.path}.${i}` }) ?? [])
}

/** What programs write for a value that is no text. */
const NO_TEXT = /^(?:null|none|undefined|nan|true|false|-?\d+(?:\.\d+)?|["'[{].*)$/is

/** Whether a text in the place of a list is no item of it, but the JSON of something else, or broken JSON. */
function isNoItem(text: string): boolean {
  return NO_TEXT.test(text) && !isObject(parsed(text, '{'))
}

function readMembers({ properties }: JsonSchema, value: Readonly<Record<string, unknown>>, reading: Reading): unknown {
  // Members of any name mean what they say, null included.
  if (properties === undefined) return value
  const known = properties as Readonly<Record<string, JsonSchema>>
  const members = Object.entries(value).flatMap(([name, member]) => {
    const read = readValue(Object.hasOwn(known, name) ? known[name]! : {}, member, { ...reading, path: `${reading.path}.${name}` })
    return read === undefined ? [] : [[name, read] as const]
  })
  return Object.fromEntries(members)
}

/** What the pattern of each id has in common. */
const ID_PART = anyIdPattern.slice(anyIdPattern.indexOf('_'), -1)
const isIdPattern = (pattern: string): boolean => pattern.includes(ID_PART)
/** Whether a value is an id, or a list of ids. */
export function isIdSchema({ pattern, items }: JsonSchema): boolean {
  return (typeof pattern === 'string' && isIdPattern(pattern)) || (items !== undefined && isIdSchema(items as JsonSchema))
}

const patterns = new Map<string, RegExp>()
const REFERENCE = /^\$\d{1,2}$/

/** An id, without the quotation marks and spaces that models write around it. */
function readId(pattern: string, text: string, { path, refuse, takesReferences = false }: Reading): string {
  const id = text.replaceAll(/^[\s"'`]+|[\s"'`]+$/g, '')
  const shape = patterns.get(pattern) ?? new RegExp(pattern)
  patterns.set(pattern, shape)
  if (!shape.test(id) && !(takesReferences && REFERENCE.test(id))) refuse(path, noId(pattern, id))
  return id
}

/** Tells why the form of a text rules it out as an id of a kind. Whether the id exists is not known here. */
function noId(pattern: string, text: string): string {
  const prefix = /([a-z]{3})_\[/.exec(pattern)?.[1]
  const kind = prefix && kindOf(prefix)
  const own = kind === undefined ? 'is not an id' : `is not the id of ${withArticle(kind)}`
  const other = isAnyId(text) ? kindOf(text.slice(0, 3)) : undefined
  if (other !== undefined) return `${own}: it is the id of ${withArticle(other)}`
  const form = prefix === undefined ? 'has a prefix, such as "crd_",' : `begins with "${prefix}_"`
  return `${own}: such an id ${form} and ends with 20 characters in lower case. A name is no id`
}

function kindOf(prefix: string): IdKind | undefined {
  return (Object.keys(idPrefixes) as IdKind[]).find((kind) => idPrefixes[kind] === prefix)
}

function withArticle(kind: string): string {
  return `${/^[aeio]/.test(kind) ? 'an' : 'a'} ${kind}`
}
