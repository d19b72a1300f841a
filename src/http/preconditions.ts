import { ApiError } from '../model/errors.ts'

/** A strong ETag, made of a record's own revision (RFC 9110 §8.8.3). */
function entityTag(revision: string): string {
  return `"${revision}"`
}

/**
 * Holds a write against If-Match (RFC 9110 §13.1.1). The commit expects the same revision, so of two writers
 * with one ETag exactly one wins.
 * @param revision of what the path names; undefined where that has no ETag, which then matches none
 * @throws {ApiError} `precondition_failed`, with the present ETag
 */
export function requireMatch(headers: Headers, revision: string | undefined): void {
  const wanted = headers.get('if-match')
  if (wanted === null || wanted.trim() === '*') return
  const tag = revision === undefined ? undefined : entityTag(revision)
  // Strong comparison: a weak tag matches nothing.
  if (tag !== undefined && listed(wanted).includes(tag)) return
  throw new ApiError(
    'precondition_failed',
    tag === undefined
      ? { message: 'There is nothing here yet that an If-Match could match: leave it out.' }
      : { headers: { etag: tag }, members: { current_etag: tag } },
  )
}

/** Whether what the client has is what there is (If-None-Match, RFC 9110 §13.1.2). */
export function isCurrent(headers: Headers, revision: string | undefined): boolean {
  const known = headers.get('if-none-match')
  if (known === null || revision === undefined) return false
  return known.trim() === '*' || listed(known).some((tag) => tag.replace(/^W\//, '') === entityTag(revision))
}

/** The headers of an answer that has an ETag. One that was asked for by its ETag may be kept for the next time. */
export function entityHeaders(headers: Headers, revision: string | undefined): Record<string, string> {
  if (revision === undefined) return {}
  const etag = entityTag(revision)
  return headers.has('if-none-match') ? { etag, 'cache-control': 'private, no-cache' } : { etag }
}

function listed(header: string): string[] {
  return header.split(',').map((tag) => tag.trim())
}
