import { setMaxListeners } from 'node:events'
import { Readable } from 'node:stream'
import type { ServerRequest } from 'srvx'
import type { StreamShare } from '../governor/stream-share.ts'
import type { ApiError } from '../model/errors.ts'
import { StorageUnavailable } from '../store/port.ts'
import type { StreamedResult } from '../resources/result.ts'
import { HttpResponse } from './compression.ts'
import { API_HEADERS, errorBody } from './envelope.ts'
import { toApiError } from './error-mapping.ts'
import { Waiter, waitSignal } from './long-poll.ts'
import type { Services } from './services.ts'

/** Milliseconds without an event until a comment is sent: proxies close silent connections. */
const HEARTBEAT = 15_000
/** How many bytes are made at once. What a client does not read yet is read from storage, and made into events, when it does. */
const PIECE = 64 * 1024

type Item = StreamedResult['items'][number]

/** What a stream works with. */
export interface StreamDeps {
  readonly requestId: string
  readonly waiter: Waiter
  /** what the streams of the response may use */
  readonly share: StreamShare
  /** decides again, and reads what comes after a position */
  readonly readNext: (position: string) => Promise<StreamedResult>
  /** further members of the event of an error; undefined: none */
  readonly about?: Readonly<Record<string, string>> | undefined
  /** the error that the stream ends with. It logs unexpected ones. */
  readonly toApiError: (error: unknown) => ApiError
  /** the monotonic clock, in milliseconds */
  readonly now?: () => number
}

/**
 * A stream of server-sent events (HTML Living Standard §9.2). Each read decides like a separate request: it
 * authenticates the token and asks the policy again, at least once a second. The stream ends with an event that has the error of
 * the first read that is refused, or with `rate_limited` if it cannot be served within its share. Each of several in one response goes on
 * until it ends by itself.
 * @param streams each with the result of its first read
 * @param headers in addition to every response's
 */
export function eventStreams(
  streams: readonly (StreamDeps & { readonly first: StreamedResult })[],
  method: string,
  headers: Readonly<Record<string, string>>,
): Response {
  const all = { ...API_HEADERS, ...headers, 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': streams[0]!.requestId }
  if (method === 'HEAD') for (const { waiter } of streams) waiter.end()
  const events = streams.map(({ first, ...deps }) => eventsOf(deps, first))
  const body =
    method === 'HEAD' ? null : (Readable.toWeb(Readable.from(events.length === 1 ? events[0]! : merged(events))) as ReadableStream)
  return new HttpResponse(body, { status: 200, headers: { ...all, 'x-accel-buffering': 'no' } })
}

/** What comes of several generators, as it comes. When it is not read any more, they end. */
async function* merged(generators: readonly AsyncGenerator<Buffer>[]): AsyncGenerator<Buffer> {
  const next = async (generator: AsyncGenerator<Buffer>) => ({ generator, result: await generator.next() })
  const coming = new Map(generators.map((generator) => [generator, next(generator)]))
  try {
    while (coming.size > 0) {
      const { generator, result } = await Promise.race(coming.values())
      if (result.done === true) coming.delete(generator)
      else {
        coming.set(generator, next(generator))
        yield result.value
      }
    }
  } finally {
    for (const generator of coming.keys()) void generator.return(undefined)
  }
}

async function* eventsOf(
  { requestId, waiter, share, readNext, about, toApiError, now = () => performance.now() }: StreamDeps,
  first: StreamedResult,
): AsyncGenerator<Buffer> {
  let found = first
  try {
    yield encode(': the changes of a board\n\n')
    for (let quietSince = now(); ;) {
      for (let at = 0; at < found.items.length;) {
        const piece = await share.step(() => encodePiece(found.items, at))
        const offered = now()
        yield piece.bytes
        quietSince = now()
        share.requireRest(piece.bytes.length, quietSince - offered)
        at = piece.end
      }
      await waiter.wait()
      if (waiter.isAborted) return
      try {
        found = await share.step(() => readNext(found.position))
      } catch (error) {
        if (!(error instanceof StorageUnavailable)) throw error
        // Storage may be reachable again at the next read.
        found = { ...found, items: [] }
      }
      if (now() - quietSince < HEARTBEAT) continue
      quietSince = now()
      yield encode(': still here\n\n')
    }
  } catch (error) {
    yield encode(`event: error\ndata: ${JSON.stringify({ ...about, ...errorBody(requestId, toApiError(error)) })}\n\n`)
  } finally {
    waiter.end()
  }
}

/**
 * Makes the next events, until they are large.
 * @returns them, and where they end
 */
function encodePiece(items: readonly Item[], begin: number): { readonly bytes: Buffer; readonly end: number } {
  let text = ''
  let end = begin
  while (end < items.length && text.length < PIECE) {
    const { id, data } = items[end++]!
    text += `id: ${id}\nevent: change\ndata: ${JSON.stringify(data)}\n\n`
  }
  return { bytes: encode(text), end }
}

/** The request of a stream. */
interface StreamRequest {
  readonly request: ServerRequest
  readonly method: string
  readonly requestId: string
  readonly partition: string
  readonly share: StreamShare
}

/** A feed whose events a stream sends. */
export interface Feed extends Pick<StreamDeps, 'readNext' | 'about'> {
  /** what the first read has found */
  readonly first: StreamedResult
}

/**
 * Opens the stream of a request.
 * @param feeds at least one: they are independent of each other
 */
export function openStream(
  services: Services,
  { request, method, requestId, partition, share }: StreamRequest,
  feeds: readonly Feed[],
  headers: Readonly<Record<string, string>>,
): Response {
  const { store, log } = services
  const signal = waitSignal(services, request)
  // Each feed waits for the same end.
  setMaxListeners(feeds.length + 10, signal)
  const streams = feeds.map((feed) => ({
    ...feed,
    requestId,
    share,
    waiter: new Waiter(store, partition, feed.first.index, signal),
    toApiError: (error: unknown) => toApiError(log, requestId, error),
  }))
  return eventStreams(streams, method, headers)
}

function encode(text: string): Buffer {
  return Buffer.from(text)
}
