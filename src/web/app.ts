import { randomUUID } from 'node:crypto'
import { addRoute, createRouter, findRoute } from 'rou3'
import { FastResponse, type ServerRequest } from 'srvx'
import { maskFormToken, unmaskFormToken } from '../auth/accounts/form-token.ts'
import { SecondStep } from '../auth/accounts/second-step.ts'
import { SignIn } from '../auth/accounts/sign-in.ts'
import { Throttle } from '../auth/accounts/throttle.ts'
import { clientAddress } from '../http/client-address.ts'
import { CompressibleResponse } from '../http/compression.ts'
import { toApiError } from '../http/error-mapping.ts'
import { respondWithText } from '../http/public-text.ts'
import { isUpload } from '../http/upload.ts'
import type { Session } from '../model/account.ts'
import { ApiError } from '../model/errors.ts'
import { MINUTE } from '../model/time.ts'
import { findAsset } from './public-assets.ts'
import { cookieOf, readCookies } from './cookies.ts'
import { answerEarlierForm } from './earlier-forms.ts'
import { errorPage, notFoundPage } from './error-pages.ts'
import { ForeignForm, readForm, readUploadForm, requireOwnForm } from './forms.ts'
import { encodePage, renderDocument } from './document.ts'
import type { PageResponse, Page, PageView, PageContext, SignedInContext, Visit, WebOptions, WebServices } from './page-context.ts'
import { inTurnOfVisitors, PageWork } from './page-work.ts'
import { html } from './html.ts'
import { Presence } from './presence.ts'
import { pages, pagesOfPasswords } from './pages.ts'
import { signInFirst } from './return-path.ts'
import { securityHeaders } from './security-headers.ts'
import { auditPage } from './audit-page.ts'
import { renderAlerts } from './alerts.ts'
import { browserName } from './browser-name.ts'
import { findVisit } from './current-session.ts'
import type { InboxLink } from './document.ts'
import { readUnread, unreadText } from './unread.ts'

const READ_METHODS = new Set(['GET', 'HEAD'])

/** The web app. Its answers never throw. */
export interface Web {
  /** Answers a request for `/`, an icon, or an address below /app or /settings. */
  answer(request: ServerRequest, url: URL): Promise<Response>
  /** Answers a browser's request for an address that does not exist. */
  answerWrongAddress(request: ServerRequest, url: URL): Promise<Response>
}

/**
 * The web app, where people work on boards, and create, rotate and revoke tokens (spec §5 "Credential" 6 and 7). It accepts sessions but
 * no bearer tokens, while the API accepts bearer tokens but no sessions.
 */
