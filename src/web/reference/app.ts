import { LRUCache } from 'lru-cache'
import type { VNode } from 'preact'
import type { ServerRequest } from 'srvx'
import type { ReferenceDocument } from '../../http/openapi/serve.ts'
import type { OpenApiDocument } from '../../http/openapi/types.ts'
import { publicText, respondWithText, type PublicText } from '../../http/public-text.ts'
import { clientAddress } from '../../http/client-address.ts'
import { findAsset } from '../public-assets.ts'
import { html } from '../html.ts'
import type { WebOptions } from '../page-context.ts'
import { inTurnOfVisitors } from '../page-work.ts'
import { securityHeaders } from '../security-headers.ts'
import { errorsPage } from './errors-page.ts'
import { renderPage } from './frame.ts'
import { operationPage, type PageOptions } from './operation-page.ts'
import { operationsOf } from './operations.ts'
import { overviewPage } from './overview-page.ts'
import { searchIndex, searchPage } from './search.ts'

/** The number of pages that are kept: some have the URL of the service, whose host name clients can vary. */
const KEPT_PAGES = 200

/**
 * The reference of the API for people, at `/docs`: a page for each operation, made from the OpenAPI document. It reads no cookie and
 * needs no JavaScript, except to try an operation.
 * @param options the public URL; and whether the rows of the policy can be linked to
 * @returns the handler of every request of `/docs` and below; it never throws
 */
export function createReference(
  { log, site, hasPolicyPage, proxies, services }: Pick<WebOptions, 'log' | 'site' | 'hasPolicyPage' | 'proxies' | 'services'>,
  reference: ReferenceDocument,
): (request: ServerRequest, url: URL) => Promise<Response> {
  // A client without a token must not make each of its requests render a page, which takes milliseconds.
  const pages = new LRUCache<string, PublicText>({ max: KEPT_PAGES })
  let renderedFrom: OpenApiDocument | undefined
  let absent: { readonly document: OpenApiDocument; readonly page: PublicText } | undefined
  const find = async (request: ServerRequest, { pathname: path, searchParams }: URL, url: string): Promise<PublicText> => {
    const make = (render: () => PublicText) => inTurnOfVisitors(services(), { request, address: clientAddress(request, proxies) }, render)
    const asset = findAsset(path)
    if (asset !== undefined) return asset
    const document = await reference.document()
    // Another policy makes another document.
    if (renderedFrom !== document) pages.clear()
    renderedFrom = document
    const query = path === '/docs' ? (searchParams.get('q') ?? '').trim() : ''
    const { base } = site
    // Results are not kept: clients can vary the query.
    if (query !== '')
      return make(() => htmlText(renderPage(document, { title: 'Search', path: '', base, query, body: searchPage(document, query) })))
    const key = `${path} ${url}`
    const found = pages.get(key)
    if (found !== undefined) return found
    // Everything that does not exist has the same page.
    const page =
      absent?.document === document && !exists(document, path)
        ? absent.page
        : await make(() => makePage(document, path, { url, base, hasPolicyPage }))
    if (page.status === 200) pages.set(key, page)
    else absent = { document, page }
    return page
  }
  return (request, address) => {
    const { vary: _cookies, ...security } = securityHeaders(site.originFor(request))
    return respondWithText(log, request, () => find(request, address, site.urlFor(request)), security)
  }
}

const PLACES = new Set(['/docs', '/docs/errors', '/docs/assets/search.json'])

function exists(document: OpenApiDocument, path: string): boolean {
  return PLACES.has(path) || operationsOf(document).some(({ operation }) => path === `/docs/${operation.operationId}`)
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
  return htmlText(renderPage(document, { title: 'Page not found', path: '', base, body: absent }), 404)
}

function htmlText(text: string, status?: 404): PublicText {
  return publicText('text/html; charset=utf-8', text, status)
}
