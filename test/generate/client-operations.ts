import { errorName, pascalCase } from '../../src/http/openapi/error-schemas.ts'
import { tagOf } from '../../src/http/openapi/operations.ts'
import {
  resolve,
  type JsonSchema,
  type MediaTypeObject,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type Reference,
  type ResponseObject,
} from '../../src/http/openapi/types.ts'
import { errors, type ErrorCode } from '../../src/model/errors.ts'
import { effectiveScopes, type Scope } from '../../src/model/token.ts'
import { isBatchable } from '../../src/resources/batch/operations.ts'
import { namesInPath, type Operation } from '../../src/resources/operation.ts'

const HEAD = `// Written by "npm run matrix" from the operations table and its schemas. Do not edit it.
import type { BatchAnswer, BatchWrite, BytesMethod, ListMethod, OperationRow, PageMethod, ReadMethod, WriteMethod } from './methods.ts'
`

/** An operation with its description in the document. */
interface Described {
  readonly row: Operation
  readonly described: OperationObject
  readonly parameters: readonly ParameterObject[]
  /** the schemas of the bodies that it takes: JSON, and a form */
  readonly bodies: readonly JsonSchema[]
}

/** Renders `src/client/operations.ts`: the rows of the operations table that the client needs, and their types. */
export function renderClientOperations(document: OpenApiDocument, rows: readonly Operation[]): string {
  const all = rows.map((row) => describe(document, row))
  const named = namedSchemas(document)
  return [
    HEAD,
    ...named.map(([name, schema]) => interfaceOf(name, schema)),
    selectionType(all),
    ...all.flatMap((operation) => inputType(operation)),
    ...batchTypes(all),
    methodsType(all),
    errorTypes(document),
    // Without a type of their own, the rows would be a tenth of the client: each as its type, too.
    `type OperationId =\n${rows.map(({ id }) => `  | '${id}'`).join('\n')}\n\n/** The operations by id. */\nexport const operations: Readonly<Record<OperationId, OperationRow>> = {\n${all.map(rowText).join('\n')}\n}\n`,
  ].join('\n')
}

function describe(document: OpenApiDocument, row: Operation): Described {
  const described = document.paths[row.path]![row.method.toLowerCase()]!
  const parameters = described.parameters.map((parameter) => resolve(document, parameter))
  const bodies = Object.values(described.requestBody?.content ?? {}).map(({ schema }) =>
    withBatchTypes(resolve(document, schema as JsonSchema)),
  )
  return { row, described, parameters, bodies }
}

/** The schemas of what is in responses and bodies. Whole responses and errors are no types of the client. */
function namedSchemas({ components: { schemas } }: OpenApiDocument): [string, JsonSchema][] {
  const types = Object.entries(schemas).filter(([name]) => !/(Response|Error|Body|Form)$/.test(name))
  return types.map(([name, schema]) => [name, withBatchTypes(schema)])
}

/** The members of a batch and of its answer that the document states for any operation, and the types that tell them apart. */
const BATCH_TYPES: Readonly<Record<string, string>> = { operations: 'BatchOperation[]', results: 'BatchResult[]' }

function withBatchTypes(schema: JsonSchema): JsonSchema {
  const isOfBatch = ({ items }: Keywords) => Object.hasOwn((items as Keywords | undefined)?.properties ?? {}, 'operation')
  const { properties = {} } = schema as Keywords
  if (!Object.entries(properties).some(([name, member]) => name in BATCH_TYPES && isOfBatch(member))) return schema
  const typed = Object.entries(properties).map(([name, member]) => {
    const { description } = member as Keywords
    return [name, isOfBatch(member) ? { description, typeName: BATCH_TYPES[name] } : member]
  })
  return { ...schema, properties: Object.fromEntries(typed) } as JsonSchema
}

/**
 * One write of a batch, and one answer of it, for each operation that a batch can have: a batch refuses operations that require a higher
 * scope than it does itself.
 */
