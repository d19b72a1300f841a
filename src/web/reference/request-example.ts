import type { OpenApiDocument } from '../../http/openapi/types.ts'
import { parametersOf, responsesOf, type PlacedOperation } from './operations.ts'

/** A request for an operation: the one that was recorded, or one with the ids that were recorded of others. */
export interface RequestExample {
  /** the id of the operation */
  readonly id: string
  readonly method: string
  /** below /v1, with `{name}` for each parameter */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, number>>
  /** its JSON; undefined if it has no body */
  readonly body: Readonly<Record<string, unknown>> | undefined
  readonly answer: 'item' | 'list' | 'bytes' | 'events'
  /** the list has a last page */
  readonly hasCursor: boolean
  readonly takesUpload: boolean
  /** the id of the operation that reads what this one changes, with its ETag; undefined if there is none */
  readonly read: string | undefined
}

/** The number of items that the recorded examples of lists ask for. */
const ITEMS = 2

export function requestExample(document: OpenApiDocument, { method, path, operation }: PlacedOperation): RequestExample {
  const parameters = parametersOf(document, operation)
  const names = new Set(parameters.map(({ name }) => name))
  const content = operation.requestBody?.content ?? {}
  const [success] = responsesOf(document, operation)
  const isList = names.has('limit')
  return {
    id: operation.operationId,
    method,
    path,
    params: Object.fromEntries(parameters.filter((one) => one.in === 'path').map(({ name, example }) => [name, String(example)])),
    query: isList ? { limit: ITEMS } : {},
    body: content['application/json']?.example as RequestExample['body'],
    answer: answerOf(Object.keys(success?.content ?? {}), isList),
    hasCursor: names.has('cursor'),
    takesUpload: content['multipart/form-data'] !== undefined,
    read: method === 'PATCH' ? document.paths[path]?.['get']?.operationId : undefined,
  }
}

function answerOf(types: readonly string[], isList: boolean): RequestExample['answer'] {
  if (types.includes('text/event-stream')) return 'events'
  if (!types.includes('application/json')) return 'bytes'
  return isList ? 'list' : 'item'
}
