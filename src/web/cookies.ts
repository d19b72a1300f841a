import { parseCookies } from 'h3'
import type { ServerRequest } from 'srvx'

/** The cookies of the web app. The API reads none. */
export type CookieName = 'session' | 'device' | 'form' | 'sign_up' | 'second_factor' | 'return'

/**
 * Parses the Cookie header. If a name occurs twice, the first value counts, because browsers send the more specific
 * cookie first (RFC 6265 §5.4).
 */
export function readCookies(request: ServerRequest): ReadonlyMap<string, string> {
  return new Map(Object.entries(parseCookies({ req: request }) as Record<string, string>))
}

/**
 * The name of a cookie as the browser knows it. Over HTTPS it has the prefix `__Host-`: browsers then guarantee that
 * this host set the cookie, over HTTPS.
 */
export function cookieName(name: CookieName, origin: string): string {
  return `${origin.startsWith('https:') ? '__Host-' : ''}lk_${name}`
}

/**
 * A Set-Cookie header.
 * @param maxAge how long the browser keeps the cookie, in seconds; 0 removes it; undefined: until the browser closes
 */
export function setCookie(name: CookieName, value: string, origin: string, maxAge?: number): string {
  // With Lax, a link from another site to the settings finds the person signed in. Changes need a POST.
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  return `${cookieName(name, origin)}=${encodeURIComponent(value)}${age}; Path=/; HttpOnly${secure}; SameSite=Lax`
}
