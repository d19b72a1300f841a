import { sha256Hex } from '../auth/secrets.ts'
import type { Services } from '../http/services.ts'
import type { RandomSource } from '../model/ids.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'

/**
 * How long a lease is not taken from a process that does not renew it, in milliseconds: for so long nobody delivers after one of several
 * was killed.
 */
const LEASE = 8_000

interface LeaseDeps {
  readonly services: () => Services
  readonly random: RandomSource
  /** milliseconds that never go back; another one is for tests only */
  readonly elapsed?: () => number
}

/**
 * Which of the processes that serve a storage delivers. It renews its lease, and another one takes it after it has seen no renewal for some
 * time by its own measure: the clocks of machines differ. If two deliver for a moment, a receiver gets the same delivery twice, with the
 * same id.
 *
 * A storage that only one process can open needs no lease: the process that was killed does not deliver, so the next one begins at once.
 */
export class Lease {
  readonly #deps: LeaseDeps
  readonly #holder: string
  /** the lease of another process, and when this one has seen it first */
  #seen = { text: '', at: 0 }

  constructor(deps: LeaseDeps) {
    this.#deps = deps
    this.#holder = sha256Hex(Buffer.from(deps.random(32)).toString('hex'))
  }

  /**
   * Takes or renews it.
   * @returns whether this process has it
   */
  async take(): Promise<boolean> {
    const { services, random, elapsed = () => performance.now() } = this.#deps
    const { store } = services()
    if (!store.isRemote) return true
    return transact(store, GLOBAL, random, async (tx) => {
      const lease = await tx.get(keys.deliveryLease())
      if (lease !== undefined && lease.holder !== this.#holder) {
        const text = `${lease.holder} ${lease.beats}`
        if (text !== this.#seen.text) this.#seen = { text, at: elapsed() }
        if (elapsed() - this.#seen.at < LEASE) return false
      }
      // After it was given up, the beats begin again: what was seen before says nothing of a later lease.
      this.#seen = { text: '', at: 0 }
      tx.put(keys.deliveryLease(), { holder: this.#holder, beats: (lease?.beats ?? 0) + 1 })
      return true
    })
  }

  /** Gives it up, so that another process need not wait. */
  async release(): Promise<void> {
    const { services, random } = this.#deps
    const { store } = services()
    if (!store.isRemote) return
    await transact(store, GLOBAL, random, async (tx) => {
      if ((await tx.get(keys.deliveryLease()))?.holder === this.#holder) tx.remove(keys.deliveryLease())
    })
  }
}
