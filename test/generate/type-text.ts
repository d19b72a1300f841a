import type { JsonSchema } from '../../src/http/openapi/types.ts'

/** A member of an object type. */
export interface Member {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
}

export const REFERENCE = '#/components/schemas/'

/** The name of the schema that is referred to. */
export function nameOf({ $ref }: Keywords): string | undefined {
  return $ref?.slice(REFERENCE.length)
}

/** The TypeScript type of a JSON Schema, on several lines if it has members with descriptions. */
export function typeOf(schema: JsonSchema, indent = ''): string {
  const { $ref, type, enum: values, const: value, allOf, anyOf, oneOf, items, contentMediaType, typeName } = schema as Keywords
  if (typeName !== undefined) return typeName
  if ($ref !== undefined) return nameOf(schema)!
  if (contentMediaType !== undefined) return 'Blob'
  if (value !== undefined) return literal(value)
  if (values !== undefined) return values.map(literal).join(' | ')
  if (allOf !== undefined) return allOf.map((part) => operand(part, indent)).join(' & ')
  const alternatives = anyOf ?? oneOf
  if (alternatives !== undefined) return [...new Set(alternatives.map((part) => typeOf(part, indent)))].join(' | ')
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, indent)).join(' | ')
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `${operand(items ?? {}, indent)}[]`
    case 'object':
      return objectType(schema, indent)
    default:
      return 'unknown'
  }
}

/** The members of an object schema. */
export function membersOf(schema: JsonSchema): Member[] {
  const { properties = {}, required = [] } = schema as Keywords
  return Object.entries(properties).map(([name, member]) => ({ name, schema: member, required: required.includes(name) }))
}

/** The schema of an object with these members. */
export function objectOf(members: readonly Member[]): JsonSchema {
  const properties = Object.fromEntries(members.map(({ name, schema }) => [name, schema]))
  return { type: 'object', properties, required: members.filter(({ required }) => required).map(({ name }) => name) }
}

/** An object type with the descriptions of its members. */
export function blockOf(members: readonly Member[], indent = ''): string {
  return ['{', ...members.map((member) => memberText(member, `${indent}  `)), `${indent}}`].join('\n')
}

/** A member with its description. */
export function memberText({ name, schema, required }: Member, indent = ''): string {
  const member = `${indent}${name}${required ? '' : '?'}: ${typeOf(schema, indent)}`
  return [...docComment(textOf(schema), indent), member].join('\n')
}

/** A comment, or nothing without a text. */
export function docComment(text: string | undefined, indent = ''): string[] {
  return text === undefined ? [] : [`${indent}/** ${text.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */`]
}

function objectType(schema: JsonSchema, indent: string): string {
  const members = membersOf(schema)
  if (members.length > 0) return blockOf(members, indent)
  const { additionalProperties } = schema as Keywords
  if (additionalProperties === false) return '{}'
  return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'}>`
}

function textOf({ description, default: value }: Keywords): string | undefined {
  if (value === undefined || description === undefined) return description
  return `${description} Default: ${JSON.stringify(value)}.`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

/** The type of a schema, in parentheses if it has several parts. */
function operand(schema: JsonSchema, indent: string): string {
  const { $ref, type, enum: values, allOf, anyOf, oneOf } = schema as Keywords
  const hasParts = $ref === undefined && [type, values, allOf, anyOf, oneOf].some((parts) => Array.isArray(parts) && parts.length > 1)
  return hasParts ? `(${typeOf(schema, indent)})` : typeOf(schema, indent)
}

/** The keywords that are read here. */
export interface Keywords {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly allOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly contentMediaType?: string
  readonly description?: string
  readonly default?: unknown
  /** of this generator: the type that is written instead */
  readonly typeName?: string
  /** of this generator: the interface that this one extends */
  readonly extending?: string
}
