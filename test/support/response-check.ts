import { expect } from 'vitest'
import { z } from 'zod'
import { ApiError } from '../../src/model/errors.ts'
import { createRouteTable } from '../../src/http/routes.ts'
import { operations } from '../../src/resources/table.ts'

const route = createRouteTable(operations)
const page = z.strictObject({ next_cursor: z.string().nullable() })
const error = z.looseObject({ code: z.string(), message: z.string(), request_id: z.string() })

/**
 * Checks a response below /v1 against the row of its operation: the envelope, the schema of `data` and the status of a
 * success, and the message of a 409. Every test client of the suite calls it, so the rows cannot disagree with the
 * service. A path that is not an operation is only checked for the envelope of failures.
 * @param path below /v1, with its query
 */
export function checkResponse(method: string, path: string, status: number, body: any): void {
  if (status === 304 || body === undefined) return
  if (status >= 400 && body !== undefined) {
    expect(Object.keys(body), `${method} ${path}: the members of a failure`).toEqual(['error'])
    error.parse(body.error)
  }
  const operation = operationOf(method, path.split('?')[0]!)
  if (operation === undefined) return
  if (status === 409) expect(operation.conflicts, `${operation.id}: the conflicts that its row states`).toContain(body.error.message)
  // A download is the file itself, not the envelope.
  if (status >= 300 || operation.data instanceof z.ZodUndefined) return
  const list = operation.data instanceof z.ZodArray
  expect([operation.id, status, Object.keys(body)]).toEqual([operation.id, operation.status, list ? ['data', 'page'] : ['data']])
  const problems = operation.data.safeParse(body.data).error?.issues ?? []
  expect(problems, `${operation.id}: its data does not match the schema of its row`).toEqual([])
  if (list) page.parse(body.page)
}

function operationOf(method: string, path: string) {
  const found = route(method, path)
  return found instanceof ApiError ? undefined : found.operation
}
