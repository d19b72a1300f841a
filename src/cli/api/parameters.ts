import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { text } from 'node:stream/consumers'
import { selectableFields } from '../../http/fields.ts'
import { itemOf } from '../../http/openapi/operations.ts'
import { convertOne } from '../../http/openapi/schemas.ts'
import type { JsonSchema } from '../../http/openapi/types.ts'
import { RELATIVE_TIMES, readRelativeTime, systemClock } from '../../model/time.ts'
import { namesInPath, type Operation } from '../../resources/operation.ts'
import { ConfigError } from '../../config.ts'

/**
 * What the value of an option is: a text, or what is read from it. A `list` is one of texts, with commas; a `json-list` is one of JSON; a
 * `time` can be relative to the present one.
 */
type ValueKind = 'text' | 'time' | 'number' | 'boolean' | 'list' | 'json' | 'json-list' | 'file'

/** A parameter of an operation, which is an option of its command. */
export interface Parameter {
  readonly name: string
  /** such as `--column-id` */
  readonly flag: string
  readonly kind: ValueKind
  readonly description: string
  readonly required: boolean
  readonly nullable: boolean
  /** the values that it can have, if they are few */
  readonly values: readonly string[]
}

/** The parameters of the path, the query and the body of an operation, from its row of the operations table. */
export function parametersOf(operation: Operation): Parameter[] {
  const { path, query, body } = operation
  const pathParameters = namesInPath(path).map((name) => {
    const description = `the id of the ${name.replace(/_id$/, '').replaceAll('_', ' ')}`
    return { name, flag: flagOf(name, operation), kind: 'text', description, required: true, nullable: false, values: [] } as const
  })
  const members = body === undefined ? [] : membersOf(convert(body))
  const others = [...membersOf(convert(query)), ...members].map(({ name, schema, required }) => ({
    name,
    flag: flagOf(name, operation),
    kind: kindOf(schema),
    description: `${descriptionOf(schema)}${NOTATIONS[kindOf(schema)] ?? ''}`,
    required,
    nullable: isNullable(schema),
    values: valuesOf(schema),
  }))
  return [...pathParameters, ...others, ...fieldsParameter(operation)]
}

/** The members that a GET can be asked for. */
function fieldsParameter(operation: Operation): Parameter[] {
  if (selectableFields(operation).size === 0) return []
  const description = 'only these members, and the id (separated by commas)'
  return [{ name: 'fields', flag: '--fields', kind: 'list', description, required: false, nullable: false, values: [] }]
}

/** How values are written that are no plain text. */
const NOTATIONS: Partial<Readonly<Record<ValueKind, string>>> = {
  time: ` (a time, or ${RELATIVE_TIMES})`,
  list: ' (separated by commas)',
  'json-list': ' (JSON)',
  json: ' (JSON)',
}

/** Options that each command has for something else. */
const TAKEN: ReadonlySet<string> = new Set(['url'])

/** `column_id` → `--column-id`; `url` of a webhook → `--webhook-url` */
function flagOf(name: string, { id }: Pick<Operation, 'id'>): string {
  const whole = TAKEN.has(name) ? `${id.replace(/s\..*$/, '')}-${name}` : name
  return `--${whole.replaceAll('_', '-')}`
}

/** The names of the members of what an operation returns, or of each item of its list. */
export function returnedMembers({ data }: Operation): string[] {
  return membersOf(convert(itemOf(data), 'output')).map(({ name }) => name)
}

/** The members of an object schema. */
function membersOf(schema: JsonSchema): { name: string; schema: JsonSchema; required: boolean }[] {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: string[] }
  return Object.entries(properties).map(([name, member]) => ({ name, schema: member, required: required.includes(name) }))
}

function convert(schema: Operation['query'], io: 'input' | 'output' = 'input'): JsonSchema {
  const converted = convertOne(schema, io)
  // A schema that has an id is a reference to its definition.
  const name = (converted['$ref'] as string | undefined)?.split('/').at(-1)
  return name === undefined ? converted : (converted['$defs'] as Record<string, JsonSchema>)[name]!
}

const typesOf = ({ type }: JsonSchema): readonly unknown[] => (Array.isArray(type) ? type : [type])
const isNullable = (schema: JsonSchema): boolean => typesOf(schema).includes('null')

function kindOf(schema: JsonSchema): ValueKind {
  if (schema['contentMediaType'] !== undefined) return 'file'
  if (schema['format'] === 'date-time') return 'time'
  const [type] = typesOf(schema)
  if (type === 'string' || (type === undefined && schema['enum'] !== undefined)) return 'text'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'boolean'
  if (type !== 'array') return 'json'
  return (schema['items'] as JsonSchema | undefined)?.['type'] === 'string' ? 'list' : 'json-list'
}

