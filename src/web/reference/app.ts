import { createHash, randomUUID } from 'node:crypto'
import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { Logger } from 'pino'
import { FastResponse, type ServerRequest } from 'srvx'
import { errorResponse } from '../../http/envelope.ts'
import { toApiError } from '../../http/error-mapping.ts'
import type { ReferenceDocument } from '../../http/openapi/serve.ts'
import { isCurrent } from '../../http/preconditions.ts'
import { ApiError } from '../../model/errors.ts'
import { html } from '../html.ts'
import { securityHeaders } from '../security-headers.ts'
import { style } from '../style.ts'
import { referenceScript, referenceStyle } from './assets.ts'
import { operationPage, operationsOf } from './operation-page.ts'
import { overviewPage } from './overview-page.ts'

const HTML = 'text/html; charset=utf-8'
const assets: Readonly<Record<string, Content | undefined>> = {
  '/docs/assets/style.css': { type: 'text/css; charset=utf-8', text: style + referenceStyle },
  '/docs/assets/script.js': { type: 'text/javascript; charset=utf-8', text: referenceScript },
}

interface Content {
  readonly type: string
  readonly text: string
  /** default: 200 */
  readonly status?: number
}

/**
 * The reference of the API for people, at `/docs`: a page for each operation, made from the OpenAPI document. It reads no cookie
 * and needs no JavaScript, except to try an operation.
 * @param configuredOrigin the public origin; undefined: that of each request
 * @returns the handler of every request of `/docs` and below; it never throws
 */
export function createReference(
  log: Logger,
  reference: ReferenceDocument,
  configuredOrigin: string | undefined,
): (request: ServerRequest, path: string) => Promise<Response> {
  return async (request, path) => {
    const requestId = randomUUID()
    const origin = configuredOrigin ?? `http://${request.headers.get('host') ?? new URL(request.url).host}`
    try {
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw new ApiError('method_not_allowed', { headers: { allow: 'GET, HEAD' } })
      return respond(request, requestId, origin, assets[path] ?? (await renderPage(reference, path, origin)))
    } catch (error) {
      return errorResponse(requestId, toApiError(log, requestId, error))
    }
  }
}

async function renderPage(reference: ReferenceDocument, path: string, origin: string): Promise<Content> {
  const document = await reference.document()
  if (path === '/docs') return page(document.info.title, overviewPage(document, origin))
  const id = path.slice('/docs/'.length)
  const found = operationsOf(document).find(({ operation }) => operation.operationId === id)
  if (found !== undefined) return page(id, operationPage(document, found))
  const absent = html`<h1>Page not found</h1>
    <p role="alert">There is no such operation.</p>
    <p><a href="/docs">All operations</a></p>`
  return { ...page('Page not found', absent as VNode), status: 404 }
}

function page(title: string, body: VNode): Content {
  const whole = html`
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Lanekeeper API</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/docs/assets/style.css" />
        <script src="/docs/assets/script.js" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        <header>
          <p class="brand"><a href="/docs">Lanekeeper</a> <span>API reference</span></p>
        </header>
        <main id="main" tabindex="-1">${body}</main>
      </body>
    </html>
  `
  return { type: HTML, text: `<!doctype html>${renderToString(whole as VNode)}` }
}

function respond(request: ServerRequest, requestId: string, origin: string, { type, text, status = 200 }: Content): Response {
  const revision = createHash('sha256').update(text).digest('hex')
  const { vary: _cookies, ...security } = securityHeaders(origin)
  const shared = {
    ...security,
    // The pages of the web app send no requests; here "Try it" does, and no form is submitted.
    'content-security-policy': security['content-security-policy']!.replace("form-action 'self'", "form-action 'none'; connect-src 'self'"),
    'cache-control': status === 200 ? 'public, max-age=300' : 'no-store',
    etag: `"${revision}"`,
    'x-request-id': requestId,
  }
  if (status === 200 && isCurrent(request.headers, revision)) return new FastResponse(null, { status: 304, headers: shared })
  const headers = { ...shared, 'content-type': type, 'content-length': String(Buffer.byteLength(text)) }
  return new FastResponse(request.method === 'HEAD' ? null : text, { status, headers })
}
