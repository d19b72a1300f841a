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
import { withSharedTypes } from './type-names.ts'
import { blockOf, docComment, membersOf, memberText, nameOf, objectOf, typeOf, type Keywords, type Member } from './type-text.ts'

const HEAD = `// Written by "npm run matrix" from the operations table and its schemas. Do not edit it.
import type { BatchAnswer, BatchWrite, BytesMethod, ListMethod, OperationRow, PageMethod, ReadMethod, WriteMethod } from './methods.ts'
`

/** An operation with its description in the document. */
interface Described {
  readonly row: Operation
  readonly described: OperationObject
  readonly parameters: readonly ParameterObject[]
  /** the bodies that it takes: JSON, and a form */
  readonly bodies: readonly Body[]
}

interface Body {
  /** the name of its type, if it has one */
  readonly name: string | undefined
  readonly schema: JsonSchema
}

/** Renders `src/client/operations.ts`: the rows of the operations table that the client needs, and their types. */
export function renderClientOperations(document: OpenApiDocument, rows: readonly Operation[]): string {
  const all = rows.map((row) => describe(document, row))
  const common = commonMembers(all)
  return [
    HEAD,
    ...withSharedTypes([...namedSchemas(document), errorMembers(document)]).map(([name, schema]) => interfaceOf(name, schema)),
    commonType(common),
    selectionType(all),
    '// The input of each operation.',
    ...all.flatMap((operation) => inputType(operation, common)),
    ...batchTypes(all),
    methodsType(all),
    // Without a type of their own, the rows would be a tenth of the client: each as its type, too.
    'type OperationId = { [Resource in keyof Methods]: `${Resource}.${keyof Methods[Resource] & string}` }[keyof Methods]\n',
    `/** The operations by id. */\nexport const operations: Readonly<Record<OperationId, OperationRow>> = {\n${all.map(rowText).join('\n')}\n}\n`,
  ].join('\n')
}

function describe(document: OpenApiDocument, row: Operation): Described {
  const described = document.paths[row.path]![row.method.toLowerCase()]!
  const parameters = described.parameters.map((parameter) => resolve(document, parameter))
  const bodies = Object.values(described.requestBody?.content ?? {}).map(({ schema }) => ({
    name: [nameOf(schema as JsonSchema)].find((name) => name !== undefined && isType(name)),
    schema: withBatchTypes(resolve(document, schema as JsonSchema)),
  }))
  return { row, described, parameters, bodies }
}

/** The schemas of what is in responses and bodies. Whole responses and errors are no types of the client. */
function namedSchemas({ components: { schemas } }: OpenApiDocument): [string, JsonSchema][] {
  const types = Object.entries(schemas).filter(([name]) => isType(name))
  return types.map(([name, schema]) => [name, withBatchTypes(schema)])
}

function isType(name: string): boolean {
  return !/(Response|Error|Body|Form)$/.test(name)
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
  const table = batchable.map((one) => {
    const { row, parameters } = one
    const params = namesInPath(row.path).map((name) => `${name}${name === 'board_id' ? '?' : ''}: string`)
    const others = parameters.filter(({ in: place }) => place === 'path' || place === 'query').map(({ name }) => `'${name}'`)
    const body = row.body === undefined ? '{}' : `Omit<${inputName(row)}, ${others.join(' | ')}>`
    return `  '${row.id}': { params: { ${params.join('; ')} }; body: ${body}; data: ${dataName(one)} }`
  })
  const unionOf = (name: string, item: string) => `export type ${name} = { [Id in keyof BatchTable]: ${item} }[keyof BatchTable]\n`
  return [
    '/** What each write of a batch takes, and what it answers. */',
    `interface BatchTable {\n${table.join('\n')}\n}\n`,
    '/** A write of `boards.batch`. An id can be `$0`: the id that the first write has created, and so on. */',
    unionOf('BatchOperation', "BatchWrite<Id, BatchTable[Id]['params'], BatchTable[Id]['body']>"),
    '/** What a write of `boards.batch` answers. Its `operation` tells which. */',
    unionOf('BatchResult', "BatchAnswer<Id, BatchTable[Id]['data']>"),
  ]
}

