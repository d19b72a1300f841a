import { ApiError } from '../model/errors.ts'

/** The bytes before the first part, after the last one, and of the head of one part. No client sends nearly as many. */
const MOST_AROUND = 1024
const MOST_OF_HEAD = 8 * 1024
const LONGEST_BOUNDARY = 200

/** A part of a form. */
export interface Part {
  readonly name: string
  /** what its client calls the file; undefined: it is no file, or has no name */
  readonly fileName: string | undefined
  /** its media type, as stated; empty: none is stated */
  readonly type: string
  /** its bytes, which arrive as they are asked for */
  readonly bytes: AsyncIterable<Uint8Array>
}

/**
 * Reads a form part by part (RFC 7578). Nothing is read before it is asked for: who does not want a part asks no further, and nothing that
 * follows is looked at. What surrounds the parts is bounded, so a form costs what its wanted parts weigh.
 * @param type the `Content-Type`
 * @throws {ApiError} `bad_request`, while it is read
 */
export async function* partsOf(type: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Part> {
  const boundary = parametersOf(type).get('boundary') ?? ''
  if (boundary === '' || boundary.length > LONGEST_BOUNDARY) throw unreadable()
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const source = new Source(body[Symbol.asyncIterator]())
  await source.until(delimiter, MOST_AROUND)
  for (;;) {
    // A line break follows, or the two hyphens of the end. Spaces before the line break are allowed.
    if ((await source.peek(2)) === '--') return source.end(MOST_AROUND)
    if ((await source.until(LINE_BREAK, MOST_AROUND)).toString('latin1').trim() !== '') throw unreadable()
    const head = await source.until(HEAD_END, MOST_OF_HEAD)
    const bytes = source.stream(delimiter)
    yield { ...readHead(textOf(head)), bytes }
    // What was not read of it.
    for await (const _ of bytes);
  }
}

const LINE_BREAK = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')

/** The bytes of a form that were received and not taken yet. */
class Source {
  readonly #chunks: AsyncIterator<Uint8Array>
  // The first delimiter begins the body, or a line of it.
  #received: Buffer = LINE_BREAK

  constructor(chunks: AsyncIterator<Uint8Array>) {
    this.#chunks = chunks
  }

  /**
   * Takes the bytes before a text, and the text.
   * @param most how many bytes there may be before it
   */
  async until(text: Buffer, most: number): Promise<Buffer> {
    for (let from = 0; ;) {
      const at = this.#received.indexOf(text, from)
      if (at > most || (at === -1 && this.#received.length >= most + text.length)) throw unreadable()
      if (at !== -1) {
        const before = this.#received.subarray(0, at)
        this.#received = this.#received.subarray(at + text.length)
        return before
      }
      from = Math.max(0, this.#received.length - text.length + 1)
      await this.#receive()
    }
  }

  /** Takes the bytes before a text as they arrive, and then the text. */
  async *stream(text: Buffer): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = this.#received.indexOf(text)
      const isFound = at !== -1
      // The rest may be the beginning of the text.
      const end = isFound ? at : Math.max(0, this.#received.length - text.length + 1)
      const taken = this.#received.subarray(0, end)
      this.#received = this.#received.subarray(isFound ? end + text.length : end)
      if (taken.length > 0) yield taken
      if (isFound) return
      await this.#receive()
    }
  }

  /** The next characters, which are not taken. */
  async peek(length: number): Promise<string> {
    while (this.#received.length < length) await this.#receive()
    return this.#received.toString('latin1', 0, length)
  }

  /**
   * Reads to the end.
   * @param most how many bytes there may be
   */
  async end(most: number): Promise<void> {
    for (let length = this.#received.length; ;) {
      if (length > most) throw unreadable()
      const { done, value } = await this.#chunks.next()
      if (done === true) return
      length += (value as Uint8Array).byteLength
    }
  }

  async #receive(): Promise<void> {
    const { done, value } = await this.#chunks.next()
    if (done === true) throw unreadable()
    this.#received = Buffer.concat([this.#received, value as Uint8Array])
  }
}

function unreadable(): ApiError {
  return new ApiError('bad_request', { message: 'The multipart body could not be read.' })
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Browsers write heads in UTF-8, some programs in Latin-1. */
function textOf(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}

/** What the head of a part says. A line that is no header is ignored. */
function readHead(text: string): Omit<Part, 'bytes'> {
  const headers = new Map<string, string>()
  // A line that begins with a space continues the one before it.
  for (const line of text.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase()
    if (name !== '' && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  const parameters = parametersOf(headers.get('content-disposition') ?? '')
  return {
    name: asSent(parameters.get('name') ?? ''),
    fileName: extended(parameters.get('filename*')) ?? plainName(parameters.get('filename')),
    type: headers.get('content-type') ?? '',
  }
}

const PARAMETER = /;\s*([\w!#$&+.^`|~*-]{1,40})\s*=\s*(?:"((?:\\["\\]|[^"\\]|\\(?!["\\]))*)"|([^;\s"]*))/g

/** The parameters of a header, by their names in lower case. */
function parametersOf(header: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [, name, quoted, plain] of header.matchAll(PARAMETER)) {
    const key = name!.toLowerCase()
    // Old browsers send whole paths: only a quotation mark and a backslash can be escaped.
    if (!found.has(key)) found.set(key, quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain!)
  }
  return found
}

/**
 * `UTF-8''caf%C3%A9.png` (RFC 8187).
 * @returns undefined unless it is well-formed
 */
function extended(value: string | undefined): string | undefined {
  const [, charset, percent] = /^([\w-]{1,40})'[\w-]*'(.*)$/s.exec(value ?? '') ?? []
  if (charset === undefined || percent === '') return undefined
  const bytes = percent!.replaceAll(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return decoded(charset, Buffer.from(bytes, 'latin1'))
}

function plainName(value: string | undefined): string | undefined {
  return value === undefined ? undefined : asSent(withoutWords(value))
}

/** Browsers write a quotation mark and line breaks so, and nothing else (HTML §4.10.21.8). */
function asSent(text: string): string {
  return text.replaceAll(/%(22|0D|0A)/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

const WORD = /=\?([\w-]{1,40})\?([bq])\?([^?\s]*)\?=/gi

/** Encoded words of mail, which .NET writes: `=?utf-8?B?Y2Fmw6k=?=` (RFC 2047). One that cannot be decoded stays as it is. */
function withoutWords(text: string): string {
  const joined = text.replaceAll(/(\?=)\s+(?==\?)/g, '$1')
  return joined.replaceAll(WORD, (word, charset: string, encoding: string, content: string) => {
    const bytes =
      encoding.toLowerCase() === 'b'
        ? Buffer.from(content, 'base64')
        : Buffer.from(
            content
              .replaceAll('_', ' ')
              .replaceAll(/=([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
            'latin1',
          )
    return decoded(charset, bytes) ?? word
  })
}

/** @returns undefined if the character set is unknown, or the bytes are not valid in it */
function decoded(charset: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
