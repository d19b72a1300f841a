import type { ServerRequest } from 'srvx'
import { equalInConstantTime } from '../auth/accounts/secrets.ts'
import { networkOf } from '../auth/accounts/sign-in.ts'
import { readBody } from '../http/body.ts'
import { ApiError } from '../model/errors.ts'

const FORM_BYTES = 16 * 1024
/** What ours look like. A cookie that holds something else, as nothing at all, was not set by us. */
const FORM_TOKEN = /^[\w-]{43}$/

/** A form came from somewhere else, or is older than the session. */
export class ForeignForm extends Error {
  override readonly name = 'ForeignForm'
}

/**
 * Reads a form.
 * @throws {ApiError} `unsupported_media_type`, `payload_too_large`
 */
export async function readForm(request: ServerRequest): Promise<URLSearchParams> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') throw new ApiError('unsupported_media_type', { message: 'This takes a form only.' })
  return new URLSearchParams(Buffer.from(await readBody(request, FORM_BYTES)).toString())
}

/**
 * Sees to it that a POST is from a page of ours: by what the browser says of where it is from and, since not
 * every browser says it, by a token that no other site can know.
 * @param expected the token of the session, or that of the cookie where nobody is signed in
 * @throws {ForeignForm}
 */
export function requireOwnForm(request: ServerRequest, form: URLSearchParams, origin: string, expected: string | undefined): void {
  const { headers } = request
  const site = headers.get('sec-fetch-site')
  const from = headers.get('origin')
  if (site !== null && site !== 'same-origin') throw new ForeignForm('sec-fetch-site')
  if (from !== null && from !== origin) throw new ForeignForm('origin')
  const token = form.get('form_token')
  if (token === null || expected === undefined || !isFormToken(expected) || !equalInConstantTime(token, expected))
    throw new ForeignForm('form_token')
}

/** Whether something could be a form token of ours. */
export function isFormToken(text: string): boolean {
  return FORM_TOKEN.test(text)
}

/**
 * Where people find the service, for a request.
 * @param configured counts alone, where it is set
 */
export function originOf(request: ServerRequest, configured: string | undefined): string {
  return configured ?? `http://${request.headers.get('host') ?? new URL(request.url).host}`
}

/**
 * The address that a request came from.
 * @param proxies so many in front of us are trusted; each has added the address that it was called from
 */
export function addressOf(request: ServerRequest, proxies: number): string | undefined {
  if (proxies === 0) return request.ip
  const told = request.headers.get('x-forwarded-for')?.split(',').at(-proxies)
  return told === undefined || networkOf(told) === 'unknown' ? request.ip : told.trim()
}
