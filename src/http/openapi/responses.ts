import { errors, type ErrorCode } from '../../model/errors.ts'
import { isList, type Operation } from '../../resources/operation.ts'
import { byStatus, isDownload } from './error-codes.ts'
import { errorName, FAILURE, pascalCase } from './error-schemas.ts'
import { BYTES_SCHEMA } from './for-generators.ts'
import type { RecordedExample, RecordedExamples } from './source.ts'
import { headersOf, type HeaderName } from './headers.ts'
import type { JsonSchema, Reference, ResponseObject } from './types.ts'

const DOWNLOAD_HEADERS: readonly HeaderName[] = [
  'ETag',
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Security-Policy',
  'Cross-Origin-Resource-Policy',
]

/** The headers that only the responses with a status have. */
const ERROR_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  409: ['Retry-After'],
  412: ['ETag'],
  415: ['Accept-Post', 'Accept-Patch', 'Accept-Encoding'],
  416: ['Content-Range'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/**
 * The responses of success.
 * @param dataName the name of the component of `data`, or of its items
 */
export function successResponses(
  operation: Operation,
  dataName: string | undefined,
  examples: RecordedExamples,
): Record<string, ResponseObject> {
  const example = examples.operations[operation.id]
  const notModified = { description: 'The copy of the client is current. There is no body.', headers: headersOf('ETag') }
  if (isDownload(operation)) {
    const content = { '*/*': { schema: BYTES_SCHEMA } }
    const whole = { description: 'The bytes of the file, with the media type that it was uploaded with.', content }
    const part = { description: 'The requested range of the file.', content }
    return {
      200: { ...whole, headers: headersOf(...DOWNLOAD_HEADERS) },
      206: { ...part, headers: headersOf(...DOWNLOAD_HEADERS, 'Content-Range') },
      304: notModified,
    }
  }
  if (operation.isStream) {
    const schema = { type: 'string', maxLength: Number.MAX_SAFE_INTEGER }
    const content = { 'text/event-stream': { schema, ...eventExample(examples.operations['boards.changes']) } }
    return {
      200: { description: 'A stream of events, each with a change of the board.', headers: headersOf('X-Accel-Buffering'), content },
    }
  }
  const { status, method, entity } = operation
  const isPage = isList(operation)
  const further: HeaderName[] = [
    ...(status === 201 ? (['Location'] as const) : []),
    ...(status === 201 || entity !== undefined || isPage ? (['ETag'] as const) : []),
    ...(operation.isRead ? [] : (['Idempotent-Replayed', 'Dry-Run'] as const)),
  ]
  const success: ResponseObject = {
    description: status === 201 ? 'It was created.' : isPage ? 'A page of the list.' : 'The request succeeded.',
    headers: headersOf(...further),
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${responseName(dataName!, isPage)}` },
        ...(example === undefined ? {} : { example: example.response }),
      },
    },
  }
  // A long poll that has found nothing.
  const nothing =
    operation.data.def.type === 'nullable' && status === 201
      ? { 200: { ...success, description: 'No card is ready.', headers: headersOf('Idempotent-Replayed', 'Dry-Run') } }
      : {}
  return { ...nothing, [status]: success, ...(method === 'GET' && (entity !== undefined || isPage) ? { 304: notModified } : {}) }
}

/** The last change that was recorded, as an event. Its id is the cursor after it. */
function eventExample(changes: RecordedExample | undefined): { readonly example?: string } {
  if (changes === undefined) return {}
  const { data, page } = changes.response as { readonly data: readonly unknown[]; readonly page: { readonly next_cursor: string } }
  return { example: `id: ${page.next_cursor}\nevent: change\ndata: ${JSON.stringify(data.at(-1))}\n\n` }
}

/** The name of the component of a whole response. */
export function responseName(dataName: string, isList: boolean): string {
  return `${dataName}${isList ? 'List' : ''}Response`
}

/**
 * The schema of a whole response.
 * @param page the schema of `page` in the response with a list
 */
export function responseSchema(dataName: string, isList: boolean, page: JsonSchema): JsonSchema {
  const item = { $ref: `#/components/schemas/${dataName}` }
  if (!isList) return { type: 'object', description: 'The response of success.', required: ['data'], properties: { data: item } }
  return {
    type: 'object',
    description: 'A page of a list.',
    required: ['data', 'page'],
    properties: {
      data: { type: 'array', description: 'The items of the page, in the order of the list.', maxItems: 100, items: item },
      page,
    },
  }
}

/** For clients that meet a status or a code of a later version. */
function otherFailure({ errors: { internal_error: example } }: RecordedExamples): ResponseObject {
  const schema = { $ref: `#/components/schemas/${FAILURE}` }
  return {
    description: 'Any other failure of the service has the same members. The answer of a proxy may have others.',
    content: { 'application/json': { schema, ...(example !== undefined && { example }) } },
  }
}

/** The responses of failure. Operations share them: each group of codes is a component. */
export class ErrorResponses {
  readonly components: Record<string, ResponseObject> = {}
  /** the codes of all responses so far */
  readonly codes = new Set<ErrorCode>()
  readonly #examples: RecordedExamples

  constructor(examples: RecordedExamples) {
    this.#examples = examples
  }

  of(codes: readonly ErrorCode[]): Record<string, ResponseObject | Reference> {
    for (const code of codes) this.codes.add(code)
    const known = [...byStatus(codes)].map(([status, group]) => [status, this.#shared(status, group)] as const)
    return { ...Object.fromEntries<ResponseObject | Reference>(known), default: otherFailure(this.#examples) }
  }

  #shared(status: number, codes: readonly ErrorCode[]): Reference {
    const name = codes.map(pascalCase).join('Or')
    this.components[name] ??= this.#response(status, codes)
    return { $ref: `#/components/responses/${name}` }
  }

  #response(status: number, codes: readonly ErrorCode[]): ResponseObject {
    const known = codes.filter((code) => this.#examples.errors[code] !== undefined)
    const examples = Object.fromEntries(known.map((code) => [code, { value: this.#examples.errors[code] }]))
    return {
      description: codes.map((code) => `\`${code}\`: ${errors[code].message}`).join('\n\n'),
      headers: headersOf(...(ERROR_HEADERS[status] ?? [])),
      content: { 'application/json': { schema: errorEnvelope(codes), ...(known.length > 0 && { examples }) } },
    }
  }
}

/** `{"error": …}` with one of these codes. */
function errorEnvelope(codes: readonly ErrorCode[]): JsonSchema {
  const references = codes.map((code) => ({ $ref: `#/components/schemas/${errorName(code)}` }))
  const mapping = Object.fromEntries(codes.map((code) => [code, `#/components/schemas/${errorName(code)}`]))
  const discriminator = { propertyName: 'code', mapping }
  const error = references.length === 1 ? references[0]! : { description: 'What has failed, and why.', oneOf: references, discriminator }
  return { type: 'object', required: ['error'], properties: { error } }
}
