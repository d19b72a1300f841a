import { LRUCache } from 'lru-cache'
import { mayBeAppended } from '../appended.ts'
import { freeze } from '../partition.ts'
import type { Stored } from '../port.ts'
import { decodeStored, hasRevision } from './codec.ts'
import type { View } from './views.ts'

/** The memory that a record takes, as a multiple of its JSON, and in addition, with its name, in bytes. */
const [MEMORY_FACTOR, RECORD_BYTES] = [2, 400]
/** The length of a record that is not known, in characters, until it is read. */
const UNKNOWN_LENGTH = 8192

/** A record; null: it was absent. */
interface KnownRecord {
  readonly stored: Stored | null
  /** of its text in Redis */
  readonly length: number
  /** undefined: it may have changed */
  view: View | undefined
  /** the revision of the partition at that moment. Commits do not name what they append, so such a record is absent for no longer. */
  at: string | undefined
}

/** The records that a process remembers, by their names in Redis. */
export class KnownRecords {
  readonly #records: LRUCache<string, KnownRecord>

  /** @param bytes the memory that they may take, roughly */
  constructor(bytes: number) {
    this.#records = new LRUCache({ maxSize: bytes, sizeCalculation: ({ length }) => MEMORY_FACTOR * length + RECORD_BYTES })
  }

  /** The memory that they take, roughly. */
  get bytes(): number {
    return this.#records.calculatedSize
  }

  /** A record as it was at some moment. @returns null: it was absent; undefined: that is not known */
  get(name: string): Stored | null | undefined {
    return this.#records.get(name)?.stored
  }

  /** The same for a record that is as it was at the revision of a view. */
  getIn(view: View | undefined, name: string): Stored | null | undefined {
    const known = this.#records.get(name)
    if (view === undefined || known?.view !== view) return undefined
    return known.stored === null && known.at !== view.revision && mayBeAppended(name) ? undefined : known.stored
  }

  /** How long its text in Redis was, in characters. */
  lengthOf(name: string): number {
    return this.#records.peek(name)?.length ?? UNKNOWN_LENGTH
  }

  /**
   * Remembers a text from Redis.
   * @param view undefined: it may have changed since it was read
   * @returns the same object as before if it has not changed
   */
  note(name: string, text: string | null, view: View | undefined): Stored | null {
    const known = this.#records.get(name)
    if (known !== undefined && hasRevision(text, known.stored?.revision)) {
      if (view !== undefined) Object.assign(known, { view, at: view.revision })
      return known.stored
    }
    const stored = decodeStored(text)
    this.set(name, stored, text?.length ?? 0, view)
    return stored
  }

  /** @param length of its text in Redis */
  set(name: string, stored: Stored | null, length: number, view: View | undefined): void {
    if (stored !== null) freeze(stored.value)
    this.#records.set(name, { stored, length, view, at: view?.revision })
  }

  /** Forgets whether a record is still so. */
  forget(name: string): void {
    const known = this.#records.peek(name)
    if (known !== undefined) known.view = undefined
  }
}
