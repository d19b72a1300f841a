import { parseCookies } from 'h3'
import type { ServerRequest } from 'srvx'
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
export function cookieOf({ cookies, origin }: Pick<PageContext, 'cookies' | 'origin'>, name: CookieName): string | undefined {
  return cookies.get(cookieName(name, origin))
}

/**
 * Sends a cookie with the response, whatever that is.
 * @param maxAge how long the browser keeps the cookie, in seconds; 0 removes it; undefined: until the browser closes
 */
export function setCookie(
  { origin, pendingCookies }: Pick<PageContext, 'origin' | 'pendingCookies'>,
  name: CookieName,
  value: string,
  maxAge?: number,
): void {
  // With Lax, a link from another site to the settings finds the person signed in. Changes need a POST.
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  pendingCookies.push(`${cookieName(name, origin)}=${encodeURIComponent(value)}${age}; Path=/; HttpOnly${secure}; SameSite=Lax`)
}

/**
 * The name of a cookie as the browser knows it. Over HTTPS it has the prefix `__Host-`: browsers then guarantee that
 * this host set the cookie, over HTTPS.
 */
function cookieName(name: CookieName, origin: string): string {
  return `${origin.startsWith('https:') ? '__Host-' : ''}lk_${name}`
}
