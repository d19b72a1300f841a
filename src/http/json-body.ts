import { LRUCache } from 'lru-cache'
import type { Awaitable } from '../model/awaitable.ts'
import { digestOf, isRecord, jsonOf, sha1Of, type KeptJson } from '../store/record-json.ts'

const COMMA = 0x2c
/** The least length, in characters, of a text that is encoded as soon as it is made. */
const LONG = 4096

/** JSON in pieces: a record's JSON is kept, and used by each response that contains the record. */
export type Pieces = readonly Piece[]
type Piece = string | KeptJson
/**
 * Returns a promise to wait for, or undefined.
 * @param length the number of bytes that were made, roughly
 */
type BeforeMore = (length: number) => Promise<void> | undefined

/**
 * The JSON of a record, of a list of records, or of an object with such lists, in pieces that are kept for each record.
 * @param beforeMore is called after each piece. Other requests have their time meanwhile.
 * @returns a promise only if it had to wait
 */
export function piecesOf(data: unknown, beforeMore: BeforeMore): Awaitable<Pieces> {
  const parts: (string | object)[] = []
  addParts(data, parts)
  return collect(parts, [], 0, beforeMore)
}

/** Adds JSON, and the records whose JSON has its place in it. */
function addParts(data: unknown, parts: (string | object)[]): void {
  if (isListOfRecords(data)) {
    for (const [i, record] of data.entries()) parts.push(i === 0 ? '[' : ',', record)
    parts.push(']')
  } else if (hasLists(data)) {
    let before = '{'
    for (const [name, member] of Object.entries(data)) {
      if (member === undefined) continue
      parts.push(`${before}${JSON.stringify(name)}:`)
      addParts(member, parts)
      before = ','
    }
    parts.push('}')
  } else parts.push(typeof data === 'object' && data !== null ? data : JSON.stringify(data))
}

/**
 * Makes a piece of each part.
 * @param pieces made from the first parts
 * @param length of these pieces
 */
function collect(parts: readonly (string | object)[], pieces: Piece[], length: number, beforeMore: BeforeMore): Awaitable<Pieces> {
  for (let i = pieces.length; i < parts.length; i++) {
    const part = parts[i]!
    const piece = encoded(typeof part === 'string' ? part : jsonOf(part))
    pieces.push(piece)
    length += lengthOf(piece)
    const pause = beforeMore(length)
    if (pause !== undefined) return pause.then(() => collect(parts, pieces, length, beforeMore))
  }
  return pieces
}

/** A long text is encoded once, and not again for its length, its hash and its transmission. */
function encoded(piece: Piece): Piece {
  return typeof piece === 'string' && piece.length > LONG ? { bytes: Buffer.from(piece), digest: undefined, isKept: false } : piece
}

function lengthOf(piece: Piece): number {
  return typeof piece === 'string' ? piece.length : piece.bytes.length
}

function isListOfRecords(data: unknown): data is readonly object[] {
  return Array.isArray(data) && typeof data[0] === 'object' && data[0] !== null && isRecord(data[0] as object)
}

/** Whether it is an object with lists of records, such as the snapshot of a board. */
function hasLists(data: unknown): data is object {
  return typeof data === 'object' && data !== null && !Array.isArray(data) && !isRecord(data) && Object.values(data).some(isListOfRecords)
}

/** The body of a success. */
export function bodyOf(pieces: Pieces, nextCursor: string | null | undefined): string | Buffer {
  const page = nextCursor === undefined ? '' : `,"page":{"next_cursor":${JSON.stringify(nextCursor)}}`
  const all = ['{"data":', ...pieces, `${page}}`]
  const first = pieces[1]
  if (first === undefined || typeof first === 'string' || !first.isKept) return concat(all)
  const known = joined.get(first)
  if (known !== undefined && isSame(known.pieces, all)) return known.body
  const body = concat(all) as Buffer
  joined.set(first, { pieces: all, body })
  return body
}

/** Bytes of bodies that a process keeps. */
const JOINED_BYTES = 8 * 1024 * 1024

/**
 * The bodies of lists whose records are kept, by the first record. To join 50 KB of cards anew, in memory that is new for each request,
 * takes a third of the time of their request.
 */
const joined = new LRUCache<KeptJson, { readonly pieces: Pieces; readonly body: Buffer }>({
  maxSize: JOINED_BYTES,
  sizeCalculation: ({ pieces, body }) => body.length + pieces.length,
})

/** Whether they are the same texts, and the same kept records. */
function isSame(pieces: Pieces, others: Pieces): boolean {
  return pieces.length === others.length && pieces.every((piece, i) => piece === others[i])
}

/**
 * A hash of a page: of the hashes of its pieces, which are kept with them. To hash 50 KB of cards anew would take a tenth of the time
 * of their request.
 */
export function versionOf(pieces: Pieces, nextCursor: string | null): string {
  let digests = `${nextCursor} `
  for (const piece of pieces) if (typeof piece !== 'string' || piece.length > 1) digests += digestOf(piece)
  return sha1Of(digests)
}

/** Concatenates texts: to a text if all of them are texts, otherwise to bytes. */
function concat(pieces: Pieces): string | Buffer {
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
