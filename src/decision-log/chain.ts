import { encodeLine, mostBytesOf, type LogEnd } from './line.ts'

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
