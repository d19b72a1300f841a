import { selectableFields } from '../../http/fields.ts'
import { itemOf } from '../../http/openapi/operations.ts'
import { convertOne } from '../../http/openapi/schemas.ts'
import type { JsonSchema } from '../../http/openapi/types.ts'
import { limits } from '../../model/limits.ts'
import { RELATIVE_TIMES } from '../../model/relative-time.ts'
import { uploadForm } from '../../resources/attachments/schema.ts'
import { namesInPath, type Operation } from '../../resources/operation.ts'
import { membersOf } from '../schema-types.ts'

/**
 * What the value of an option is: a text, or what is read from it. A `list` is one of texts, with commas; a `json-list` is one of JSON; a `time`
 * can be relative to the present one.
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
  const { path, query, body, takesUpload } = operation
  const pathParameters = namesInPath(path).map((name) => {
    const description = `the id of the ${name.replace(/_id$/, '').replaceAll('_', ' ')}`
    return { name, flag: flagOf(name), kind: 'text', description, required: true, nullable: false, values: [] } as const
  })
  const bodies = [...(body === undefined ? [] : [body]), ...(takesUpload ? [uploadForm] : [])].map((schema) => membersOf(convert(schema)))
  // Of several kinds of bodies, none is required.
  const members = bodies.flatMap((one) => one.map((member) => ({ ...member, required: member.required && bodies.length === 1 })))
  const others = [...membersOf(convert(query)), ...members].map(({ name, schema, required }) => ({
    name,
    flag: flagOf(name),
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

/** `column_id` → `--column-id` */
function flagOf(name: string): string {
  return `--${name.replaceAll('_', '-')}`
}

/** The names of the members of what an operation returns, or of each item of its list. */
export function returnedMembers({ data }: Operation): string[] {
  return membersOf(convert(itemOf(data), 'output')).map(({ name }) => name)
}

function convert(schema: Operation['query'], io: 'input' | 'output' = 'input'): JsonSchema {
  const converted = convertOne(schema, io, limits.uploadBytes)
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
