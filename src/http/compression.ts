import { STATUS_CODES, type ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { FastResponse, type ServerRequest } from 'srvx'
import type { Awaitable } from '../model/awaitable.ts'

/** A smaller body fits into the packets that its head needs anyway. In bytes. */
const SMALLEST = 1024
/**
 * How many bodies are compressed at the same time. Each takes memory meanwhile, and a thread of the pool of four that also writes
 * the bytes of files and hashes passwords.
 */
const AT_ONCE = 2

const gzipAsync = promisify(gzip)
const brotliAsync = promisify(brotliCompress)

/** How bodies are compressed. */
type Compressors = Readonly<Record<Coding, (body: string | Uint8Array, size: number) => Promise<Uint8Array>>>

/** Both take about 1 ms for 60 KB of cards and leave a fifth of it. The next higher levels take almost twice as long. */
const onThreads: Compressors = {
  br: (body, size) =>
    brotliAsync(body, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        // A window of 256 KiB instead of 4 MiB.
        [constants.BROTLI_PARAM_LGWIN]: 18,
        [constants.BROTLI_PARAM_SIZE_HINT]: size,
      },
    }),
  gzip: (body) => gzipAsync(body, { level: 5 }),
}

/** A response with the reason phrase of its status. */
export class HttpResponse extends FastResponse {
  constructor(body: BodyInit | null, init: ResponseInit & { readonly status: number }) {
    super(body, { statusText: STATUS_CODES[init.status] ?? '', ...init })
  }
}

/**
 * A response whose body may be compressed. Everything else is sent as it is: the bytes of files, streams, and the pages of the
 * web app that show a secret.
 */
export class CompressibleResponse extends FastResponse {
  readonly content: string | Uint8Array
  /** whose compressed body is kept; undefined: it is compressed for each request */
  readonly owner: object | undefined
  /** undefined since someone had them as an object, and may have changed that */
  #list: HeaderList | undefined

  constructor(content: string | Uint8Array, status: number, headers: HeaderList, owner?: object) {
    super(content as string, { status, statusText: STATUS_CODES[status] ?? '' })
    this.content = content
    this.owner = owner
    this.#list = headers
  }

  override get headers(): Headers {
    const headers = super.headers
    // Each cookie has a header of its own.
    for (const [name, value] of pairsOf(this.#list ?? [])) {
      if (name === 'set-cookie') headers.append(name, value)
      else headers.set(name, value)
    }
    this.#list = undefined
    return headers
  }

  /** The same response with a compressed body. */
  compressed(body: Uint8Array, coding: Coding): CompressibleResponse {
    const own: Readonly<Record<string, (value: string) => string>> = {
      'content-length': () => String(body.byteLength),
      etag: (etag) => codedTag(etag, coding),
    }
    const pairs = this.#list === undefined ? [...super.headers] : pairsOf(this.#list)
    const list = pairs.flatMap(([name, value]) => [name, own[name]?.(value) ?? value])
    return new CompressibleResponse(body, this.status, [...list, 'content-encoding', coding])
  }

  /**
   * Sends it as it was made: head and body at once, with no object of headers, no promise and no listener for each response.
   * @returns whether it could be sent so
   */
  sendTo(response: ServerResponse): boolean {
    const list = this.#list
    if (list === undefined) return false
    response.writeHead(this.status, this.statusText, list as string[]).end(this.content)
    return true
  }
}

/** The headers of a response: names and values in turns, as Node takes them. */
export type HeaderList = readonly string[]

/** The headers as the web platform takes them. */
export function pairsOf(list: HeaderList): [name: string, value: string][] {
  return list.flatMap((name, i): [string, string][] => (i % 2 === 0 ? [[name, list[i + 1]!]] : []))
}

/** Compresses responses with gzip or br for clients that ask for it (RFC 9110 §12.5.3), and never on the event loop. */
export class Compression {
  readonly #compressors: Compressors
  /** by owner and coding */
  readonly #kept = new WeakMap<object, Map<Coding, Promise<Uint8Array>>>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(compressors: Compressors = onThreads) {
    this.#compressors = compressors
  }

  /** Returns the response, compressed if the client asks for it and the body is worth it. */
  apply(request: ServerRequest, response: Response): Awaitable<Response> {
    const accepted = request.headers.get('accept-encoding')
    if (accepted === null || !(response instanceof CompressibleResponse)) return response
    const size = Buffer.byteLength(response.content)
    const coding = size > SMALLEST ? preferredCoding(accepted) : undefined
    return coding === undefined ? response : this.#compressed(response, size, coding)
  }

  async #compressed(response: CompressibleResponse, size: number, coding: Coding): Promise<Response> {
    const { content, owner } = response
    const body = await (owner === undefined ? this.#compress(coding, content, size) : this.#keep(owner, coding, content, size))
    return response.compressed(body, coding)
  }

  #keep(owner: object, coding: Coding, content: string | Uint8Array, size: number): Promise<Uint8Array> {
    let kept = this.#kept.get(owner)
    if (kept === undefined) this.#kept.set(owner, (kept = new Map()))
    let body = kept.get(coding)
    if (body === undefined) {
      kept.set(coding, (body = this.#compress(coding, content, size)))
      body.catch(() => kept.delete(coding))
    }
    return body
  }

  async #compress(coding: Coding, content: string | Uint8Array, size: number): Promise<Uint8Array> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => void this.#waiting.push(resolve))
    else this.#running++
    try {
      return await this.#compressors[coding](content, size)
    } finally {
      // The next one takes its place.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}

/**
 * The ETag of a compressed representation. A strong one must differ from the plain one's (RFC 9110 §8.8.3.3), so it gets a
 * suffix, which is ignored in conditions. A weak one is the same for all.
 */
function codedTag(etag: string, coding: Coding): string {
  return etag.startsWith('W/') ? etag : etag.replace(/"$/, `-${coding}"`)
}

/** The content codings of responses, best first: of two that a client prefers alike, the first one is used. */
const codings = ['br', 'gzip'] as const
export type Coding = (typeof codings)[number]

/** A coding or a star, with its weight (RFC 9110 §12.4.2). */
const ELEMENT = /^([\w!#$%&'*+.^`|~-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i
/** Recipients treat it as gzip (RFC 9110 §8.4.1.3). */
const ALIASES: Readonly<Record<string, string>> = { 'x-gzip': 'gzip' }

/**
 * The coding that a client prefers to none (RFC 9110 §12.5.3). What is not valid in the header is ignored.
 * @param header Accept-Encoding
 * @returns undefined: the response is sent without a coding, also if the client accepts nothing that is available
 */
export function preferredCoding(header: string): Coding | undefined {
  const weights = readWeights(header)
  const plain = weights.get('identity') ?? 0
  let [best, highest]: [Coding | undefined, number] = [undefined, 0]
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0
    if (weight > highest && weight >= plain) [best, highest] = [coding, weight]
  }
  return best
}

/** The weights of the codings in a header; of several for one coding, the last one counts. */
function readWeights(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const element of header.split(',')) {
    const [, name, weight = '1'] = ELEMENT.exec(element.trim()) ?? []
    if (name === undefined) continue
    const coding = name.toLowerCase()
    weights.set(ALIASES[coding] ?? coding, Number(weight))
  }
  return weights
}

/** Proxies that compress add such a suffix, too: Apache `-gzip` and `-br`, Caddy also `-zstd`. */
const SUFFIX = /-(?:br|gzip|zstd)"$/

/** The ETag of the same representation without a coding: a client states the one that it received. */
export function plainTag(tag: string): string {
  return tag.replace(SUFFIX, '"')
}
