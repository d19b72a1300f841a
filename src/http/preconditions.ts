import { ApiError } from '../model/errors.ts'

/** A strong ETag: the revision of a record (RFC 9110 §8.8.3). */
function entityTag(revision: string): string {
  return `"${revision}"`
}

/**
 * Checks the If-Match of a request (RFC 9110 §13.1.1). The commit of a write expects the same revision, so exactly one of
 * two writers with the same ETag succeeds.
 * @param revision of the path's target; undefined if that has no ETag, so that nothing matches
 * @throws {ApiError} `precondition_failed`, with the current ETag
 */
export function requireMatch(headers: Headers, revision: string | undefined): void {
  const condition = headers.get('if-match')
  if (condition === null || condition === '*') return
  if (revision === undefined)
    throw new ApiError('precondition_failed', { message: 'The target of this request has no ETag, so no If-Match can match: omit it.' })
  const tag = entityTag(revision)
  // Strong comparison: a weak tag never matches.
  if (!tagsOf(condition).includes(tag))
    throw new ApiError('precondition_failed', { headers: { etag: tag }, members: { current_etag: tag } })
}

/**
 * Checks the If-None-Match of a write (RFC 9110 §13.1.2): it is for resources that should not exist, or should have changed.
 * @throws {ApiError} `precondition_failed`, with the current ETag if there is one
 */
export function requireNoMatch(headers: Headers, revision: string | undefined): void {
  if (headers.get('if-none-match') !== '*' && !isCurrent(headers, revision)) return
  const current = revision === undefined ? {} : { headers: { etag: entityTag(revision) }, members: { current_etag: entityTag(revision) } }
  throw new ApiError('precondition_failed', { message: 'The current state of the resource matches If-None-Match.', ...current })
}

/** Whether the client's copy is current, by If-None-Match (RFC 9110 §13.1.2). */
export function isCurrent(headers: Headers, revision: string | undefined): boolean {
  const condition = headers.get('if-none-match')
  if (condition === null || revision === undefined) return false
  return condition === '*' || tagsOf(condition).some((tag) => tag.replace(/^W\//, '') === entityTag(revision))
}

/** The headers of a response that has an ETag. A client that revalidates may keep its copy. */
export function entityHeaders(headers: Headers, revision: string | undefined): Record<string, string> {
  if (revision === undefined) return {}
  const etag = entityTag(revision)
  return headers.has('if-none-match') ? { etag, 'cache-control': 'private, no-cache' } : { etag }
}

function tagsOf(header: string): string[] {
  return header.split(',').map((tag) => tag.trim())
}