function batchTypes(all: readonly Described[]): string[] {
  const granted = effectiveScopes([scopeOf(all.find(({ row }) => row.id === 'boards.batch')!)])
  const batchable = all.filter((one) => isBatchable(one.row) && granted.includes(scopeOf(one)))
  const writes = batchable.map(({ row, parameters }) => {
    const inPath = namesInPath(row.path)
    const params = inPath.map((name) => `${name}${name === 'board_id' ? '?' : ''}: string`).join('; ')
    const others = parameters.filter(({ in: place }) => place === 'path' || place === 'query').map(({ name }) => `'${name}'`)
    const body = row.body === undefined ? '{}' : `Omit<${inputName(row)}, ${others.join(' | ')}>`
    return `  | BatchWrite<'${row.id}', { ${params} }, ${body}>`
  })
  const answers = batchable.map((one) => `  | BatchAnswer<'${one.row.id}', ${dataName(one)}>`)
  return [
    '/** A write of `boards.batch`. An id can be `$0`: the id that the first write has created, and so on. */',
    `export type BatchOperation =\n${writes.join('\n')}`,
    '',
    '/** What a write of `boards.batch` answers. Its `operation` tells which. */',
    `export type BatchResult =\n${answers.join('\n')}`,
    '',
  ]
}

function interfaceOf(name: string, schema: JsonSchema): string {
  const members = membersOf(schema)
  const type = members.length > 0 ? `export interface ${name} ${blockOf(members)}` : `export type ${name} = ${typeOf(schema)}`
  return [...docComment(schema['description'] as string | undefined), type, ''].join('\n')
}

/** The input of a method: the parameters of the path and the query, and the members of the body. */
function inputMembers({ row, parameters }: Described, body: JsonSchema | undefined): Member[] {
  const fromParameters = parameters
    .filter(({ name, in: place }) => place === 'path' || (place === 'query' && name !== 'dry_run'))
    .map(({ name, schema, description, required = false }) => ({ name, schema: { ...oneOrSeveral(schema), description }, required }))
  const members = [...fromParameters, ...(body === undefined ? [] : membersOf(body))]
  const names = members.map(({ name }) => name)
  const repeated = names.find((name, i) => names.indexOf(name) !== i)
  if (repeated !== undefined) throw new Error(`${row.id}: "${repeated}" is in the path or the query, and in the body`)
  return members
}

/** A parameter that lists ids may be one of them. */
function oneOrSeveral(schema: JsonSchema): JsonSchema {
  const { items } = schema as { readonly items?: JsonSchema }
  return items?.['pattern'] === undefined ? schema : { anyOf: [{ type: 'string' }, schema] }
}

/** The parameter `fields` of a read. Its description is the same for all, and would be a twelfth of their types. */
const FIELDS = 'fields'

function selectionType(all: readonly Described[]): string {
  const { description } = all.flatMap(({ parameters }) => parameters).find(({ name }) => name === FIELDS)!
  const member = [...docComment(description, '  '), `  ${FIELDS}?: Name[]`]
  return ['/** What a read returns. */', 'export interface Selection<Name> {', ...member, '}', ''].join('\n')
}

/** Bodies that are no plain objects are added as they are. */
function inputType(operation: Described): string[] {
  const { row, bodies } = operation
  const alternatives = (bodies.length === 0 ? [undefined] : bodies).map((body) => {
    const isPlain = body === undefined || membersOf(body).length > 0
    const all = inputMembers(operation, isPlain ? body : undefined)
    const selected = all.filter(({ name }) => name === FIELDS).map(({ schema }) => `Selection<${typeOf((schema as Keywords).items!)}>`)
    const members = all.filter(({ name }) => name !== FIELDS)
    return [...(members.length > 0 ? [blockOf(members)] : []), ...(isPlain ? [] : [typeOf(body)]), ...selected].join(' & ')
  })
  if (alternatives[0] === '') return []
  return [`/** The input of \`${row.id}\`. */`, `export type ${inputName(row)} = ${alternatives.join(' | ')}`, '']
}

function inputName({ id }: Operation): string {
  return `${pascalCase(id)}Input`
}

function methodsType(all: readonly Described[]): string {
  const resources = new Set(all.map(({ row }) => tagOf(row.id)))
  const groups = [...resources].map((resource) => {
    const methods = all.filter(({ row }) => tagOf(row.id) === resource).map(methodText)
    return [`  readonly ${resource}: {`, ...methods, '  }'].join('\n')
  })
  return ['/** A method for each operation, by its id. */', 'export interface Methods {', ...groups, '}', ''].join('\n')
}

