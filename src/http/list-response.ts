import type { ListPage } from '../listing/pages.ts'
import type { OperationResult } from '../resources/result.ts'
import { jsonResponse, notModifiedResponse } from './envelope.ts'
import { selectFields } from './fields.ts'
import type { Incoming, ReadOnce } from './incoming.ts'
import { bodyOf, piecesOf, versionOf } from './json-body.ts'
import { isCurrent, requireMatch, revalidated, weakTag } from './preconditions.ts'

/** Whether a result is a page of a list. */
export function isPage(result: OperationResult<any>): result is OperationResult<any> & ListPage<unknown> {
  return result.nextCursor !== undefined
}

/**
 * Answers a GET of a list with a page, or with 304 if the client has it. A page has no revision, so its ETag is a hash of it.
 * It is weak: it is the same for each content coding, and no condition of a write.
 * @throws {ApiError} `precondition_failed`
 */
export function listResponse(
  { requestId, request: { headers } }: Incoming,
  status: number,
  { data, nextCursor }: ListPage<unknown>,
  { input, rates }: Pick<ReadOnce, 'input' | 'rates'>,
): Response {
  requireMatch(headers, undefined) // 412
  const pieces = piecesOf(selectFields(data, input?.fields))
  const version = versionOf(pieces, nextCursor)
  const all = Object.assign({}, rates?.headers, { etag: weakTag(version) }, revalidated(headers))
  if (isCurrent(headers, version)) return notModifiedResponse(requestId, all)
  return jsonResponse(requestId, status, bodyOf(pieces, nextCursor), all)
}