export function createWeb(options: WebOptions): Web {
  const { clock, counters, passwords } = options
  const web: WebServices = {
    ...options,
    signIn: new SignIn(options, passwords, counters),
    secondStep: new SecondStep(options, counters),
    presence: new Presence(),
    providerSignIns: new Throttle({ burst: 200, every: 200 }, clock, 'provider-sign-in', counters),
    signUps: new Throttle({ burst: 20, every: 30_000 }, clock, 'sign-up', counters),
    imports: new Throttle({ burst: 10, every: 6 * MINUTE }, clock, 'import', counters),
  }
  const router = createRouter<Page>()
  const isServed = (page: Page) => web.hasPasswords || !pagesOfPasswords.has(page)
  for (const page of pages.filter(isServed)) addRoute(router, undefined, page.path.replace(/\{(\w+)\}/g, ':$1'), page)

  const answer = async (request: ServerRequest, url: URL, route: Route | undefined): Promise<Response> => {
    const services = web.services()
    const context = contextOf(web, request, url, route)
    let visit: Visit | undefined
    let work: PageWork | undefined
    try {
      visit = await findVisit(context)
      work = visit && new PageWork(services, visit.session.user_id, context.params['workspace'], request)
      // Each of these pages takes little time, but anybody can open as many as they like.
      if (work === undefined && READ_METHODS.has(request.method) && route?.data.getChanges !== true)
        return await inTurnOfVisitors(services, context, () => makePage(context, route, visit))
      return await makePage({ ...context, work }, route, visit)
    } catch (error) {
      const response = renderError(context, error)
      if (route !== undefined) auditPage(context, route.data.path, visit?.session, response)
      return respond(response, context, undefined)
    } finally {
      work?.turn.end()
      if (work !== undefined && work.units > 0) services.rateLimits?.countPage(visit!.session.user_id, work.units)
    }
  }
  const makePage = async (context: PageContext, route: Route | undefined, visit: Visit | undefined): Promise<Response> => {
    if (route === undefined)
      return respond(findAsset(context.path) === undefined ? notFoundPage() : methodNotAllowed('GET, HEAD'), context, visit)
    const response = await runPage(route.data, context, visit)
    auditPage(context, route.data.path, visit?.session, response)
    const inbox = 'body' in response && visit !== undefined ? await inboxOf({ ...context, ...visit, work: context.work! }) : undefined
    // To render a page is one step.
    if (READ_METHODS.has(context.request.method)) await context.work?.turn.spent()
    return respond(response, context, visit, inbox)
  }
  return {
    async answer(request, url) {
      const found = findAsset(url.pathname)
      if (found !== undefined && READ_METHODS.has(request.method)) {
        const { vary: _cookies, ...security } = securityHeaders(web.site.originFor(request))
        return respondWithText(web.log, request, () => found, security)
      }
      const path = pathOf(url)
      return answer(request, url, path !== '/' && path.endsWith('/') ? undefined : findRoute(router, undefined, path))
    },
    answerWrongAddress: (request, url) => answer(request, url, undefined),
  }
}

interface Route {
  readonly data: Page
  readonly params?: Readonly<Record<string, string>> | undefined
}

/** The link to the inbox of the person, on each page. */
async function inboxOf(context: SignedInContext): Promise<InboxLink> {
  const unread = await readUnread(context)
  const { workspace } = context.params
  const shown = unread.find(({ workspace: { id } }) => id === workspace) ?? unread[0]
  return { userId: context.session.user_id, unread: unreadText(unread), workspaceId: shown?.workspace.id, name: shown?.displayName }
}

function pathOf({ pathname }: URL): string {
  return pathname === '/settings/' || pathname === '/app/' ? pathname.slice(0, -1) : pathname
}

function contextOf(web: WebServices, request: ServerRequest, url: URL, route: Route | undefined): PageContext {
  return {
    web,
    request,
    path: pathOf(url),
    requestId: randomUUID(),
    origin: web.site.originFor(request),
    url: web.site.urlFor(request),
    cookies: readCookies(request),
    pendingCookies: [],
    params: route?.params ?? {},
    keeps: route?.data.keeps ?? [],
    query: url.searchParams,
    form: new URLSearchParams(),
    address: clientAddress(request, web.proxies) ?? 'unknown',
    agent: browserName(request.headers.get('user-agent')),
  }
}

