import { encodeLine, type LogEnd } from './line.ts'

/** Lines that follow the last one of a chain, and what the chain is if they are written. */
export interface EncodedLines {
  readonly text: string
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
    let [text, head, next] = [this.#lead, this.#head, this.#next]
    for (const body of bodies) {
      const line = encodeLine(head, next++, body)
      text += line.text
      head = line.hash
    }
    return { text, head, next }
  }

  /** The lines are written, whether or not they are synced. */
  advance({ head, next }: EncodedLines): void {
    this.#head = head
    this.#next = next
    this.#lead = ''
  }
}
