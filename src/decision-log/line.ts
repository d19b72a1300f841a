import { hash } from 'node:crypto'

/** The members of a log line that the chain needs. */
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
/** A line of the log with its line break, and its hash. */
export interface EncodedLine {
  readonly text: string
  readonly hash: string
}

/**
 * Makes a line. It ends with its own hash and begins with the hash of the line before: whoever changes, removes or moves a line breaks the
 * chain.
 * @param body the members of a record as JSON, without braces
 */
export function encodeLine(prev: string | null, n: number, body: string): EncodedLine {
  const text = `{"prev":${prev === null ? 'null' : `"${prev}"`},"n":${n},${body}`
  const sum = hash('sha256', text)
  return { text: `${text},"hash":"${sum}"}\n`, hash: sum }
}

/**
 * Reads the chain members of a line, without its line break.
 * @returns undefined if it has not the shape of a line
 */
export function readLine(text: string): Line | undefined {
  const found = SHAPE.exec(text)
  return found === null ? undefined : { prev: found[1] ?? null, n: Number(found[2]), hash: found[3]! }
}

/**
 * Whether the content of a line has its hash.
 * @param bytes the line without its line break
 */
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
  /** the text that a crash has left after it */
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

/**
 * Finds the end of a log.
 * @throws {NoDecisionLog}
 */
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

/** The result for text that consists of no valid lines. */
export function tornOf(lines: readonly Buffer[]): Torn | undefined {
  if (lines.length === 0) return undefined
  const bytes = Buffer.concat(lines.flatMap((line, i) => (i === 0 ? [line] : [Buffer.from('\n'), line])))
  return { bytes: bytes.length, sha256: sha256(bytes) }
}