async function runPage(page: Page, context: PageContext, visit: Visit | undefined): Promise<PageResponse> {
  const { request, origin } = context
  const method = request.method === 'HEAD' && page.getChanges !== true ? 'GET' : request.method
  const handler = { GET: page.get, POST: page.post }[method]
  if (handler === undefined)
    return methodNotAllowed([page.get && (page.getChanges ? 'GET' : 'GET, HEAD'), page.post && 'POST'].filter(Boolean).join(', '))
  if (page.anonymous !== true && visit === undefined) return page.isPart ? signedOutPart() : signInFirst(page, context)
  // Those who are not signed in are limited by their addresses, where they can cause work.
  if (visit !== undefined && (method === 'GET' || page.anonymous !== true))
    requireRate(context, visit, method === 'POST' && page.endsAccess === true)
  if (method === 'GET') return handler({ ...context, ...visit!, work: context.work! })
  if (page.isSigned === true) return handler({ ...context, ...visit!, work: context.work! })
  const hasUpload = page.callsOperations === true && isUpload(request.headers)
  const { form, upload = undefined } = hasUpload
    ? await readUploadForm(request, (name) => name !== 'file' && name !== 'visibility')
    : { form: await readForm(request, page.callsOperations) }
  const sent = form.get('form_token')
  if (sent !== null) form.set('form_token', unmaskFormToken(sent))
  try {
    if (page.anonymous !== true) {
      const again = await answerEarlierForm(page, { ...context, ...visit!, work: context.work!, form })
      if (again !== undefined) return again
    }
    requireOwnForm(request, form, origin, page.anonymous ? cookieOf(context, 'form') : visit!.session.form_token)
    return await handler({ ...context, ...visit!, work: context.work!, form, upload })
  } finally {
    await upload?.discard()
  }
}

/**
 * @param endsAccess whether it is a form that takes access away
 * @throws {ApiError} `rate_limited`
 */
function requireRate({ web }: PageContext, { session }: Visit, endsAccess: boolean): void {
  const { rateLimits } = web.services()
  const seconds = endsAccess ? rateLimits?.countEnd(session.id) : rateLimits?.countPage(session.user_id)
  if (seconds === undefined) return
  const message = `Too many pages were opened, or forms sent. Try again in ${seconds} seconds.`
  throw new ApiError('rate_limited', { message, headers: { 'retry-after': String(seconds) } })
}

/** A part of a page for a person whose session has ended. It is no place to return to after signing in. */
function signedOutPart(): PageView {
  return errorPage(401, 'Not signed in', 'Your session has ended. Sign in again.')
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
  { web, request, path, origin, requestId, pendingCookies, work }: PageContext,
  visit: Visit | undefined,
  inbox?: InboxLink,
): Response {
  const { base } = web.site
  if ('raw' in response) return response.raw
  const headers = new Headers({ ...securityHeaders(origin), 'x-request-id': requestId, ...response.headers })
  for (const cookie of pendingCookies) headers.append('set-cookie', cookie)
  if ('redirect' in response) {
    headers.set('location', web.site.outerAddress(response.redirect))
    return new Response(null, { status: 303, headers })
  }
  if ('json' in response) {
    headers.set('content-type', 'application/json')
    return toSend(masked(JSON.stringify(response.json), visit?.session, web), response.status ?? 200, headers)
  }
  if (response.version !== undefined) {
    const tag = `W/"${response.version}"`
    headers.set('etag', tag)
    if (request.headers.get('if-none-match') === tag) return new Response(null, { status: 304, headers })
  }
  headers.set('content-type', 'text/html; charset=utf-8')
  const { title, layout, scripts, status = 200, session = visit?.session } = response
  const body = html`${session && visit && renderAlerts({ ...visit, session })}${response.body}`
  const signedIn = session && { formToken: session.form_token, email: session.email, inbox }
  const text = renderDocument({ title: status < 400 ? title : `Error: ${title}`, base, path, body, signedIn, layout, scripts })
  const bytes = encodePage(base, masked(text, session, web), response.parts)
  if (work !== undefined) work.bytes = bytes.length
  // What shows a secret once is not compressed: beside what somebody else has written, its size would tell of it.
  return text.includes(' data-once') ? new FastResponse(bytes, { status, headers }) : toSend(bytes, status, headers)
}

/** The text of an answer, with the form token as only this answer has it. */
function masked(text: string, session: Session | undefined, { random }: WebServices): string {
  return session === undefined ? text : text.replaceAll(session.form_token, maskFormToken(session.form_token, random))
}

/** An answer that is compressed if the browser asks for that. */
function toSend(content: string | Uint8Array, status: number, headers: Headers): Response {
  headers.set('content-length', String(Buffer.byteLength(content)))
  return new CompressibleResponse(content, status, [...headers].flat())
}
