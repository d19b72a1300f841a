import type { RandomSource } from '../../model/ids.ts'
import { MINUTE, timestamp, type Clock } from '../../model/time.ts'
import { keys } from '../../store/keys.ts'
import type { Store } from '../../store/port.ts'
import { Transaction } from '../../store/transaction.ts'

const COARSENESS = 10 * MINUTE
const REMEMBERED = 10_000

/**
 * Notes when tokens are used, ten minutes coarse, behind the request's back: a request neither waits for it
 * nor fails or conflicts because of it.
 */
export class UsageRecorder {
  readonly #store: Store
  readonly #clock: Clock
  readonly #random: RandomSource
  /** token hash → when this process wrote its use last */
  readonly #written = new Map<string, number>()
  readonly #pending = new Set<Promise<void>>()

  constructor(store: Store, clock: Clock, random: RandomSource) {
    this.#store = store
    this.#clock = clock
    this.#random = random
  }

  /** Notes that a token was used now. Never throws. */
  note(partition: string, hash: string): void {
    const now = this.#clock()
    if (now - (this.#written.get(hash) ?? -Infinity) < COARSENESS) return
    if (this.#written.size >= REMEMBERED) this.#written.delete(this.#written.keys().next().value!)
    this.#written.set(hash, now)
    // A use that could not be written is a coarser answer, no more: the next one after ten minutes is tried again.
    const writing = this.#write(partition, hash).catch(() => undefined)
    this.#pending.add(writing)
    void writing.finally(() => this.#pending.delete(writing))
  }

  /** Waits for what is being written. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending)
  }

  async #write(partition: string, hash: string): Promise<void> {
    const tx = new Transaction(this.#store, partition, this.#random)
    await tx.get(keys.tokenUse(hash))
    tx.put(keys.tokenUse(hash), { at: timestamp(this.#clock) })
    await tx.commit()
  }
}
