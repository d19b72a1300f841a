import { createHash, randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { H3 } from 'h3'
import type { Logger } from 'pino'
import { FastResponse, type ServerRequest } from 'srvx'
import { ApiError, notFound } from '../../model/errors.ts'
import { errorResponse } from '../envelope.ts'
import { toApiError } from '../error-mapping.ts'
import { isCurrent } from '../preconditions.ts'
import type { DocumentSource } from './source.ts'
import type { OpenApiDocument } from './types.ts'

/** How long a client may use its copy without asking, in seconds. The document changes only with the version or the settings. */
const MAX_AGE = 300

/** The document, with its text. It is made when it is first asked for: a start should not wait for it. */
export class ReferenceDocument {
  readonly #source: DocumentSource
  #made: Promise<{ readonly document: OpenApiDocument; readonly text: string }> | undefined

  constructor(source: DocumentSource) {
    this.#source = source
  }

  async document(): Promise<OpenApiDocument> {
    return (await this.#make()).document
  }

  /** The document as JSON. */
  async text(): Promise<string> {
    return (await this.#make()).text
  }

  #make(): Promise<{ readonly document: OpenApiDocument; readonly text: string }> {
    return (this.#made ??= this.#create())
  }

  async #create() {
    const { createDocument } = await import('./document.ts')
    const document = createDocument(this.#source)
    return { document, text: JSON.stringify(document) }
  }
}

/**
 * `GET /openapi.json` and `GET /llms.txt`, outside /v1 and without a token: what an agent needs besides the base URL and a token.
 * @param origin the public origin; undefined: that of each request
 */
export function serveDocument(h3: H3, log: Logger, reference: ReferenceDocument, origin: string | undefined): void {
  const serve = (path: string, type: string, makeText: (request: ServerRequest) => Promise<string>) =>
    h3.all(path, ({ req, url }) => respond(log, req, type, () => (url.pathname === path ? makeText(req) : Promise.reject(notFound()))))
  serve('/openapi.json', 'application/json; charset=utf-8', () => reference.text())
  serve('/llms.txt', 'text/plain; charset=utf-8', async (req) => {
    const { createLlmsText } = await import('./llms.ts')
    return createLlmsText(await reference.document(), origin ?? `http://${req.headers.get('host') ?? new URL(req.url).host}`)
  })
}

/** Answers GET and HEAD with a text that any client may read and keep. */
async function respond(log: Logger, request: ServerRequest, type: string, makeText: () => Promise<string>): Promise<Response> {
  const requestId = randomUUID()
  try {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new ApiError('method_not_allowed', { headers: { allow: 'GET, HEAD' } })
    const text = await makeText()
    const revision = createHash('sha256').update(text).digest('hex')
    const shared = {
      etag: `"${revision}"`,
      'cache-control': `public, max-age=${MAX_AGE}`,
      'x-content-type-options': 'nosniff',
      'x-request-id': requestId,
    }
    if (isCurrent(request.headers, revision))
      return new FastResponse(null, { status: 304, statusText: STATUS_CODES[304]!, headers: shared })
    const headers = { ...shared, 'content-type': type, 'content-length': String(Buffer.byteLength(text)) }
    return new FastResponse(request.method === 'HEAD' ? null : text, { status: 200, statusText: STATUS_CODES[200]!, headers })
  } catch (error) {
    return errorResponse(requestId, toApiError(log, requestId, error))
  }
}
