import { endianness } from 'node:os'

/** The sizes of the headers of a log and of a frame, in bytes. https://sqlite.org/fileformat2.html#walformat */
const HEADER = 32
const FRAME_HEADER = 24
/** What a log begins with: the last bit tells the order of the bytes in the numbers that are summed. */
const MAGIC = 0x377f0682
/** The size of a page of our databases, in bytes. */
export const PAGE_SIZE = 4096
const FRAME = FRAME_HEADER + PAGE_SIZE

/** Reads a part of a log. */
type Read = (at: number, length: number) => Buffer

/**
 * Looks for lost transactions in a log (WAL). SQLite reads it up to the first frame whose checksum is wrong, because a crash may have torn
 * the last transaction. Each transaction is synced before the next one begins, so the end of two of them after such a place is damage.
 * @param size of the log, in bytes
 * @returns `torn` if the last transaction is incomplete or damaged, which cannot be told apart
 */
export function damageOfLog(size: number, read: Read): 'damaged' | 'torn' | undefined {
  if (size < HEADER + FRAME_HEADER) return undefined
  const end = endOfTransactions(size, read)
  // If the header is damaged, the first frame has the same salts.
  const salts = end === 0 ? read(HEADER + 8, 8) : read(16, 8)
  let [frames, transactions] = [0, 0]
  for (let at = Math.max(end, HEADER); at + FRAME_HEADER <= size; at += FRAME) {
    const header = read(at, FRAME_HEADER)
    if (!header.subarray(8, 16).equals(salts)) continue
    frames++
    // The last frame of a transaction has the size of the database after it.
    if (header.readUInt32BE(4) !== 0) transactions++
  }
  return transactions > 1 ? 'damaged' : frames > 0 ? 'torn' : undefined
}

/** Where the last transaction that SQLite reads ends; 0 if it reads no frame at all. Each checksum includes those before it. */
function endOfTransactions(size: number, read: Read): number {
  const header = read(0, HEADER)
  const magic = header.readUInt32BE(0)
  if (magic >>> 1 !== MAGIC >>> 1) return 0
  const sum = new Checksum((magic & 1) === 1)
  if (!sum.add(header.subarray(0, HEADER - 8)).equals(header, HEADER - 8)) return 0
  let end = HEADER
  for (let at = HEADER; at + FRAME <= size; at += FRAME) {
    const frame = read(at, FRAME)
    if (!frame.subarray(8, 16).equals(header.subarray(16, 24))) break
    if (!sum.add(frame.subarray(0, 8)).add(frame.subarray(FRAME_HEADER)).equals(frame, 16)) break
    if (frame.readUInt32BE(4) !== 0) end = at + FRAME
  }
  return end
}

/** The checksum of a log: two sums of 32 bits; the numbers are added to them in turn, each together with the other sum. */
class Checksum {
  readonly #isSwapped: boolean
  readonly #sums = new Uint32Array(2)

  constructor(isBigEndian: boolean) {
    this.#isSwapped = isBigEndian !== (endianness() === 'BE')
  }

  /** @param bytes a multiple of eight */
  add(bytes: Uint8Array): this {
    // A copy begins at a multiple of four, and only a copy may be swapped.
    const copy = Buffer.from(new Uint8Array(bytes).buffer)
    if (this.#isSwapped) copy.swap32()
    const words = new Uint32Array(copy.buffer)
    let [one, two] = [this.#sums[0]!, this.#sums[1]!]
    for (let i = 0; i < words.length; i += 2) {
      one = (one + words[i]! + two) >>> 0
      two = (two + words[i + 1]! + one) >>> 0
    }
    this.#sums.set([one, two])
    return this
  }

  equals(log: Buffer, at: number): boolean {
    return this.#sums[0] === log.readUInt32BE(at) && this.#sums[1] === log.readUInt32BE(at + 4)
  }
}
