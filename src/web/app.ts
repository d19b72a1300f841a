import { randomUUID } from 'node:crypto'
import { addRoute, createRouter, findRoute } from 'rou3'
import { FastResponse, type ServerRequest } from 'srvx'
import { resumeSession } from '../auth/accounts/sessions.ts'
import { clientAddress } from '../http/client-address.ts'
import { toApiError } from '../http/error-mapping.ts'
import { originOf } from '../http/request-target.ts'
import type { Session } from '../model/account.ts'
import { GLOBAL } from '../store/keys.ts'
import { StorageUnavailable } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import { cookieName, readCookies } from './cookies.ts'
import { errorPage, notFoundPage } from './error-pages.ts'
import { ForeignForm, readForm, requireOwnForm } from './forms.ts'
import { renderDocument } from './document.ts'
import type { PageResponse, Page, PageView, PageContext, WebServices } from './page-context.ts'
import { script } from './script.ts'
import { securityHeaders } from './security-headers.ts'
import { signInPage, signOutPage } from './account/sign-in.ts'
import { signUpPage } from './account/sign-up.ts'
import { style } from './style.ts'
import { confirmPage } from './tokens/confirm.ts'
import { tokensPage } from './tokens/list.ts'
import { newTokenPage } from './tokens/new.ts'
import { revokePage } from './tokens/revoke.ts'
import { rotatePage } from './tokens/rotate.ts'

const settingsPage: Page = { path: '/settings', anonymous: true, get: async () => ({ redirect: '/settings/tokens' }) }
/** All pages. */
export const pages: readonly Page[] = [
  settingsPage,
  signInPage,
  signOutPage,
  signUpPage,
  tokensPage,
  newTokenPage,
  confirmPage,
  rotatePage,
  revokePage,
]
const READ_METHODS = new Set(['GET', 'HEAD'])
const assets: Readonly<Record<string, { type: string; text: string } | undefined>> = {
  '/settings/assets/style.css': { type: 'text/css; charset=utf-8', text: style },
  '/settings/assets/script.js': { type: 'text/javascript; charset=utf-8', text: script },
}

/**
 * The web app, in which people create, rotate and revoke tokens (spec §5 "Credential" 6 and 7). It accepts sessions but
 * no bearer tokens, while the API accepts bearer tokens but no sessions.
 * @returns the handler of every request below /settings; it never throws
 */
export function createWeb(web: WebServices): (request: ServerRequest, url: URL) => Promise<Response> {
  const router = createRouter<Page>()
  for (const page of pages) addRoute(router, undefined, page.path.replace(/\{(\w+)\}/g, ':$1'), page)

  return async (request, url) => {
    const origin = originOf(request, web.origin)
    const asset = assets[url.pathname]
    if (asset !== undefined && READ_METHODS.has(request.method))
      return new FastResponse(asset.text, { headers: { ...securityHeaders(origin), 'content-type': asset.type } })
    const path = url.pathname === '/settings/' ? '/settings' : url.pathname
    const route = path.endsWith('/') ? undefined : findRoute(router, undefined, path)
    const context: PageContext = {
      web,
      request,
      path,
      requestId: randomUUID(),
      origin,
      cookies: readCookies(request.headers.get('cookie')),
      pendingCookies: [],
      params: (route?.params ?? {}) as Record<string, string>,
      query: url.searchParams,
      form: new URLSearchParams(),
      address: clientAddress(request, web.proxies) ?? 'unknown',
    }
    try {
      const session = await findSession(context)
      if (route !== undefined) return respond(await runPage(route.data, context, session), context, session)
      return respond(asset === undefined ? notFoundPage() : methodNotAllowed('GET, HEAD'), context, session)
    } catch (error) {
      return respond(renderError(context, error), context, undefined)
    }
  }
}

/** The valid session of a request, if it has one. */
async function findSession({ web, cookies, origin }: PageContext): Promise<Session | undefined> {
  const secret = cookies.get(cookieName('session', origin))
  if (secret === undefined) return undefined
  let session: Session | undefined
  try {
    return await transact(web.store, GLOBAL, web.random, async (tx) => {
      session = undefined
      return (session = await resumeSession(tx, secret, web.clock))
    })
  } catch (error) {
    // That the session was used cannot be stored while storage is full. Tokens can be revoked even then.
    if (error instanceof StorageUnavailable && error.outcomeKnown && session !== undefined) return session
    throw error
  }
}

async function runPage(page: Page, context: PageContext, session: Session | undefined): Promise<PageResponse> {
  const { request, origin, cookies } = context
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const handler = { GET: page.get, POST: page.post }[method]
  if (handler === undefined) return methodNotAllowed([page.get && 'GET, HEAD', page.post && 'POST'].filter(Boolean).join(', '))
  if (!page.anonymous && session === undefined) return { redirect: '/settings/sign-in?over' }
  const form = method === 'POST' ? await readForm(request) : context.form
  if (method === 'POST')
    requireOwnForm(request, form, origin, page.anonymous ? cookies.get(cookieName('form', origin)) : session!.form_token)
  return handler({ ...context, form, session: session! })
}

function methodNotAllowed(allow: string): PageView {
  return errorPage(405, 'Method not allowed', `This address accepts only ${allow}.`, { allow })
}

function renderError({ web, requestId }: PageContext, error: unknown): PageView {
  if (error instanceof ForeignForm) {
    web.log.warn({ event: 'web.foreign_form', request_id: requestId, because: error.message }, 'form refused')
    return errorPage(
      403,
      'The form was not accepted',
      'It was not sent from this site, or it is too old. Open the page again and send the form once more.',
    )
  }
  const { status, message, details } = toApiError(web.log, requestId, error)
  const text =
    status === 500
      ? `Something went wrong on our side, and the error was logged. Try again. If it happens again, give your administrator this ID: ${requestId}`
      : message
  return errorPage(status, 'Something went wrong', text, { ...details.headers })
}

function respond(
  response: PageResponse,
  { path, origin, requestId, pendingCookies }: PageContext,
  requestSession: Session | undefined,
): Response {
  const headers = new Headers({ ...securityHeaders(origin), 'x-request-id': requestId, ...response.headers })
  for (const cookie of [...pendingCookies, ...(response.cookies ?? [])]) headers.append('set-cookie', cookie)
  if ('redirect' in response) {
    headers.set('location', response.redirect)
    return new Response(null, { status: 303, headers })
  }
  headers.set('content-type', 'text/html; charset=utf-8')
  const { title, body, status = 200, session = requestSession } = response
  const signedIn = session && { formToken: session.form_token, email: session.email }
  return new Response(renderDocument({ title: status < 400 ? title : `Error: ${title}`, path, body, signedIn }), { status, headers })
}
