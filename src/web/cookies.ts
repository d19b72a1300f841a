import { parseCookies } from 'h3'
import type { ServerRequest } from 'srvx'
import { lifetimesOf, type NewSession } from '../auth/accounts/sessions.ts'
import type { Session } from '../model/account.ts'
import type { PageContext } from './page-context.ts'

/** The cookies of the web app. The API reads none. */
type CookieName = 'session' | 'device' | 'form' | 'sign_up' | 'second_factor' | 'return' | 'provider'

/**
 * Parses the Cookie header. If a name occurs twice, the first value counts, because browsers send the more specific
 * cookie first (RFC 6265 §5.4).
 */
export function readCookies(request: ServerRequest): ReadonlyMap<string, string> {
  return new Map(Object.entries(parseCookies({ req: request }) as Record<string, string>))
}

/** A cookie of a request; undefined: the browser has sent none. */
export function cookieOf(context: Pick<PageContext, 'cookies' | 'origin' | 'url'>, name: CookieName): string | undefined {
  return context.cookies.get(cookieName(name, context))
}

/**
 * Sends a cookie with the response, whatever that is.
 * @param maxAge how long the browser keeps the cookie, in seconds; 0 removes it; undefined: until the browser closes
 */
export function setCookie(
  context: Pick<PageContext, 'origin' | 'url' | 'pendingCookies'>,
  name: CookieName,
  value: string,
  maxAge?: number,
): void {
  // With Lax, a link from another site to the settings finds the person signed in. Changes need a POST.
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  const secure = context.origin.startsWith('https:') ? '; Secure' : ''
  const cookie = `${cookieName(name, context)}=${encodeURIComponent(value)}${age}`
  context.pendingCookies.push(`${cookie}; Path=${baseOf(context) || '/'}; HttpOnly${secure}; SameSite=Lax`)
}

/**
 * Sends the cookie of a session. Browsers keep it until the session ends in any case, so that quitting one signs nobody out. The service
 * alone decides whether a session is still valid: a cookie that is kept longer opens nothing.
 */
export function setSessionCookie(
  context: Pick<PageContext, 'origin' | 'url' | 'pendingCookies' | 'web'>,
  { secret, session }: Pick<NewSession, 'secret'> & { readonly session: Pick<Session, 'begun_at'> },
): void {
  const { web } = context
  const left = Date.parse(session.begun_at) + lifetimesOf(web).max - web.clock()
  setCookie(context, 'session', secret, Math.max(1, Math.ceil(left / 1000)))
}

/**
 * The name of a cookie as the browser knows it. Over HTTPS it has the prefix `__Host-`: browsers then guarantee that
 * this host set the cookie, over HTTPS. Such a cookie would be sent to everything at this host: below a path it has that path, and the
 * prefix `__Secure-`, which guarantees HTTPS only.
 */
function cookieName(name: CookieName, context: Pick<PageContext, 'origin' | 'url'>): string {
  if (!context.origin.startsWith('https:')) return `lk_${name}`
  return `${baseOf(context) === '' ? '__Host-' : '__Secure-'}lk_${name}`
}

/** The path of the public URL. */
function baseOf({ origin, url }: Pick<PageContext, 'origin' | 'url'>): string {
  return url.slice(origin.length)
}
