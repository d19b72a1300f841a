import { LRUCache } from 'lru-cache'
import type { VNode } from 'preact'
import type { ServerRequest } from 'srvx'
import type { ReferenceDocument } from '../../http/openapi/serve.ts'
import type { OpenApiDocument } from '../../http/openapi/types.ts'
import { publicText, respondWithText, type PublicText } from '../../http/public-text.ts'
import { readAsset } from '../assets.ts'
import { html } from '../html.ts'
import type { WebOptions } from '../page-context.ts'
import { securityHeaders } from '../security-headers.ts'
import { errorsPage } from './errors-page.ts'
import { renderPage } from './frame.ts'
import { operationPage, type PageOptions } from './operation-page.ts'
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
/** The number of pages that are kept: some have the URL of the service, whose host name clients can vary. */
const KEPT_PAGES = 200

/**
 * The reference of the API for people, at `/docs`: a page for each operation, made from the OpenAPI document. It reads no cookie and
 * needs no JavaScript, except to try an operation.
 * @param options the public URL; and whether the rows of the policy can be linked to
 * @returns the handler of every request of `/docs` and below; it never throws
 */
export function createReference(
  { log, site, hasPolicyPage }: Pick<WebOptions, 'log' | 'site' | 'hasPolicyPage'>,
  reference: ReferenceDocument,
): (request: ServerRequest, url: URL) => Promise<Response> {
  // A client without a token must not make each of its requests render a page, which takes milliseconds.
  const pages = new LRUCache<string, PublicText>({ max: KEPT_PAGES })
  let renderedFrom: OpenApiDocument | undefined
  const find = async ({ pathname: path, searchParams }: URL, url: string): Promise<PublicText> => {
    const asset = assets[path]
    if (asset !== undefined) return asset
    const document = await reference.document()
    // Another policy makes another document.
    if (renderedFrom !== document) pages.clear()
    renderedFrom = document
    const query = path === '/docs' ? (searchParams.get('q') ?? '').trim() : ''
    // What is found is not kept: clients can vary the query.
    if (query !== '')
      return htmlText(renderPage(document, { title: 'Search', path: '', base: site.base, query, body: searchPage(document, query) }))
    const key = `${path} ${url}`
    const found = pages.get(key)
    if (found !== undefined) return found
    const page = makePage(document, path, { url, base: site.base, hasPolicyPage })
    if (page.status === 200) pages.set(key, page)
    return page
  }
  return (request, address) => {
    const { vary: _cookies, ...security } = securityHeaders(site.originFor(request))
    return respondWithText(log, request, () => find(address, site.urlFor(request)), security)
  }
}

function makePage(document: OpenApiDocument, path: string, options: PageOptions & { readonly base: string }): PublicText {
  const { base } = options
  const page = (title: string, body: VNode, status?: 404) => htmlText(renderPage(document, { title, path, base, body }), status)
  if (path === '/docs') return page(document.info.title, overviewPage(document, options.url))
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

function htmlText(text: string, status?: 404): PublicText {
  return publicText('text/html; charset=utf-8', text, status)
}
