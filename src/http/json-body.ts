import type { Awaitable } from '../model/awaitable.ts'
import { digestOf, isRecord, jsonOf, type KeptJson } from '../store/record-json.ts'

const COMMA = 0x2c
/** The length from which a text is encoded when it is made, in characters. */
const LONG = 4096

/** JSON in pieces: that of a record is kept, and used by each response that contains the record. */
export type Pieces = readonly Piece[]
type Piece = string | KeptJson
/** Returns a promise to wait for, or undefined. @param length the number of bytes that were made, roughly */
type BeforeMore = (length: number) => Promise<void> | undefined

/**
 * The JSON of a record, of a list of records, or of an object with such lists, in pieces that are kept for each record.
 * @param beforeMore is called after each piece. Other requests have their time meanwhile.
 * @returns a promise only if it had to wait
 */
export function piecesOf(data: unknown, beforeMore: BeforeMore): Awaitable<Pieces> {
  return collect(partsOf(data), [], 0, beforeMore)
}

function collect(parts: Iterator<Piece>, pieces: Piece[], made: number, beforeMore: BeforeMore): Awaitable<Pieces> {
  let length = made
  for (let part = parts.next(); part.done !== true; part = parts.next()) {
    const { value } = part
    // A long text is encoded once, and not again for its length, its hash and its transmission.
    const piece = typeof value === 'string' && value.length > LONG ? { bytes: Buffer.from(value), digest: undefined } : value
    pieces.push(piece)
    length += typeof piece === 'string' ? piece.length : piece.bytes.length
    const pause = beforeMore(length)
    if (pause !== undefined) return pause.then(() => collect(parts, pieces, length, beforeMore))
  }
  return pieces
}

function* partsOf(data: unknown): Generator<Piece> {
  if (isListOfRecords(data)) yield* partsOfList(data)
  else if (!hasLists(data)) yield typeof data === 'object' && data !== null ? jsonOf(data) : JSON.stringify(data)
  else {
    let before = '{'
    for (const [name, member] of Object.entries(data)) {
      if (member === undefined) continue
      yield `${before}${JSON.stringify(name)}:`
      yield* partsOf(member)
      before = ','
    }
    yield '}'
  }
}

function isListOfRecords(data: unknown): data is readonly object[] {
  return Array.isArray(data) && typeof data[0] === 'object' && data[0] !== null && isRecord(data[0] as object)
}

/** Whether it is an object with lists of records, such as the snapshot of a board. */
function hasLists(data: unknown): data is object {
  return typeof data === 'object' && data !== null && !Array.isArray(data) && !isRecord(data) && Object.values(data).some(isListOfRecords)
}

function* partsOfList(list: readonly object[]): Generator<Piece> {
  for (const [i, item] of list.entries()) {
    yield i === 0 ? '[' : ','
    yield jsonOf(item)
  }
  yield ']'
}

/** The body of a success. */
export function bodyOf(pieces: Pieces, nextCursor: string | null | undefined): string | Buffer {
  const page = nextCursor === undefined ? '' : `,"page":{"next_cursor":${JSON.stringify(nextCursor)}}`
  return concat('{"data":', ...pieces, `${page}}`)
}

/**
 * A hash of a page: of the hashes of its pieces, which are kept with them. To hash 50 KB of cards anew would take a tenth of the time
 * of their request.
 */
export function versionOf(pieces: Pieces, nextCursor: string | null): string {
  let digests = `${nextCursor} `
  for (const piece of pieces) if (typeof piece !== 'string' || piece.length > 1) digests += digestOf(piece)
  return digestOf(digests)
}

/** Concatenates texts: to a text if all of them are texts, otherwise to bytes. */
function concat(...pieces: Pieces): string | Buffer {
  let text = ''
  let length = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece
    else length += piece.bytes.length
  }
  if (length === 0) return text
  length += Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(length)
  let end = 0
  for (const piece of pieces) {
    // A page has a comma for each item.
    if (piece === ',') bytes[end++] = COMMA
    else if (typeof piece === 'string') end += bytes.write(piece, end)
    else {
      bytes.set(piece.bytes, end)
      end += piece.bytes.length
    }
  }
  return bytes
}
