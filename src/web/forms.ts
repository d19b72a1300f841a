import type { ServerRequest } from 'srvx'
import { equalInConstantTime, newSecret } from '../auth/secrets.ts'
import { readBody } from '../http/body.ts'
import { ApiError } from '../model/errors.ts'
import { cookieName, setCookie } from './cookies.ts'
import type { PageContext } from './page-context.ts'

const MAX_FORM_BYTES = 16 * 1024
/** The format of {@link newSecret}. A form cookie with any other value, such as an empty one, was not set by us. */
const FORM_TOKEN = /^[\w-]{43}$/

/** A form was sent from another site, or its form token is missing, wrong or older than the session. */
export class ForeignForm extends Error {
  override readonly name = 'ForeignForm'
}

/**
 * Reads the body of a form.
 * @throws {ApiError} `unsupported_media_type`, `payload_too_large`
 */
export async function readForm(request: ServerRequest): Promise<URLSearchParams> {
  const type = request.headers.get('content-type')?.split(';')[0]!.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new ApiError('unsupported_media_type', { message: 'The body must be a form: Content-Type: application/x-www-form-urlencoded.' })
  return new URLSearchParams(Buffer.from(await readBody(request, MAX_FORM_BYTES)).toString())
}

/**
 * Verifies that a POST was sent by one of our own pages (CSRF protection): by the browser's Sec-Fetch-Site and Origin
 * headers and, since not every browser sends them, by a form token that no other site can know.
 * @param expected the form token of the session, or that of the form cookie for anonymous pages
 * @throws {ForeignForm}
 */
export function requireOwnForm(request: ServerRequest, form: URLSearchParams, origin: string, expected: string | undefined): void {
  const { headers } = request
  const fetchSite = headers.get('sec-fetch-site')
  const formOrigin = headers.get('origin')
  if (fetchSite !== null && fetchSite !== 'same-origin') throw new ForeignForm('sec-fetch-site')
  if (formOrigin !== null && formOrigin !== origin) throw new ForeignForm('origin')
  const token = form.get('form_token')
  if (token === null || expected === undefined || !FORM_TOKEN.test(expected) || !equalInConstantTime(token, expected))
    throw new ForeignForm('form_token')
}

/** The form token of a page without a session, and the Set-Cookie headers that the page must send with it. */
export function anonymousFormToken({ web, cookies, origin }: PageContext): { token: string; cookies: string[] } {
  const current = cookies.get(cookieName('form', origin))
  if (current !== undefined && FORM_TOKEN.test(current)) return { token: current, cookies: [] }
  const token = newSecret(web.random)
  return { token, cookies: [setCookie('form', token, origin)] }
}
