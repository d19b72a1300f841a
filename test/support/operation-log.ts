import { setTimeout as after } from 'node:timers/promises'
import { systemRandom } from '../../src/model/ids.ts'
import type { Key } from '../../src/store/keys.ts'
import { StorageUnavailable, type Store } from '../../src/store/port.ts'
import { transact } from '../../src/store/transact.ts'

interface Counter {
  readonly n: number
}
const PARTITION = 'ledger'
const left: Key<Counter> = 'counter:left'
const right: Key<Counter> = 'counter:right'
const noteKey = (id: string): Key<{ id: string }> => `note:${id}`

/** What became of one increment, as it was told. */
type Told = 'done' | 'not done' | 'unknown'

/**
 * Work of which every application can be counted: each increment raises two counters by one and leaves a note,
 * in one commit. Whatever happens to the storage, there are afterwards as many notes as each counter says, a note
 * of every increment that was told to be done, and none of one that was told not to be.
 */
export class Ledger {
  readonly told = new Map<string, Told>()
  readonly #waiting = new Set<() => void>()
  readonly #store: Store
  #working: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(store: Store) {
    this.#store = store
  }

  /** Lets several work at once, until they are stopped. */
  start(workers = 8): void {
    this.#stopped = false
    const work = async (name: string): Promise<void> => {
      for (let i = 0; !this.#stopped; i++) await this.increment(`${name}_${this.told.size}_${i}`)
    }
    this.#working = Promise.all(Array.from({ length: workers }, (_, i) => work(String(i))))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#working
  }

  async increment(id: string): Promise<Told> {
    const told = await this.#tell(id)
    this.told.set(id, told)
    for (const check of this.#waiting) check()
    // Whoever is refused at once does not spin.
    if (told !== 'done') await after(5)
    return told
  }

  /** Waits until so many more were told to be this. */
  more(count: number, ...what: Told[]): Promise<void> {
    const goal = this.count(...what) + count
    return new Promise((resolve) => {
      const check = (): void => {
        if (this.count(...what) < goal) return
        this.#waiting.delete(check)
        resolve()
      }
      this.#waiting.add(check)
    })
  }

  count(...what: Told[]): number {
    return [...this.told.values()].filter((told) => what.includes(told)).length
  }

  summary(): Record<Told, number> {
    return { done: this.count('done'), 'not done': this.count('not done'), unknown: this.count('unknown') }
  }

  /** What is wrong between what was told and what there is, as a store finds it that nothing happened to. */
  async problems(store: Store): Promise<string[]> {
    const found: string[] = []
    const notes = new Set<string>()
    for await (const piece of store.dump(PARTITION))
      for (const [key] of piece) if (key.startsWith('note:')) notes.add(key.slice('note:'.length))
    const [a, b] = await transact(store, PARTITION, systemRandom, (tx) => tx.read([left, right]))
    if (a?.n !== b?.n) found.push(`torn: ${a?.n} on the left, ${b?.n} on the right`)
    if ((a?.n ?? 0) !== notes.size) found.push(`lost or done twice: the counter says ${a?.n ?? 0}, and there are ${notes.size} notes`)
    for (const [id, told] of this.told) {
      if (told === 'done' && !notes.has(id)) found.push(`false success: ${id} was told to be done`)
      if (told === 'not done' && notes.has(id)) found.push(`false failure: ${id} was told not to be done`)
    }
    for (const id of notes) if (!this.told.has(id)) found.push(`from nowhere: ${id}`)
    return found
  }

  async #tell(id: string): Promise<Told> {
    try {
      await transact(this.#store, PARTITION, systemRandom, async (tx) => {
        const [a, b] = await tx.read([left, right])
        await tx.get(noteKey(id))
        tx.put(left, { n: (a?.n ?? 0) + 1 })
        tx.put(noteKey(id), { id })
        tx.put(right, { n: (b?.n ?? 0) + 1 })
      })
      return 'done'
    } catch (error) {
      if (error instanceof StorageUnavailable) return error.outcomeKnown ? 'not done' : 'unknown'
      throw error
    }
  }
}
