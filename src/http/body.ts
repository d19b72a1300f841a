import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerRequest } from 'srvx'
import { ApiError } from '../model/errors.ts'

/**
 * Reads a request's body into memory.
 * @param maxBytes a larger body is refused as soon as its announced or received size exceeds this
 * @param beforeMore awaited after each part, with the number of bytes that were received. Meanwhile nothing is received.
 * @throws {ApiError} `payload_too_large`; `bad_request` if the client closed the connection
 */
export async function readBody(
  request: ServerRequest,
  maxBytes: number,
  beforeMore: (size: number) => Promise<void> | undefined = () => undefined,
): Promise<Uint8Array> {
  const tooLarge = () =>
    new ApiError('payload_too_large', {
      message: `The body is larger than ${maxBytes} bytes.`,
      members: { limit_bytes: maxBytes },
      headers: { connection: 'close' },
    })
  if (Number(request.headers.get('content-length')) > maxBytes) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bodyOf(request)) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
    const pause = beforeMore(size)
    if (pause !== undefined) await pause
  }
  return Buffer.concat(chunks)
}

/** Sends `100 Continue`, and undoes `Connection: close`, which is only for a refusal without reading the body. */
function sendContinue({ runtime }: ServerRequest): void {
  const response = runtime!.node!.res as ServerResponse
  response.removeHeader('connection')
  response.writeContinue()
}

/** Streams the bytes of a body. If a consumer stops early, the rest is read and discarded. */
export async function* bodyOf(request: ServerRequest): AsyncGenerator<Uint8Array> {
  const node = request.runtime?.node?.req as IncomingMessage | undefined
  try {
    // A client of HTTP/1.0 does not understand an interim response (RFC 9110 §10.1.1).
    if (node?.httpVersion === '1.1' && node.headers.expect?.toLowerCase() === '100-continue') sendContinue(request)
    const chunks = node === undefined ? (request.body ?? []) : node.iterator({ destroyOnReturn: false })
    for await (const chunk of chunks) yield chunk as Uint8Array
  } catch {
    throw new ApiError('bad_request', { message: 'The body is incomplete.' })
  } finally {
    // Node does not do this after a part was read. The connection could not be used for another request.
    node?.resume()
  }
}
