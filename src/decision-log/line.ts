import { hash } from 'node:crypto'

/** A line of the log, as far as the chain needs it. */
export interface Line {
  /** the hash of the line before; null: there was none */
  readonly prev: string | null
  /** its number in the log, from 0 */
  readonly n: number
  /** SHA-256 of everything before this member, in hexadecimal */
  readonly hash: string
}

const SHAPE = /^\{"prev":(?:null|"([0-9a-f]{64})"),"n":(\d{1,15}),"[^\n]*,"hash":"([0-9a-f]{64})"\}$/
/** The characters after the part that is hashed: `,"hash":"…"}`. */
const TAIL = ',"hash":""}'.length + 64
/** The size of a line without its members, at most. */
const FRAME = 256

/** The greatest size of a line, in bytes. @param body the members of a record as JSON, without braces */
function mostBytesOf(body: string): number {
  return FRAME + body.length * 3
}

/**
 * Writes a line. It ends with its own hash, and begins with that of the line before: who changes, removes or moves a line breaks the
 * chain.
 * @param at where it begins in the bytes, which have room for it
 * @returns where it ends, and its hash
 */
export function encodeLine(
  bytes: Buffer,
  at: number,
  prev: string | null,
  n: number,
  body: string,
): { readonly end: number; readonly hash: string } {
  let end = at + bytes.write(`{"prev":${prev === null ? 'null' : `"${prev}"`},"n":${n},${body}`, at)
  const sum = hash('sha256', bytes.subarray(at, end))
  end += bytes.write(`,"hash":"${sum}"}\n`, end, 'latin1')
  return { end, hash: sum }
}

/** Reads the chain members of a line, without its line break. @returns undefined if it has not the shape of a line */
export function readLine(text: string): Line | undefined {
  const found = SHAPE.exec(text)
  return found === null ? undefined : { prev: found[1] ?? null, n: Number(found[2]), hash: found[3]! }
}

/** Whether the content of a line has its hash. @param bytes the line without its line break */
export function isIntact(bytes: Buffer, line: Line): boolean {
  return hash('sha256', bytes.subarray(0, bytes.length - TAIL)) === line.hash
}

/** SHA-256 in hexadecimal. */
export function sha256(bytes: Buffer): string {
  return hash('sha256', bytes)
}

/** Bytes up to a line break, and where they begin in their file. */
export interface RawLine {
  readonly bytes: Buffer
  /** from 0 */
  readonly offset: number
  /** whether a line break follows */
  readonly isComplete: boolean
}

const LINE_BREAK = 10

/** Splits the parts of a file into lines. */
export async function* splitLines(parts: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<RawLine> {
  let rest: Buffer[] = []
  let offset = 0
  for await (const part of parts) {
    let from = 0
    for (let end = part.indexOf(LINE_BREAK); end !== -1; end = part.indexOf(LINE_BREAK, from)) {
      const last = part.subarray(from, end)
      const bytes = rest.length === 0 ? last : Buffer.concat([...rest, last])
      yield { bytes, offset, isComplete: true }
      offset += bytes.length + 1
      rest = []
      from = end + 1
    }
    if (from < part.length) rest.push(part.subarray(from))
  }
  if (rest.length > 0) yield { bytes: Buffer.concat(rest), offset, isComplete: false }
}

/** The end of a log that a process has left. */
export interface LogEnd {
  /** the hash of its last line; null: it has none */
  readonly head: string | null
  /** the number of the next line */
  readonly next: number
  /** what a crash has left after it */
  readonly torn: Torn | undefined
  /** whether the last line has no line break */
  readonly isOpen: boolean
}

/** The bytes after the last line, without a line break at their end. */
export interface Torn {
  readonly bytes: number
  readonly sha256: string
}

/** The file is no decision log. */
export class NoDecisionLog extends Error {
  override readonly name = 'NoDecisionLog'
}

/** Finds the end of a log. @throws {NoDecisionLog} */
export async function findEnd(name: string, parts: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<LogEnd> {
  let head: string | null = null
  let next = 0
  let after: Buffer[] = []
  let isOpen = false
  let isFirst = true
  for await (const { bytes, isComplete } of splitLines(parts)) {
    const text = bytes.toString()
    const line = readLine(text)
    if (isFirst && line === undefined && !text.startsWith('{"prev":'.slice(0, text.length)))
      throw new NoDecisionLog(`${name} is not a decision log: nothing is added to it`)
    isFirst = false
    isOpen = !isComplete
    if (line === undefined) after.push(bytes)
    else {
      head = line.hash
      next = line.n + 1
      after = []
    }
  }
  return { head, next, torn: tornOf(after), isOpen }
}

/** What lines that are none are together. */
export function tornOf(lines: readonly Buffer[]): Torn | undefined {
  if (lines.length === 0) return undefined
  const bytes = Buffer.concat(lines.flatMap((line, i) => (i === 0 ? [line] : [Buffer.from('\n'), line])))
  return { bytes: bytes.length, sha256: sha256(bytes) }
}

/** The most bytes that stay allocated for the next lines. */
const LARGEST_KEPT = 1024 * 1024

/** Lines that follow the last one of a chain, and what the chain is if they are written. */
export interface EncodedLines {
  /** valid until the next lines are made */
  readonly bytes: Buffer
  /** the hash of the last one */
  readonly head: string | null
  /** the number of the next one */
  readonly next: number
}

/** The end of a log: each line has a number, and the hash of the line before. */
export class Chain {
  #head: string | null
  #next: number
  /** a line break that the file lacks */
  #lead: string
  /** is used again: to allocate it for all lines takes longer than to hash them */
  #buffer = Buffer.allocUnsafeSlow(0)

  constructor({ head, next, isOpen }: LogEnd) {
    this.#head = head
    this.#next = next
    this.#lead = isOpen ? '\n' : ''
  }

  /** The hash of the last line. */
  get head(): string | null {
    return this.#head
  }

  /** The number of the next line. */
  get next(): number {
    return this.#next
  }

  /** Makes lines that follow the last one. They are no part of the chain until they are written. */
  encode(bodies: readonly string[]): EncodedLines {
    const buffer = this.#bufferFor(bodies)
    let [head, next] = [this.#head, this.#next]
    let at = buffer.write(this.#lead, 0)
    for (const body of bodies) {
      const line = encodeLine(buffer, at, head, next++, body)
      at = line.end
      head = line.hash
    }
    return { bytes: buffer.subarray(0, at), head, next }
  }

  #bufferFor(bodies: readonly string[]): Buffer {
    let size = this.#lead.length
    for (const body of bodies) size += mostBytesOf(body)
    if (size > LARGEST_KEPT) return Buffer.allocUnsafeSlow(size)
    if (this.#buffer.byteLength < size) this.#buffer = Buffer.allocUnsafeSlow(Math.min(LARGEST_KEPT, size * 2))
    return this.#buffer
  }

  /** The lines are written, whether or not they are synced. */
  advance({ head, next }: EncodedLines): void {
    this.#head = head
    this.#next = next
    this.#lead = ''
  }
}
