import { Readable } from 'node:stream'
import type { ServerRequest } from 'srvx'
import type { ApiError } from '../model/errors.ts'
import { StorageUnavailable } from '../store/port.ts'
import type { StreamedResult } from '../resources/result.ts'
import { HttpResponse } from './compression.ts'
import { API_HEADERS, errorBody } from './envelope.ts'
import { toApiError } from './error-mapping.ts'
import { Waiter, waitSignal } from './long-poll.ts'
import type { Services } from './services.ts'

/** The time without an event after which a comment is sent, in milliseconds: proxies close connections that are silent. */
const HEARTBEAT = 15_000

type Item = StreamedResult['items'][number]

/** What a stream works with. */
export interface StreamDeps {
  readonly requestId: string
  readonly waiter: Waiter
  /** decides again, and reads what comes after a position */
  readonly readNext: (position: string) => Promise<StreamedResult>
  /** the error that the stream ends with. It logs unexpected ones. */
  readonly toApiError: (error: unknown) => ApiError
  /** the monotonic clock, in milliseconds */
  readonly now?: () => number
}

/**
 * A stream of server-sent events (HTML Living Standard §9.2). Each read decides like a separate request: it
 * authenticates the token and asks the policy again, at least once a second. The stream ends with an event that has the error of
 * the first read that is refused.
 */
export class EventStream {
  readonly #deps: Required<StreamDeps>
  #found: StreamedResult

  /** @param first what the first read has found */
  constructor(deps: StreamDeps, first: StreamedResult) {
    this.#deps = { now: () => performance.now(), ...deps }
    this.#found = first
  }

  /** The response. @param headers besides those of every response */
  respond(method: string, headers: Readonly<Record<string, string>>): Response {
    const { requestId, waiter } = this.#deps
    const all = { ...API_HEADERS, ...headers, 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': requestId }
    if (method === 'HEAD') waiter.end()
    const body = method === 'HEAD' ? null : (Readable.toWeb(Readable.from(this.#events())) as ReadableStream)
    return new HttpResponse(body, { status: 200, headers: { ...all, 'x-accel-buffering': 'no' } })
  }

  async *#events(): AsyncGenerator<Buffer> {
    const { requestId, waiter, now } = this.#deps
    try {
      yield encode(': the changes of a board\n\n')
      for (let quietSince = now(); ;) {
        for (const item of this.#found.items) {
          yield encodeItem(item)
          quietSince = now()
        }
        await waiter.wait()
        if (waiter.isAborted) return
        const error = await this.#read()
        if (error !== undefined) return yield encode(`event: error\ndata: ${JSON.stringify(errorBody(requestId, error))}\n\n`)
        if (now() - quietSince < HEARTBEAT) continue
        quietSince = now()
        yield encode(': still here\n\n')
      }
    } finally {
      waiter.end()
    }
  }

  /** @returns the error that ends the stream */
  async #read(): Promise<ApiError | undefined> {
    const { readNext, toApiError } = this.#deps
    try {
      this.#found = await readNext(this.#found.position)
      return undefined
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) return toApiError(error)
      // Storage may be reachable again at the next read.
      this.#found = { ...this.#found, items: [] }
      return undefined
    }
  }
}

function encodeItem({ id, data }: Item): Buffer {
  return encode(`id: ${id}\nevent: change\ndata: ${JSON.stringify(data)}\n\n`)
}

/**
 * Opens the stream of a request.
 * @param first what the first read has found
 * @param readNext decides again, and reads what comes after a position
 */
export function openStream(
  services: Services,
  { request, requestId, partition }: { readonly request: ServerRequest; readonly requestId: string; readonly partition: string },
  first: StreamedResult,
  readNext: StreamDeps['readNext'],
): EventStream {
  const { store, log } = services
  const waiter = new Waiter(store, partition, first.index, waitSignal(services, request))
  return new EventStream({ requestId, waiter, readNext, toApiError: (error) => toApiError(log, requestId, error) }, first)
}

function encode(text: string): Buffer {
  return Buffer.from(text)
}
