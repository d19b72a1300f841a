import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Stored, Value } from './port.ts'
import { partitionPoint } from './sorted-index.ts'

/** Records per batch. */
const BATCH = 500
/** How many keys are processed before other work runs. */
const STEP = 5000

/** Records by key. */
export interface ReadableRecords {
  get(key: string): Stored | undefined
  keys(): Iterable<string>
}

/**
 * Reads the records of a partition in memory as they were when it began, ordered by key. Other work runs between its steps,
 * and may change the records. Of a record that is changed before it was read, the previous value is kept until then. Besides
 * these values, the memory that it needs is a list of the keys.
 */
export class Dump {
  readonly #records: ReadableRecords
  /** the values of records that were changed since, and that are still to be read */
  readonly #previous = new Map<string, Value>()
  /** all keys in order; undefined until they are sorted */
  #keys: readonly string[] | undefined
  /** the index of the next key to read */
  #next = 0

  constructor(records: ReadableRecords) {
    this.#records = records
  }

  /**
   * Must be called before a record is changed or removed.
   * @param stored the record before the change
   */
  preserve(key: string, stored: Stored | undefined): void {
    if (stored === undefined || this.#previous.has(key)) return
    if (this.#keys === undefined || isFrom(this.#keys, this.#next, key)) this.#previous.set(key, stored.value)
  }

  /** The records in batches. The first request of a batch is the moment whose state is read. */
  async *batches(): AsyncGenerator<(readonly [key: string, value: Value])[]> {
    const keys = await sortInSteps([...this.#records.keys()])
    this.#keys = keys
    while (this.#next < keys.length) {
      const batch = keys.slice(this.#next, this.#next + BATCH).map((key) => [key, this.#take(key)] as const)
      this.#next += batch.length
      yield batch
      if (this.#next % STEP === 0) await nextTurn()
    }
  }

  #take(key: string): Value {
    const value = this.#previous.get(key)
    this.#previous.delete(key)
    return value ?? this.#records.get(key)!.value
  }
}

/** Whether a sorted list has a text at an index or after it. */
function isFrom(sorted: readonly string[], index: number, text: string): boolean {
  return sorted[partitionPoint(sorted, (other) => other < text, index)] === text
}

/** Sorts texts, and lets other work run after each step. */
async function sortInSteps(texts: readonly string[]): Promise<readonly string[]> {
  let runs: (readonly string[])[] = []
  for (let start = 0; start < texts.length; start += STEP) {
    if (start > 0) await nextTurn()
    runs.push(texts.slice(start, start + STEP).toSorted())
  }
  while (runs.length > 1) {
    const merged: (readonly string[])[] = []
    for (let i = 0; i < runs.length; i += 2) merged.push(await mergeInSteps(runs[i]!, runs[i + 1] ?? []))
    runs = merged
  }
  return runs[0] ?? []
}

async function mergeInSteps(left: readonly string[], right: readonly string[]): Promise<readonly string[]> {
  const merged: string[] = []
  let [i, j] = [0, 0]
  while (i < left.length || j < right.length) {
    const takesLeft = j === right.length || (i < left.length && left[i]! < right[j]!)
    merged.push(takesLeft ? left[i++]! : right[j++]!)
    if (merged.length % STEP === 0) await nextTurn()
  }
  return merged
}
