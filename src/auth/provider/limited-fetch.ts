import * as http from 'node:http'
import * as https from 'node:https'
import type { CustomFetch } from 'openid-client'
import { boundAnswer } from '../../outgoing/bounded-answer.ts'

/** The longest answer of the provider that is read, in bytes. */
const LONGEST = 1024 * 1024
/** The size of all headers of an answer, in bytes. */
const MAX_HEADERS = 32 * 1024
/** What is read of it in all: the answer, its headers, and how it is divided. */
const BOUNDS = { bytes: LONGEST + 2 * MAX_HEADERS, pieces: 16_384 }

/**
 * Sends a request to the provider, as `fetch` does, on a connection of its own. Redirects are not followed. What the provider can make this
 * process read is bounded: `fetch` takes answers with 1xx without end, and decompresses.
 * @throws {Error} whose message has no part of an answer; the reason of the signal, if it is aborted
 */
export const fetchLimited: CustomFetch = async (address, { method, headers, body, signal }) => {
  const content = contentOf(body)
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      signal?.removeEventListener('abort', onAbort)
      reject(error as Error)
      request.destroy()
    }
    const onAbort = (): void => fail(signal!.reason)
    const bound = boundAnswer(BOUNDS, () => fail(new Error(TOO_LONG)))
    const request = (address.startsWith('https:') ? https : http).request(address, {
      method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      agent: false,
      maxHeaderSize: MAX_HEADERS,
      insecureHTTPParser: false,
      ...bound.options,
    })
    bound.observe(request)
    request.on('error', fail)
    // Without an error: a connection that was closed, or that changes its protocol.
    const onClose = (): void => fail(new Error('it has closed the connection'))
    request.on('close', onClose)
    request.on('response', (response) => {
      request.off('close', onClose)
      void readAll(response)
        .then((parts) => {
          signal?.removeEventListener('abort', onAbort)
          return resolve(responseOf(response, parts))
        })
        .catch(fail)
    })
    if (signal?.aborted === true) return onAbort()
    signal?.addEventListener('abort', onAbort)
    request.end(content)
  })
}

const TOO_LONG = 'its answer is too long'

function contentOf(body: Parameters<CustomFetch>[1]['body']): string | Uint8Array | undefined {
  if (body === null || body === undefined) return undefined
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new TypeError('the body of a request to the provider is of an unknown kind')
}

async function readAll(response: http.IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    length += part.length
    if (length > LONGEST) throw new Error(TOO_LONG)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** @throws {Error} if it has no status of an answer, or is compressed */
function responseOf({ statusCode = 0, rawHeaders }: http.IncomingMessage, body: Buffer): Response {
  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!)
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity') throw new Error('its answer is compressed, which was not asked for')
  if (statusCode < 200 || statusCode > 599) throw new Error('its answer has no valid status')
  const isEmpty = [204, 205, 304].includes(statusCode)
  return new Response(isEmpty ? null : (body as unknown as Uint8Array<ArrayBuffer>), { status: statusCode, headers })
}
