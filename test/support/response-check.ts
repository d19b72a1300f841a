import { expect } from 'vitest'
import { z } from 'zod'
import { ApiError } from '../../src/model/errors.ts'
import { createRouteTable } from '../../src/http/routes.ts'
import type { Operation } from '../../src/resources/operation.ts'
import { operations } from '../../src/resources/table.ts'
import { defaultDocument, DocumentCheck } from './document-check.ts'

const route = createRouteTable(operations)
let documentCheck: DocumentCheck | undefined
const error = z.looseObject({ code: z.string(), message: z.string(), request_id: z.string() })

/**
 * Checks a response below /v1: the envelope of a failure and the message of a 409 against the row of its operation, and the whole
 * response against the OpenAPI document, which has the schemas of the rows. Every test client of the suite calls it, so neither the
 * rows nor the document can disagree with the service. A path that is not an operation is only checked for the envelope of failures.
 * @param path below /v1, with its query
 * @param exchange the headers of the response and the JSON of the request, if they are known. If the response is not within the
 *   limits of the API, because a test has written to the storage, it is not compared with the document.
 */
export function checkResponse(
  method: string,
  path: string,
  status: number,
  body: any,
  {
    isWithinLimits = true,
    ...exchange
  }: { readonly headers?: Headers; readonly requestBody?: unknown; readonly isWithinLimits?: boolean } = {},
): void {
  const operation = operationOf(method, path.split('?')[0]!)
  const hasFields = status < 300 && new URLSearchParams(path.split('?')[1]).has('fields')
  if (status >= 400 && body !== undefined) checkFailure(operation, `${method} ${path}`, status, body)
  if (operation === undefined || !isWithinLimits) return
  documentCheck ??= new DocumentCheck(defaultDocument())
  documentCheck.check(method, operation.path, { status, body, hasFields, ...exchange })
}

function checkFailure(operation: Operation | undefined, request: string, status: number, body: any): void {
  expectMembers(body, ['error'], `${request}: the members of a failure`)
  error.parse(body.error)
  if (operation !== undefined && status === 409 && body.error.code === 'conflict')
    expect(operation.conflicts, `${operation.id}: the conflicts that its row states`).toContain(body.error.message)
}

/** Compares before it calls `expect`, which takes as long as a request in memory: it runs for every response of the suites. */
function expectMembers(body: object, members: readonly string[], message: string): void {
  const actual = Object.keys(body)
  if (actual.join() !== members.join()) expect(actual, message).toEqual(members)
}

function operationOf(method: string, path: string) {
  const found = route(method, path)
  return found instanceof ApiError ? undefined : found.operation
}