function methodText(operation: Described): string {
  const { row } = operation
  const input = inputType(operation).length === 0 ? '{}' : inputName(row)
  const scope = scopeOf(operation)
  const name = row.id.slice(tagOf(row.id).length + 1)
  return [...docComment(`${row.summary} Scope \`${scope}\`.`, '    '), `    readonly ${name}: ${methodType(operation, input)}`].join('\n')
}

/** The scope that an operation requires. */
function scopeOf({ described }: Described): Scope {
  return Object.values(described.security[0]!)[0]![0] as Scope
}

function methodType(operation: Described, input: string): string {
  const { row } = operation
  const result = resultOf(operation)
  if (result === 'bytes') return `BytesMethod<${input}>`
  const data = dataName(operation)
  // The changes of a board have no last page.
  const hasCursor = operation.parameters.some(({ name }) => name === 'cursor')
  if (result === 'list') return `${hasCursor ? 'ListMethod' : 'PageMethod'}<${input}, ${data}>`
  return `${row.method === 'GET' ? 'ReadMethod' : 'WriteMethod'}<${input}, ${data}>`
}

/** The name of the type of `data`, or of its items. */
function dataName(operation: Described): string {
  const { $ref } = jsonOf(operation)!.schema as unknown as Reference
  return $ref
    .split('/')
    .at(-1)!
    .replace(/(List)?Response$/, '')
}

/** The JSON of a success; undefined if the response is the bytes of a file, or a stream of events. */
function jsonOf({ row, described }: Described): MediaTypeObject | undefined {
  return (described.responses[row.status] as ResponseObject).content?.['application/json']
}

function resultOf(operation: Described): 'item' | 'list' | 'bytes' {
  if (jsonOf(operation) === undefined) return 'bytes'
  return operation.row.data.def.type === 'array' ? 'list' : 'item'
}

function rowText(operation: Described): string {
  const { row, parameters, bodies } = operation
  const query = parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name)
  const body = [...new Set(bodies.flatMap((schema) => membersOf(schema).map(({ name }) => name)))]
  const names = (list: readonly string[]) => `[${list.map((name) => `'${name}'`).join(', ')}]`
  const members = [
    `method: '${row.method}'`,
    `path: '${row.path}'`,
    `query: ${names(query)}`,
    ...(bodies.length === 0 ? [] : [`body: ${names(body)}`]),
    `result: '${resultOf(operation)}'`,
  ]
  return `  '${row.id}': { ${members.join(', ')} },`
}

/** The further members of each error, by its code. */
function errorTypes({ components: { schemas } }: OpenApiDocument): string {
  const shared = new Set(['code', 'message', 'request_id'])
  const entries = (Object.keys(errors) as ErrorCode[]).map((code) => {
    const schema = schemas[errorName(code)]
    const members = schema === undefined ? [] : membersOf(schema).filter(({ name }) => !shared.has(name))
    return [...docComment(errors[code].message, '  '), `  ${code}: ${members.length === 0 ? '{}' : blockOf(members, '  ')}`].join('\n')
  })
  return ['/** The further members of errors, by code. */', 'export interface ErrorMembers {', ...entries, '}', ''].join('\n')
}

/** A member of an object type. */
export interface Member {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
}

const REFERENCE = '#/components/schemas/'

/** The TypeScript type of a JSON Schema, on several lines if it has members with descriptions. */
function typeOf(schema: JsonSchema, indent = ''): string {
  const { $ref, type, enum: values, const: value, allOf, anyOf, oneOf, items, contentMediaType, typeName } = schema as Keywords
  if (typeName !== undefined) return typeName
  if ($ref !== undefined) return $ref.slice(REFERENCE.length)
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
function membersOf(schema: JsonSchema): Member[] {
  const { properties = {}, required = [] } = schema as Keywords
  return Object.entries(properties).map(([name, member]) => ({ name, schema: member, required: required.includes(name) }))
}

/** An object type with the descriptions of its members. */
function blockOf(members: readonly Member[], indent = ''): string {
  const inner = `${indent}  `
  const lines = members.map(({ name, schema, required }) => {
    const member = `${inner}${name}${required ? '' : '?'}: ${typeOf(schema, inner)}`
    return [...docComment(textOf(schema), inner), member].join('\n')
  })
  return ['{', ...lines, `${indent}}`].join('\n')
}

/** A comment, or nothing without a text. */
function docComment(text: string | undefined, indent = ''): string[] {
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
interface Keywords {
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
}
