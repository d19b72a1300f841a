import { Readable } from 'node:stream'
import { FastResponse } from 'srvx'
import type { ApiError } from '../model/errors.ts'
import { StorageUnavailable } from '../store/port.ts'
import type { StreamedResult } from '../resources/result.ts'
import { API_HEADERS, errorBody } from './envelope.ts'
import type { Waiter } from './waiting.ts'

/** The time without an event after which a comment is sent, in milliseconds: proxies close connections that are silent. */
const HEARTBEAT = 15_000

type Item = StreamedResult['items'][number]

/** What a stream works with. */
export interface StreamDeps {
  readonly requestId: string
  readonly waiter: Waiter
  /** reads together with other streams what comes after what this one has found last */
  readonly readAhead: (last: StreamedResult, hintedAt: number) => Promise<StreamedResult | undefined>
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
  readonly #ready: Item[] = []
  #last!: StreamedResult
  #poll: ((ahead: StreamedResult | undefined) => Promise<unknown>) | undefined

  constructor(deps: StreamDeps) {
    this.#deps = { now: () => performance.now(), ...deps }
  }

  /** where the next read goes on */
  get position(): string {
    return this.#last.position
  }

  /** Adds what a read has found. */
  add(found: StreamedResult): void {
    this.#ready.push(...found.items)
    this.#last = found
  }

  /** @param poll decides again, and adds what comes after {@link position}: what was read ahead, or what it reads */
  start(poll: (ahead: StreamedResult | undefined) => Promise<unknown>): void {
    this.#poll = poll
  }

  /** The response. @param headers besides those of every response */
  respond(method: string, headers: Readonly<Record<string, string>>): Response {
    const { requestId, waiter } = this.#deps
    const all = { ...API_HEADERS, ...headers, 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': requestId }
    if (method === 'HEAD') waiter.end()
    const body = method === 'HEAD' ? null : (Readable.toWeb(Readable.from(this.#events())) as ReadableStream)
    return new FastResponse(body, { status: 200, statusText: 'OK', headers: { ...all, 'x-accel-buffering': 'no' } })
  }

  async *#events(): AsyncGenerator<Buffer> {
    const { requestId, waiter, now } = this.#deps
    try {
      yield encode(': the changes of a board\n\n')
      for (let quietSince = now(); ;) {
        for (const item of this.#ready.splice(0)) {
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
    const { waiter, readAhead, toApiError } = this.#deps
    try {
      // What is read is older than the decision.
      await this.#poll!(await readAhead(this.#last, waiter.hintedAt))
      return undefined
    } catch (error) {
      // Storage may be reachable again at the next read.
      return error instanceof StorageUnavailable ? undefined : toApiError(error)
    }
  }
}

/** The events of items that several streams send. */
const encoded = new WeakMap<Item, Buffer>()

function encodeItem(item: Item): Buffer {
  let event = encoded.get(item)
  if (event === undefined) encoded.set(item, (event = encode(`id: ${item.id}\nevent: change\ndata: ${JSON.stringify(item.data)}\n\n`)))
  return event
}

function encode(text: string): Buffer {
  return Buffer.from(text)
}
