import { jsonResponse, notModifiedResponse } from './envelope.ts'
import { bodyOf, versionOf, type Pieces } from './json-body.ts'
import { isCurrent, revalidated, weakTag } from './preconditions.ts'

/**
 * Answers a GET of a list with a page, or with 304 if the client has it. A page has no revision, so its ETag is a hash of it.
 * It is weak: it is the same for each content coding, and no condition of a write.
 * @param shared headers besides those of every response
 */
export function listResponse(
  requestId: string,
  headers: Headers,
  status: number,
  pieces: Pieces,
  nextCursor: string | null,
  shared: Readonly<Record<string, string>>,
): Response {
  const version = versionOf(pieces, nextCursor)
  const all = Object.assign({}, shared, { etag: weakTag(version) }, revalidated(headers))
  if (isCurrent(headers, version)) return notModifiedResponse(requestId, all)
  return jsonResponse(requestId, status, bodyOf(pieces, nextCursor), all)
}
