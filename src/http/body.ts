import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerRequest } from 'srvx'
import { ApiError } from '../model/errors.ts'

/**
 * Reads a request's body into memory.
 * @param most bytes; one more is refused, as soon as it is announced or has come
 * @throws {ApiError} `payload_too_large`; `bad_request` where the client went away
 */
export async function readBody(request: ServerRequest, most: number): Promise<Uint8Array> {
  const tooLarge = () =>
    new ApiError('payload_too_large', {
      message: `The body is larger than ${most} bytes.`,
      members: { limit_bytes: most },
      headers: { connection: 'close' },
    })
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bodyOf(request)) {
    size += chunk.byteLength
    if (size > most) throw tooLarge()
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

function proceed({ runtime }: ServerRequest): void {
  const response = runtime!.node!.res as ServerResponse
  response.removeHeader('connection')
  response.writeContinue()
}

/** The bytes of a body as they come. Giving up early leaves the connection fit for an answer. */
export async function* bodyOf(request: ServerRequest): AsyncGenerator<Uint8Array> {
  const node = request.runtime?.node?.req as IncomingMessage | undefined
  try {
    if (node?.headers.expect?.toLowerCase() === '100-continue') proceed(request)
    // Without destroyOnReturn: false the socket would be gone before the refusal is written.
    if (node !== undefined) yield* node.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
    else if (request.body !== null) yield* request.body as unknown as AsyncIterable<Uint8Array>
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new ApiError('bad_request', { message: 'The body did not arrive whole.' })
  }
}