function interfaceOf(name: string, schema: JsonSchema): string {
  const members = membersOf(schema)
  const { extending } = schema as Keywords
  const head = `export interface ${name} ${extending === undefined ? '' : `extends ${extending} `}`
  const type = members.length > 0 ? `${head}${blockOf(members)}` : `export type ${name} = ${typeOf(schema)}`
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

/** What an input consists of: its members, and the types of the rest. */
interface Input {
  readonly members: readonly Member[]
  readonly types: readonly string[]
}

/** One for each form of the body. A body that has a type, or is no plain object, is added as it is. */
function inputsOf(operation: Described): Input[] {
  const { bodies } = operation
  return (bodies.length === 0 ? [undefined] : bodies).map((body) => {
    const isPlain = body === undefined || membersOf(body.schema).length > 0
    const all = inputMembers(operation, isPlain ? body?.schema : undefined)
    const ofBody = isPlain && body?.name === undefined ? [] : [body!.name ?? typeOf(body!.schema)]
    const inBody = body?.name === undefined ? [] : membersOf(body.schema).map(({ name }) => name)
    const selected = all.filter(({ name }) => name === FIELDS).map(({ schema }) => `Selection<${typeOf((schema as Keywords).items!)}>`)
    return { members: all.filter(({ name }) => name !== FIELDS && !inBody.includes(name)), types: [...ofBody, ...selected] }
  })
}

/** The members that several inputs have in the same way, by name. If a name has several meanings, it is the most frequent one. */
function commonMembers(all: readonly Described[]): ReadonlyMap<string, Member> {
  const members = all.flatMap((operation) => inputsOf(operation).flatMap((input) => input.members))
  const uses = new Map<string, number>()
  for (const member of members) uses.set(memberText(member), (uses.get(memberText(member)) ?? 0) + 1)
  const common = new Map<string, Member>()
  for (const member of members) {
    const known = common.get(member.name)
    const least = known === undefined ? 1 : uses.get(memberText(known))!
    if (uses.get(memberText(member))! > least) common.set(member.name, member)
  }
  return common
}

function commonType(common: ReadonlyMap<string, Member>): string {
  return `/** What several operations take. */\nexport interface CommonInput ${blockOf([...common.values()])}\n`
}

function inputType(operation: Described, common: ReadonlyMap<string, Member>): string[] {
  const isCommon = (member: Member) => common.has(member.name) && memberText(common.get(member.name)!) === memberText(member)
  const alternatives = inputsOf(operation).map(({ members, types }) => {
    const shared = members.filter(isCommon).map(({ name }) => `'${name}'`)
    const own = members.filter((member) => !isCommon(member))
    return [
      ...(shared.length > 0 ? [`Pick<CommonInput, ${shared.join(' | ')}>`] : []),
      ...(own.length > 0 ? [blockOf(own)] : []),
      ...types,
    ].join(' & ')
  })
  if (alternatives[0] === '') return []
  const text = `export type ${inputName(operation.row)} = ${alternatives.join(' | ')}`
  return text.includes('\n') ? [text, ''] : [text]
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
  const input = inputsOf(operation).some(({ members, types }) => members.length + types.length > 0) ? inputName(row) : '{}'
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
  const body = [...new Set(bodies.flatMap(({ schema }) => membersOf(schema).map(({ name }) => name)))]
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

/** The schema of the further members of each error, by its code. */
function errorMembers({ components: { schemas } }: OpenApiDocument): [string, JsonSchema] {
  const shared = new Set(['code', 'message', 'request_id'])
  const codes = Object.keys(errors) as ErrorCode[]
  const properties = codes.map((code) => {
    const members = membersOf(schemas[errorName(code)] ?? {}).filter(({ name }) => !shared.has(name))
    return [code, { ...objectOf(members), description: errors[code].message, additionalProperties: false }]
  })
  const description = 'The further members of errors, by code.'
  return ['ErrorMembers', { description, properties: Object.fromEntries(properties), required: codes }]
}
