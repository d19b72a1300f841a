import { LRUCache } from 'lru-cache'
import type { VNode } from 'preact'
import type { ServerRequest } from 'srvx'
import type { ReferenceDocument } from '../../http/openapi/serve.ts'
import type { OpenApiDocument } from '../../http/openapi/types.ts'
import { publicText, respondWithText, type PublicText } from '../../http/public-text.ts'
import { originOf } from '../../http/request-target.ts'
import { readAsset } from '../assets.ts'
import { html } from '../html.ts'
import type { WebOptions } from '../page-context.ts'
import { securityHeaders } from '../security-headers.ts'
import { errorsPage } from './errors-page.ts'
import { renderPage } from './frame.ts'
import { operationPage } from './operation-page.ts'
import { operationsOf } from './operations.ts'
import { overviewPage } from './overview-page.ts'
import { searchIndex, searchPage } from './search.ts'

const assets: Readonly<Record<string, PublicText | undefined>> = {
  '/docs/assets/style.css': publicText(
    'text/css; charset=utf-8',
    readAsset('colors.css') + readAsset('base.css') + readAsset('reference.css'),
  ),
  '/docs/assets/theme.js': publicText('text/javascript; charset=utf-8', readAsset('theme.js')),
  '/docs/assets/script.js': publicText('text/javascript; charset=utf-8', readAsset('reference.js')),
}
/** The number of pages that are kept: some have the origin, which clients can vary. */
const KEPT_PAGES = 200

/**
 * The reference of the API for people, at `/docs`: a page for each operation, made from the OpenAPI document. It reads no cookie and
 * needs no JavaScript, except to try an operation.
 * @param options the public origin, undefined: that of each request; and whether the rows of the policy can be linked to
 * @returns the handler of every request of `/docs` and below; it never throws
 */
export function createReference(
  { log, origin: configuredOrigin, hasPolicyPage }: Pick<WebOptions, 'log' | 'origin' | 'hasPolicyPage'>,
  reference: ReferenceDocument,
): (request: ServerRequest, url: URL) => Promise<Response> {
  // A client without a token must not make each of its requests render a page, which takes milliseconds.
  const pages = new LRUCache<string, PublicText>({ max: KEPT_PAGES })
  let renderedFrom: OpenApiDocument | undefined
  const find = async ({ pathname: path, searchParams }: URL, origin: string): Promise<PublicText> => {
    const asset = assets[path]
    if (asset !== undefined) return asset
    const document = await reference.document()
    // Another policy makes another document.
    if (renderedFrom !== document) pages.clear()
    renderedFrom = document
    const query = path === '/docs' ? (searchParams.get('q') ?? '').trim() : ''
    if (query !== '') return searchResults(document, query)
    const key = `${path} ${origin}`
    const found = pages.get(key)
    if (found !== undefined) return found
    const page = makePage(document, path, { origin, hasPolicyPage })
    if (page.status === 200) pages.set(key, page)
    return page
  }
  return (request, url) => {
    const origin = originOf(request, configuredOrigin)
    const { vary: _cookies, ...security } = securityHeaders(origin)
    return respondWithText(log, request, () => find(url, origin), security)
  }
}

function makePage(document: OpenApiDocument, path: string, options: { origin: string; hasPolicyPage: boolean }): PublicText {
  const page = (title: string, body: VNode, status?: 404) => htmlText(renderPage(document, { title, path, body }), status)
  if (path === '/docs') return page(document.info.title, overviewPage(document, options.origin))
  if (path === '/docs/errors') return page('Errors', errorsPage(document))
  if (path === '/docs/assets/search.json') return publicText('application/json; charset=utf-8', JSON.stringify(searchIndex(document)))
  const id = path.slice('/docs/'.length)
  const found = operationsOf(document).find(({ operation }) => operation.operationId === id)
  if (found !== undefined) return page(id, operationPage(document, found, options))
  const absent = html`<h1>Page not found</h1>
    <p role="alert">There is no such operation.</p>
    <p><a href="/docs">All operations</a></p>`
  return page('Page not found', absent, 404)
}

/** They are not kept: clients can vary the query. */
function searchResults(document: OpenApiDocument, query: string): PublicText {
  return htmlText(renderPage(document, { title: 'Search', path: '', query, body: searchPage(document, query) }))
}

function htmlText(text: string, status?: 404): PublicText {
  return publicText('text/html; charset=utf-8', text, status)
}
