/** The cookies of the web app. Only it reads them; the API never does. */
export const cookieNames = ['session', 'device', 'form', 'sign_up'] as const
export type CookieName = (typeof cookieNames)[number]

/** Reads a Cookie header. Of two of one name the first counts, as browsers send the more specific one first. */
export function readCookies(header: string | null): Map<string, string> {
  const cookies = new Map<string, string>()
  for (const part of (header ?? '').split(';')) {
    const equals = part.indexOf('=')
    const name = trim(part.slice(0, equals))
    if (equals > 0 && !cookies.has(name)) cookies.set(name, trim(part.slice(equals + 1)))
  }
  return cookies
}

// Other white space is part of a name (RFC 6265 §5.2), and would get around the prefix.
function trim(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '')
}

/**
 * The name of a cookie. Over HTTPS its prefix makes the browser see to it that no other host, and nothing but
 * HTTPS, can have set it.
 */
export function cookieName(name: CookieName, origin: string): string {
  return `${origin.startsWith('https:') ? '__Host-' : ''}lk_${name}`
}

/**
 * A Set-Cookie header.
 * @param seconds how long the browser keeps it; 0 removes it; undefined: until the browser ends
 */
export function setCookie(name: CookieName, value: string, origin: string, seconds?: number): string {
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  const age = seconds === undefined ? '' : `; Max-Age=${seconds}`
  // Lax: a link to the settings from elsewhere finds its person signed in. What changes something is a POST.
  return `${cookieName(name, origin)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}${age}`
}
