import type { z } from 'zod'
import { OWN_ID, userIdPattern } from '../../model/fields.ts'
import { idPattern, kindOfParameter } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Engine } from '../../policy/engine.ts'
import { isList, namesInPath, writesToCard, type Operation } from '../../resources/operation.ts'
import { errorCodesOf, hasData, isDownload, type ForbiddablePermissions } from './error-codes.ts'
import type { RecordedExample, RecordedExamples } from './source.ts'
import { selectableFields } from '../fields.ts'
import { requestHeaderReferences } from './headers.ts'
import { notes } from './notes.ts'
import { successResponses, type ErrorResponses } from './responses.ts'
import { convertOne } from './schemas.ts'
import type { JsonSchema, OperationObject, ParameterObject, Reference } from './types.ts'

/** What the description of an operation is made from. */
export interface OperationSource {
  readonly engine: Engine
  readonly examples: RecordedExamples
  readonly errorResponses: ErrorResponses
  readonly forbiddable: ForbiddablePermissions
  /** the maximum size of an upload in bytes */
  readonly uploadBytes: number
  /** the names of the components of schemas: of `data` or its items, and of bodies */
  readonly nameOf: (schema: z.ZodType) => string
}

/** The name of the security scheme. */
export const TOKEN = 'accessToken'

/** The paragraph of a description that lists the messages of conflicts begins with this. */
export const CONFLICT_MESSAGES = 'The message of a `conflict` (409) is one of these:'

/** The description of an operation. */
export function describeOperation(source: OperationSource, operation: Operation): OperationObject {
  const { engine, examples, errorResponses, forbiddable } = source
  const { id, needs, row, also, summary, conflicts } = operation
  const { scopeOrder } = engine.vocabulary
  const scope = engine.checkScope(needs.join(' '), { [scopeOrder.name]: scopeOrder.values[0]! })
  const example = examples.operations[id]
  const body = requestBody(source, operation, example)
  const item = hasData(operation) ? itemOf(operation.data) : undefined
  return {
    operationId: id,
    summary: summary.split(/(?<=\.) /)[0]!.replace(/\.$/, ''),
    description: [
      summary,
      notes[id],
      conflicts.length === 0 ? undefined : [CONFLICT_MESSAGES, ...conflicts.map((text) => `- ${text}`)].join('\n'),
      `Requires the scope \`${scope.required}\` (row ${scope.row}). Row ${row}: ${rowText(engine, row)}.`,
      ...furtherRows(engine, also),
    ]
      .filter((text) => text !== undefined)
      .join('\n\n'),
    tags: [tagOf(id)],
    security: [{ [TOKEN]: [scope.required] }],
    parameters: [
      ...pathParameters(operation, examples),
      ...queryParameters(operation),
      ...fieldsParameter(operation),
      ...conditions(operation),
    ],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...successResponses(operation, item && source.nameOf(item), examples),
      ...errorResponses.of(errorCodesOf(forbiddable, operation)),
    },
    'x-rows': {
      scope: scope.row,
      permission: row,
      ...(also.length > 0 && { also: Object.fromEntries(also.map((further) => [further.member, further.row])) }),
    },
  }
}

/** `board_members.add` → `board_members` */
export function tagOf(id: string): string {
  return id.split('.')[0]!
}

/** The schema of `data`; for a list, of its items. */
export function itemOf(data: z.ZodType): z.ZodType {
  return data.def.type === 'array' ? (data.def as unknown as { element: z.ZodType }).element : data
}

/** What the rows say of items that the body names in addition: members with the same row share a sentence. */
function furtherRows(engine: Engine, also: Operation['also']): string[] {
  const lists = also.filter(({ member }) => !ONE.test(member))
  const rows = [...new Set(lists.map(({ row }) => row))]
  const ofLists = rows.map((row) => {
    const members = lists.filter((further) => further.row === row).map(({ member }) => `\`${member}\``)
    return `Each item of ${members.join(', ')} is decided in addition, as by the operation that adds it to a card. Row ${row}: ${rowText(engine, row)}.`
  })
  const ofOne = also
    .filter(({ member }) => ONE.test(member))
    .map(
      ({ member, permission, row }) =>
        `If \`${member}\` causes it, \`${permission}\` is decided in addition. Row ${row}: ${rowText(engine, row)}.`,
    )
  return [...ofLists, ...ofOne]
}

