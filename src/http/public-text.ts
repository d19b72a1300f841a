import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { ServerRequest } from 'srvx'
import { sha256Hex } from '../auth/secrets.ts'
import { ApiError } from '../model/errors.ts'
import { CompressibleResponse, HttpResponse } from './compression.ts'
import { errorResponse } from './envelope.ts'
import { toApiError } from './error-mapping.ts'
import { currentTag } from './preconditions.ts'

/** How long a client may use its copy without asking, in seconds. A text changes only with the version or the settings. */
const MAX_AGE = 300
/** How long it may use a copy whose address has the version of the text. */
const FOR_GOOD = 'max-age=31536000, immutable'

/**
 * A text outside /v1 that any client may read and keep. Its compressed forms are kept with it: it costs next to nothing to send it again.
 */
export interface PublicText {
  readonly type: string
  readonly bytes: Uint8Array
  /** its ETag */
  readonly revision: string
  readonly status: 200 | 404
  /** whether it is sent again, so that it is worth to compress it; default: true */
  readonly isKept?: boolean
}

export function publicText(type: string, text: string, status: PublicText['status'] = 200): PublicText {
  return { type, bytes: Buffer.from(text), status, revision: sha256Hex(text) }
}

/** The version of a text. With it as its query, the address of a text is another one when the text has changed. */
export function versionOf({ revision }: Pick<PublicText, 'revision'>): string {
  return revision.slice(0, 16)
}

/**
 * Answers GET and HEAD with a text, and with 304 if the client has it.
 * @param headers further headers, names in lower case
 * @returns the response; it never throws
 */
export async function respondWithText(
  log: Logger,
  request: ServerRequest,
  find: () => PublicText | Promise<PublicText>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const requestId = randomUUID()
  try {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new ApiError('method_not_allowed', { headers: { allow: 'GET, HEAD' } })
    const found = await find()
    const { type, bytes, status, revision, isKept = true } = found
    const current = status === 200 ? currentTag(request.headers, revision) : undefined
    const shared = {
      'x-content-type-options': 'nosniff',
      ...headers,
      'cache-control':
        status === 200 ? `public, ${request.url.endsWith(`?${versionOf(found)}`) ? FOR_GOOD : `max-age=${MAX_AGE}`}` : 'no-store',
      etag: current ?? `"${revision}"`,
      vary: 'Accept-Encoding',
      'x-request-id': requestId,
    }
    if (current !== undefined) return new HttpResponse(null, { status: 304, headers: shared })
    const all = { ...shared, 'content-type': type, 'content-length': String(bytes.byteLength) }
    if (!isKept) return new HttpResponse(bytes as Uint8Array<ArrayBuffer>, { status, headers: all })
    return new CompressibleResponse(bytes, status, Object.entries(all).flat(), found)
  } catch (error) {
    return errorResponse(requestId, toApiError(log, requestId, error))
  }
}
