import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ServerRequest } from 'srvx'
import { ApiError } from '../model/errors.ts'

/** Pieces of a body that cost nothing by themselves, and the size from which more of them are as good as none, in bytes. */
const MOST_PIECES = 20_000
const FAIR_PIECE = 256

/** Counts the pieces that a body comes in: each is work, however small it is. HTTP lets a client send every byte as one. */
export class Pieces {
  count = 0
  #bytes = 0

  /** @throws {ApiError} `payload_too_large`, if there are too many of them for their size */
  add(bytes: number): void {
    this.count++
    this.#bytes += bytes
    if (this.count > MOST_PIECES + this.#bytes / FAIR_PIECE)
      throw new ApiError('payload_too_large', {
        message: `The body comes in more than ${MOST_PIECES} pieces. Send larger ones.`,
        headers: { connection: 'close' },
      })
  }
}

/**
 * Reads a request's body into memory.
 * @param maxBytes a larger body is refused as soon as its announced or received size exceeds this
 * @throws {ApiError} `payload_too_large`; `bad_request` if the client closed the connection
 */
export function readBody(request: ServerRequest, maxBytes: number, pieces: Pieces = new Pieces()): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length')) > maxBytes) return Promise.reject(tooLarge('body', maxBytes))
  const node = nodeOf(request)
  if (node !== undefined) continueIfExpected(request, node)
  // What fails after a refusal is of no interest.
  return collect(node ?? Readable.from(bodyOf(request)).on('error', () => undefined), maxBytes, pieces)
}

function nodeOf({ runtime }: ServerRequest): IncomingMessage | undefined {
  return runtime?.node?.req as IncomingMessage | undefined
}

export function tooLarge(what: 'body' | 'file', maxBytes: number): ApiError {
  return new ApiError('payload_too_large', {
    message: `The ${what} is larger than ${maxBytes} bytes.`,
    members: { limit_bytes: maxBytes },
    headers: { connection: 'close' },
  })
}

function incomplete(): ApiError {
  return new ApiError('bad_request', { message: 'The body is incomplete.' })
}

/** Reads the body from a connection. Its async iterator would cost more CPU time than all the rest of the input. */
function collect(node: Readable, maxBytes: number, pieces: Pieces): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    const stop = (): void => void node.off('data', onData).off('end', onEnd).off('error', onFailure).off('close', onFailure)
    const refuse = (error: unknown): void => {
      stop()
      // The rest is discarded.
      node.resume()
      reject(error as Error)
    }
    const onData = (chunk: Uint8Array): void => {
      chunks.push(chunk)
      size += chunk.byteLength
      if (size > maxBytes) return refuse(tooLarge('body', maxBytes))
      try {
        pieces.add(chunk.byteLength)
      } catch (error) {
        refuse(error)
      }
    }
    const onEnd = (): void => {
      stop()
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    }
    const onFailure = (): void => {
      stop()
      reject(incomplete())
    }
    // The client left before: no event will follow.
    if (node.destroyed) return onFailure()
    node.on('data', onData).on('end', onEnd).on('error', onFailure).on('close', onFailure)
  })
}

/** Sends `100 Continue` if the client waits for it. A client of HTTP/1.0 does not understand an interim response (RFC 9110 §10.1.1). */
function continueIfExpected({ runtime }: ServerRequest, { httpVersion, headers }: IncomingMessage): void {
  if (httpVersion !== '1.1' || headers.expect?.toLowerCase() !== '100-continue') return
  const response = runtime!.node!.res as ServerResponse
  // It is only for a refusal without reading the body.
  response.removeHeader('connection')
  response.writeContinue()
}

/**
 * Streams the bytes of a body. If a consumer stops early, the rest is read and discarded.
 * @param pieces undefined: the consumer counts them
 */
export async function* bodyOf(request: ServerRequest, pieces?: Pieces): AsyncGenerator<Uint8Array> {
  const node = nodeOf(request)
  try {
    if (node !== undefined) continueIfExpected(request, node)
    const chunks = node === undefined ? (request.body ?? []) : node.iterator({ destroyOnReturn: false })
    for await (const chunk of chunks) {
      pieces?.add((chunk as Uint8Array).byteLength)
      yield chunk as Uint8Array
    }
  } catch (error) {
    throw error instanceof ApiError ? error : incomplete()
  } finally {
    // Node does not do this after a part was read. The connection could not be used for another request.
    node?.resume()
  }
}
