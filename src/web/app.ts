import { randomUUID } from 'node:crypto'
import { addRoute, createRouter, findRoute } from 'rou3'
import { FastResponse, type ServerRequest } from 'srvx'
import { resumeSession } from '../auth/accounts/sessions.ts'
import { toApiError } from '../http/errors.ts'
import type { Session } from '../model/account.ts'
import { GLOBAL } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { cookieName, readCookies } from './cookies.ts'
import { addressOf, ForeignForm, originOf, readForm, requireOwnForm } from './guard.ts'
import { document } from './html.ts'
import { notFoundPage, errorPage } from './error-pages.ts'
import { script } from './script.ts'
import { securityHeaders } from './security-headers.ts'
import { signInPage, signOutPage } from './sign-in.ts'
import { signUpPage } from './sign-up.ts'
import { style } from './style.ts'
import { confirmPage } from './tokens-confirm.ts'
import { tokensPage } from './tokens-list.ts'
import { newTokenPage } from './tokens-new.ts'
import { revokePage } from './tokens-revoke.ts'
import { rotatePage } from './tokens-rotate.ts'
import type { PageResponse, Page, PageView, PageContext, WebServices } from './page-context.ts'

const home: Page = { path: '/settings', open: true, get: async () => ({ redirect: '/settings/tokens' }) }
/** All there are. */
export const pages: readonly Page[] = [
  home,
  signInPage,
  signOutPage,
  signUpPage,
  tokensPage,
  newTokenPage,
  confirmPage,
  rotatePage,
  revokePage,
]
const READS = new Set(['GET', 'HEAD'])
const assets: Readonly<Record<string, { type: string; text: string } | undefined>> = {
  '/settings/assets/style.css': { type: 'text/css; charset=utf-8', text: style },
  '/settings/assets/script.js': { type: 'text/javascript; charset=utf-8', text: script },
}

/**
 * The web app: where a person makes, rotates and revokes tokens (spec §5 "Credential" 6 and 7). It knows sessions
 * and no bearer tokens, as the API knows bearer tokens and no sessions.
 * @returns what answers every request below /settings; it never throws
 */
export function createWeb(web: WebServices): (request: ServerRequest, url: URL) => Promise<Response> {
  const router = createRouter<Page>()
  for (const page of pages) addRoute(router, undefined, page.path.replace(/\{(\w+)\}/g, ':$1'), page)

  return async (request, url) => {
    const origin = originOf(request, web.origin)
    const asset = assets[url.pathname]
    if (asset !== undefined && READS.has(request.method))
      return new FastResponse(asset.text, { headers: { ...securityHeaders(origin), 'content-type': asset.type } })
    const cookies = readCookies(request.headers.get('cookie'))
    const path = url.pathname === '/settings/' ? '/settings' : url.pathname
    const found = path.endsWith('/') ? undefined : findRoute(router, undefined, path)
    const visit: PageContext = {
      web,
      request,
      requestId: randomUUID(),
      origin,
      cookies,
      setAnyway: [],
      params: (found?.params ?? {}) as Record<string, string>,
      query: url.searchParams,
      form: new URLSearchParams(),
      address: addressOf(request, web.proxies) ?? 'unknown',
    }
    try {
      const session = await resume(visit)
      const answer = found === undefined ? unknown(asset !== undefined) : await runPage(found.data, visit, session)
      return respond(answer, visit, session)
    } catch (error) {
      return respond(renderError(visit, error), visit, undefined)
    }
  }
}

/** The session of a request, if it has one that is good. */
async function resume({ web, cookies, origin }: PageContext): Promise<Session | undefined> {
  const secret = cookies.get(cookieName('session', origin))
  if (secret === undefined) return undefined
  return transact(web.store, GLOBAL, web.random, (tx) => resumeSession(tx, secret, web.clock))
}

async function runPage(page: Page, visit: PageContext, session: Session | undefined): Promise<PageResponse> {
  const { request, origin, cookies } = visit
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const serves = { GET: page.get, POST: page.post }[method]
  if (serves === undefined) return notAllowed([page.get && 'GET, HEAD', page.post && 'POST'].filter(Boolean).join(', '))
  if (!page.open && session === undefined) return { redirect: '/settings/sign-in?over' }
  const form = method === 'POST' ? await readForm(request) : visit.form
  if (method === 'POST') requireOwnForm(request, form, origin, page.open ? cookies.get(cookieName('form', origin)) : session!.form_token)
  return serves({ ...visit, form, session: session! })
}

function unknown(asset: boolean): PageView {
  return asset ? notAllowed('GET, HEAD') : notFoundPage()
}

function notAllowed(allow: string): PageView {
  return errorPage(405, 'This cannot be done here', `This page takes ${allow} alone.`, { allow })
}

function renderError({ web, requestId }: PageContext, error: unknown): PageView {
  if (error instanceof ForeignForm) {
    web.log.warn({ event: 'web.foreign_form', request_id: requestId, because: error.message }, 'a form was refused')
    return errorPage(
      403,
      'This form was not taken',
      'It did not come from this page, or is too old. Open the page again and try once more.',
    )
  }
  const { status, message, details } = toApiError(web.log, requestId, error)
  const text = status === 500 ? `It is our fault, and was recorded. Whoever runs this service finds it by this: ${requestId}` : message
  return errorPage(status, 'This did not work', text, { ...details.headers })
}

function respond(answer: PageResponse, { origin, requestId, setAnyway }: PageContext, session: Session | undefined): Response {
  const headers = new Headers({ ...securityHeaders(origin), 'x-request-id': requestId, ...answer.headers })
  for (const cookie of [...setAnyway, ...(answer.cookies ?? [])]) headers.append('set-cookie', cookie)
  if ('redirect' in answer) {
    headers.set('location', answer.redirect)
    return new Response(null, { status: 303, headers })
  }
  headers.set('content-type', 'text/html; charset=utf-8')
  const now = answer.session ?? session
  const signedIn = now && { formToken: now.form_token, email: now.email }
  return new Response(
    document({ title: (answer.status ?? 200) < 400 ? answer.title : `Error: ${answer.title}`, body: answer.body, signedIn }),
    { status: answer.status ?? 200, headers },
  )
}
