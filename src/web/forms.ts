import type { ServerRequest } from 'srvx'
import { maskFormToken } from '../auth/accounts/form-token.ts'
import { equalInConstantTime, newSecret } from '../auth/secrets.ts'
import { bodyOf, Pieces, readBody } from '../http/body.ts'
import { ApiError } from '../model/errors.ts'
import { cookieOf, setCookie } from './cookies.ts'
import type { FormRest, PageContext } from './page-context.ts'

const MAX_FORM_BYTES = 16 * 1024
/** The longest text of an operation twice, as it was and as it is, in the encoding of forms. */
const MAX_OPERATION_BYTES = 2 * 1024 * 1024
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
export async function readForm(request: ServerRequest, callsOperations = false): Promise<URLSearchParams> {
  const type = request.headers.get('content-type')?.split(';')[0]!.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new ApiError('unsupported_media_type', { message: 'The body must be a form: Content-Type: application/x-www-form-urlencoded.' })
  return new URLSearchParams(Buffer.from(await readBody(request, callsOperations ? MAX_OPERATION_BYTES : MAX_FORM_BYTES)).toString())
}

/** The types of TypeScript do not have `from` yet. */
const streamOf = (ReadableStream as unknown as { from(parts: AsyncIterable<Uint8Array>): ReadableStream }).from.bind(ReadableStream)

const HEAD_END = '\r\n\r\n'

/**
 * Reads the text fields at the beginning of a form with a file. The file itself is not read: what follows them stays a form.
 * @param isOwn whether a field belongs to the page; the first other one begins the rest
 * @throws {ApiError} `bad_request`, `payload_too_large`
 */
export async function readUploadForm(
  request: ServerRequest,
  isOwn: (name: string) => boolean,
): Promise<{ readonly form: URLSearchParams; readonly upload: FormRest }> {
  const type = request.headers.get('content-type') ?? ''
  const boundary = /boundary=(?:"([^"]+)"|([^\s;]+))/i
    .exec(type)
    ?.slice(1)
    .find((text) => text !== undefined)
  const form = new URLSearchParams()
  const parts = bodyOf(request, new Pieces())
  let read = Buffer.alloc(0)
  let length = 0
  const until = async (text: string, from: number): Promise<number> => {
    for (;;) {
      const at = read.indexOf(text, from)
      if (at !== -1) return at
      if (read.length > MAX_FORM_BYTES) throw new ApiError('payload_too_large')
      const next = await parts.next()
      if (next.done === true) throw new ApiError('bad_request')
      read = Buffer.concat([read, next.value])
    }
  }
  try {
    for (;;) {
      const begin = await until(`--${boundary}\r\n`, 0)
      const head = await until(HEAD_END, begin)
      const name = /\bname="([^"]*)"/i.exec(read.toString('utf8', begin, head))?.[1] ?? ''
      if (!isOwn(name)) break
      const value = head + HEAD_END.length
      const end = await until(`\r\n--${boundary}`, value)
      form.append(name, read.toString('utf8', value, end))
      length += end
      if (length > MAX_FORM_BYTES) throw new ApiError('payload_too_large')
      read = read.subarray(end + '\r\n'.length)
    }
  } catch (error) {
    await parts.return(undefined)
    throw error
  }
  async function* rest(): AsyncGenerator<Uint8Array> {
    yield read
    yield* parts
  }
  return { form, upload: { type, body: streamOf(rest()), discard: () => parts.return(undefined) } }
}

/**
 * Verifies that a POST was sent by one of our own pages (CSRF protection): by the browser's Sec-Fetch-Site and Origin
 * headers and, since not every browser sends them, by a form token that no other site can know.
 * @param expected the form token of the session, or of the form cookie for anonymous pages
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

/** The form token that a page without a session has had before; undefined: none was set by us. */
export function formCookie(context: PageContext): string | undefined {
  const token = cookieOf(context, 'form')
  return token !== undefined && FORM_TOKEN.test(token) ? token : undefined
}

/** The form token of a page without a session, as the page has it. A new one is sent as a cookie with the page. */
export function anonymousFormToken(context: PageContext): string {
  const { random } = context.web
  const token = formCookie(context) ?? newSecret(random)
  if (formCookie(context) === undefined) setCookie(context, 'form', token)
  return maskFormToken(token, random)
}
