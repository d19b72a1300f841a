import { LRUCache } from 'lru-cache'
import type { VNode } from 'preact'
import type { Logger } from 'pino'
import type { ServerRequest } from 'srvx'
import type { ReferenceDocument } from '../../http/openapi/serve.ts'
import { publicText, respondWithText, type PublicText } from '../../http/public-text.ts'
import { originOf } from '../../http/request-target.ts'
import { renderBrand } from '../brand.ts'
import { html, renderShell } from '../html.ts'
import { securityHeaders } from '../security-headers.ts'
import { style } from '../style.ts'
import { referenceScript, referenceStyle } from './assets.ts'
import { operationPage, operationsOf } from './operation-page.ts'
import { overviewPage } from './overview-page.ts'

const assets: Readonly<Record<string, PublicText | undefined>> = {
  '/docs/assets/style.css': publicText('text/css; charset=utf-8', style + referenceStyle),
  '/docs/assets/script.js': publicText('text/javascript; charset=utf-8', referenceScript),
}
/** The number of pages that are kept. The first page depends on the origin, which clients can vary. */
const KEPT_PAGES = 200

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
  // A client without a token must not make each of its requests render a page, which takes milliseconds.
  const pages = new LRUCache<string, PublicText>({ max: KEPT_PAGES })
  const find = async (path: string, origin: string): Promise<PublicText> => {
    const key = path === '/docs' ? `${path} ${origin}` : path
    const found = assets[path] ?? pages.get(key)
    if (found !== undefined) return found
    const page = await renderPage(reference, path, origin)
    if (page.status === 200) pages.set(key, page)
    return page
  }
  return (request, path) => {
    const origin = originOf(request, configuredOrigin)
    const { vary: _cookies, ...security } = securityHeaders(origin)
    // "Try it" sends requests. No form is submitted.
    const policy = security['content-security-policy']!.replace("form-action 'self'", "form-action 'none'")
    return respondWithText(log, request, () => find(path, origin), { ...security, 'content-security-policy': policy })
  }
}

async function renderPage(reference: ReferenceDocument, path: string, origin: string): Promise<PublicText> {
  const document = await reference.document()
  if (path === '/docs') return page(document.info.title, overviewPage(document, origin))
  const id = path.slice('/docs/'.length)
  const found = operationsOf(document).find(({ operation }) => operation.operationId === id)
  if (found !== undefined) return page(id, operationPage(document, found))
  const absent = html`<h1>Page not found</h1>
    <p role="alert">There is no such operation.</p>
    <p><a href="/docs">All operations</a></p>`
  return page('Page not found', absent as VNode, 404)
}

function page(title: string, body: VNode, status?: 404): PublicText {
  const header = html`<p class="brand">${renderBrand()}<a href="/docs">Lanekeeper</a> <span>API reference</span></p>
    <p class="aside"><a href="/">Home</a></p>`
  return publicText(
    'text/html; charset=utf-8',
    renderShell({ title: `${title} · Lanekeeper API`, assets: '/docs/assets', header, body }),
    status,
  )
}