function valuesOf({ type, enum: values }: JsonSchema): readonly string[] {
  if (type === 'boolean') return ['true', 'false']
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : []
}

/** In the style of the other options: without a capital letter and a full stop. Markdown is not shown. */
function descriptionOf({ description, default: value }: JsonSchema): string {
  const text = String(description ?? '')
    .replaceAll('`', '')
    .replace(/\.$/, '')
  const suffix = value === undefined || value === null || value === '' ? '' : ` (default: ${JSON.stringify(value)})`
  return text.charAt(0).toLowerCase() + text.slice(1) + suffix
}

/**
 * Makes the input of an operation from options. Options for single members win over `--data`.
 * @param data JSON, `@FILE` or `-` for stdin
 * @throws {ConfigError} if a value is not valid
 */
export async function toInput(
  parameters: readonly Parameter[],
  options: Readonly<Record<string, unknown>>,
  data: string | undefined,
): Promise<Record<string, unknown>> {
  const input = data === undefined ? {} : await readData(data)
  for (const parameter of parameters) {
    const value = options[optionName(parameter)]
    if (value !== undefined) input[parameter.name] = value === false ? null : await toValue(parameter, value as string)
  }
  const missing = parameters.filter(({ name, required }) => required && input[name] === undefined)
  if (missing.length > 0) throw new ConfigError(`missing: ${missing.map(({ flag }) => flag).join(', ')}`)
  return input
}

/** The name that commander gives an option: `--column-id` is `columnId`. */
function optionName({ flag }: Pick<Parameter, 'flag'>): string {
  return flag.slice(2).replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase())
}

async function readData(data: string): Promise<Record<string, unknown>> {
  const expected = '--data: it must be a JSON object, @FILE with one, or - to read one from stdin'
  const value = parseJson(expected, await sourceOf(data))
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new ConfigError(`${expected}, not ${describeKind(value)}`)
}

async function sourceOf(data: string): Promise<string> {
  if (data === '-') return text(process.stdin)
  return data.startsWith('@') ? (await readFileOf('--data', data.slice(1))).toString() : data
}

async function readFileOf(flag: string, path: string): Promise<Buffer<ArrayBuffer>> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new ConfigError(`${flag}: the file "${path}" cannot be read: ${(error as Error).message}`)
  }
}

async function toValue({ flag, kind, values }: Parameter, value: string): Promise<unknown> {
  switch (kind) {
    case 'number':
      if (value.trim() === '' || !Number.isFinite(Number(value))) throw new ConfigError(`${flag}: "${value}" is not a number`)
      return Number(value)
    case 'boolean':
      if (!values.includes(value)) throw new ConfigError(`${flag}: "${value}" is not true or false`)
      return value === 'true'
    case 'time':
      return toTime(flag, value)
    case 'list':
      return toList(flag, value)
    case 'json':
      return parseJson(`${flag}: it must be JSON`, value)
    case 'json-list':
      return parseJsonList(flag, value)
    case 'file':
      return new File([await readFileOf(flag, value)], basename(value), { type: 'application/octet-stream' })
    default:
      return value
  }
}

/** A time as it is, which the service checks, or a relative one in UTC. */
function toTime(flag: string, value: string): string {
  const time = readRelativeTime(value, systemClock())
  if (time !== undefined) return new Date(time).toISOString()
  if (/^\d{4}-/.test(value)) return value
  throw new ConfigError(`${flag}: "${value}" is no time; it must be one such as 2026-11-20T12:00:00Z, or ${RELATIVE_TIMES}`)
}

function toList(flag: string, value: string): string[] {
  const items = value === '' ? [] : value.split(',')
  if (items.includes('') || value.startsWith('['))
    throw new ConfigError(`${flag}: it must be a list separated by commas, such as a,b, not "${value}"`)
  return items
}

function parseJsonList(flag: string, value: string): unknown[] {
  const expected = `${flag}: it must be a JSON list, in square brackets`
  const parsed = parseJson(expected, value)
  if (Array.isArray(parsed)) return parsed
  throw new ConfigError(`${expected}, not ${describeKind(parsed)}`)
}

/** @param expected the option and what it must have */
function parseJson(expected: string, source: string): unknown {
  try {
    return JSON.parse(source)
  } catch (error) {
    throw new ConfigError(`${expected}; it is not JSON: ${(error as Error).message}`)
  }
}

function describeKind(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
