import { setTimeout as delay } from 'node:timers/promises'
import { systemRandom } from '../../src/model/ids.ts'
import type { Key } from '../../src/store/keys.ts'
import { StorageUnavailable, type Store } from '../../src/store/port.ts'
import { transact } from '../../src/store/transact.ts'

interface Counter {
  readonly n: number
}
/** The partition of the counters. */
export const PARTITION = 'operations'
const left: Key<Counter> = 'counter:left'
const right: Key<Counter> = 'counter:right'
const entryKey = (id: string): Key<{ id: string }> => `entry:${id}`

/** The outcome of an increment as the client knows it. */
type Outcome = 'done' | 'not done' | 'unknown'

/**
 * Work whose effects can be counted: each increment raises two counters by one and writes an entry, in one commit.
 * After any faults of the storage, the number of entries must equal both counters, there must be an entry for each
 * increment that was done, and none for an increment that was not done.
 */
export class OperationLog {
  readonly outcomes = new Map<string, Outcome>()
  readonly #waiters = new Set<() => void>()
  readonly #store: Store
  #workers: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(store: Store) {
    this.#store = store
  }

  /** Starts concurrent workers that increment until `stop`. */
  start(workers = 8): void {
    this.#stopped = false
    const work = async (name: string): Promise<void> => {
      for (let i = 0; !this.#stopped; i++) await this.increment(`${name}_${this.outcomes.size}_${i}`)
    }
    this.#workers = Promise.all(Array.from({ length: workers }, (_, i) => work(String(i))))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#workers
  }

  async increment(id: string): Promise<Outcome> {
    const outcome = await this.#attempt(id)
    this.outcomes.set(id, outcome)
    for (const check of this.#waiters) check()
    // Avoids a busy loop when the storage refuses immediately.
    if (outcome !== 'done') await delay(5)
    return outcome
  }

  /** Waits until the number of increments with one of these outcomes has grown by `count`. */
  more(count: number, ...outcomes: Outcome[]): Promise<void> {
    const goal = this.count(...outcomes) + count
    return new Promise((resolve) => {
      const check = (): void => {
        if (this.count(...outcomes) < goal) return
        this.#waiters.delete(check)
        resolve()
      }
      this.#waiters.add(check)
    })
  }

  count(...outcomes: Outcome[]): number {
    return [...this.outcomes.values()].filter((outcome) => outcomes.includes(outcome)).length
  }

  summary(): Record<Outcome, number> {
    return { done: this.count('done'), 'not done': this.count('not done'), unknown: this.count('unknown') }
  }

  /** Compares the outcomes with the content of the storage. @param store a connection without faults */
  async findViolations(store: Store): Promise<string[]> {
    const violations: string[] = []
    const entries = new Set<string>()
    for await (const batch of store.dump(PARTITION))
      for (const [key] of batch) if (key.startsWith('entry:')) entries.add(key.slice('entry:'.length))
    const [leftCounter, rightCounter] = await transact(store, PARTITION, systemRandom, (tx) => tx.read([left, right]))
    if (leftCounter?.n !== rightCounter?.n) violations.push(`torn: the counters are ${leftCounter?.n} and ${rightCounter?.n}`)
    if ((leftCounter?.n ?? 0) !== entries.size)
      violations.push(`lost or done twice: the counter is ${leftCounter?.n ?? 0}, and there are ${entries.size} entries`)
    for (const [id, outcome] of this.outcomes) {
      if (outcome === 'done' && !entries.has(id)) violations.push(`false success: ${id} was reported as done`)
      if (outcome === 'not done' && entries.has(id)) violations.push(`false failure: ${id} was reported as not done`)
    }
    for (const id of entries) if (!this.outcomes.has(id)) violations.push(`unexpected entry: ${id}`)
    return violations
  }

  async #attempt(id: string): Promise<Outcome> {
    try {
      await transact(this.#store, PARTITION, systemRandom, async (tx) => {
        const [leftCounter, rightCounter] = await tx.read([left, right])
        await tx.get(entryKey(id))
        tx.put(left, { n: (leftCounter?.n ?? 0) + 1 })
        tx.put(entryKey(id), { id })
        tx.put(right, { n: (rightCounter?.n ?? 0) + 1 })
      })
      return 'done'
    } catch (error) {
      if (error instanceof StorageUnavailable) return error.outcomeKnown ? 'not done' : 'unknown'
      throw error
    }
  }
}