/** A member that names one thing, and not a list of them. */
const ONE = /_id$/

function rowText({ vocabulary }: Engine, row: string): string {
  return vocabulary.rows.get(row)!.words.replace('(extension) ', '')
}

/** The example of a download, which is not recorded, has the ids of others. */
function pathParameters({ id, path }: Operation, { operations }: RecordedExamples): ParameterObject[] {
  const recorded = [operations[id], ...Object.values(operations)]
  return namesInPath(path).map((name) => {
    const kind = kindOfParameter(name)
    if (kind === undefined) throw new Error(`${path}: "${name}" is not the id of a known kind`)
    const value = recorded.find((example) => example?.params[name] !== undefined)?.params[name]
    const own = kind === 'user' ? ` \`${OWN_ID}\` is the user of the token.` : ''
    return {
      name,
      in: 'path',
      required: true,
      description: `The id of the ${name.replace(/_id$/, '')}.${own} A malformed one is answered like an absent one, with 404.`,
      schema: {
        type: 'string',
        pattern: kind === 'user' ? userIdPattern : idPattern(kind),
        minLength: kind === 'user' ? OWN_ID.length : 24,
        maxLength: 24,
      },
      ...(value === undefined ? {} : { example: value }),
    }
  })
}

function queryParameters({ query }: Operation): ParameterObject[] {
  const { properties = {}, required = [] } = convertOne(query, 'input') as {
    properties?: Record<string, JsonSchema>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description: schema['type'] === 'array' ? `${description as string} ${LIST_NOTE}` : (description as string),
    ...(required.includes(name) ? { required: true } : {}),
    ...(schema['type'] === 'array' ? LIST : {}),
    schema,
  }))
}

/** How a list is written: its parameter repeated, as generated clients do, or one text with commas. The document can state one of both. */
const LIST = { style: 'form', explode: true } as const
const LIST_NOTE = 'The parameter can be repeated, or its values separated by commas.'

/** The members that a GET can be asked for. */
function fieldsParameter(operation: Operation): ParameterObject[] {
  const names = [...selectableFields(operation)]
  if (names.length === 0) return []
  return [
    {
      name: 'fields',
      in: 'query',
      description: `Only these top-level members of the resource, or of each item of the list; its \`id\` is always one of them. The others are absent, also those that the schema requires. The ETag of a resource stays the same. ${LIST_NOTE}`,
      ...LIST,
      schema: { type: 'array', minItems: 1, maxItems: names.length, items: { type: 'string', enum: names } },
    },
  ]
}

/**
 * The headers of a request. If-Match protects the resource of the path, or the parent of a created resource. (If-None-Match on writes and
 * If-Match on reads are described for all operations at once.)
 */
function conditions(operation: Operation): Reference[] {
  if (isDownload(operation)) return requestHeaderReferences('IfNoneMatch', 'Range', 'IfRange')
  const { isRead } = operation
  const hasTag = operation.entity !== undefined || (isRead && isList(operation))
  const conditional = hasTag ? requestHeaderReferences(isRead ? 'IfNoneMatch' : 'IfMatch') : []
  if (isRead) return conditional
  const claim = writesToCard(operation) ? requestHeaderReferences('IfClaim') : []
  return [...conditional, ...claim, ...requestHeaderReferences('IdempotencyKey')]
}

function requestBody(
  { nameOf, uploadBytes }: OperationSource,
  { body, isBodyOptional, takesUpload }: Operation,
  example: RecordedExample | undefined,
): OperationObject['requestBody'] {
  if (body === undefined) return undefined
  const content = {
    schema: { $ref: `#/components/schemas/${nameOf(body)}` },
    ...(example?.body === undefined ? {} : { example: example.body }),
  }
  if (takesUpload) {
    const description = `A form with the file, of at most ${uploadBytes} bytes. Other parts are refused.`
    return { description, required: true, content: { 'multipart/form-data': content } }
  }
  const size = `Unknown members are refused. At most ${limits.jsonBytes} bytes, ${limits.jsonMembers} members and ${limits.jsonDepth} levels.`
  const description = isBodyOptional ? `It may be left out. ${size}` : size
  return { description, required: !isBodyOptional, content: { 'application/json': content } }
}
