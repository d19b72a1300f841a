import { Readable } from 'node:stream'
import { FastResponse } from 'srvx'
import { ApiError } from '../model/errors.ts'
import { StorageUnavailable } from '../store/port.ts'
import type { StreamedResult } from '../resources/result.ts'
import { API_HEADERS, errorBody } from './envelope.ts'
import type { Waiter } from './waiting.ts'

/** The time without an event after which a comment is sent, in milliseconds: proxies close connections that are silent. */
const HEARTBEAT = 15_000

/**
 * A stream of server-sent events (HTML Living Standard §9.2). Each read decides like a separate request: it
 * authenticates the token and asks the policy again, at least once a second. The stream ends with an event that has the error of
 * the first read that is refused.
 */
export class EventStream {
  readonly #requestId: string
  readonly #waiter: Waiter
  readonly #ready: StreamedResult['items'][number][] = []
  /** where the next read goes on */
  position: string | undefined
  #poll: (() => Promise<unknown>) | undefined

  constructor(requestId: string, waiter: Waiter) {
    this.#requestId = requestId
    this.#waiter = waiter
  }

  /** Adds what a read has found. */
  add({ items, position }: StreamedResult): void {
    this.#ready.push(...items)
    this.position = position
  }

  /** @param poll reads what comes after {@link position}, and adds it */
  start(poll: () => Promise<unknown>): void {
    this.#poll = poll
  }

  /** The response. @param headers besides those of every response */
  respond(method: string, headers: Readonly<Record<string, string>>): Response {
    const all = { ...API_HEADERS, ...headers, 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': this.#requestId }
    if (method === 'HEAD') this.#waiter.end()
    const body = method === 'HEAD' ? null : (Readable.toWeb(Readable.from(this.#events(), { highWaterMark: 1 })) as ReadableStream)
    return new FastResponse(body, { status: 200, statusText: 'OK', headers: { ...all, 'x-accel-buffering': 'no' } })
  }

  async *#events(): AsyncGenerator<Buffer> {
    try {
      yield encode(': the changes of a board\n\n')
      for (let quietSince = performance.now(); ;) {
        for (const { id, data } of this.#ready.splice(0)) {
          yield encode(`id: ${id}\nevent: change\ndata: ${JSON.stringify(data)}\n\n`)
          quietSince = performance.now()
        }
        await this.#waiter.wait()
        if (this.#waiter.isAborted) return
        const error = await this.#read()
        if (error !== undefined) return yield encode(`event: error\ndata: ${JSON.stringify(errorBody(this.#requestId, error))}\n\n`)
        if (performance.now() - quietSince < HEARTBEAT) continue
        quietSince = performance.now()
        yield encode(': still here\n\n')
      }
    } finally {
      this.#waiter.end()
    }
  }

  /** @returns the error that ends the stream */
  async #read(): Promise<ApiError | undefined> {
    try {
      await this.#poll?.()
    } catch (error) {
      // Storage may be reachable again at the next read.
      if (error instanceof StorageUnavailable) return undefined
      if (error instanceof ApiError) return error
      return new ApiError('internal_error')
    }
    return undefined
  }
}

function encode(text: string): Buffer {
  return Buffer.from(text)
}
