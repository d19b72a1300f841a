import { MINUTE, timestamp } from '../../model/time.ts'
import type { Deps } from '../../store/deps.ts'
import { keys } from '../../store/keys.ts'
import { Transaction } from '../../store/transaction.ts'

/** Minimum time between two writes for the same token, in milliseconds. */
const WRITE_INTERVAL = 10 * MINUTE
const MAX_REMEMBERED_TOKENS = 10_000

/**
 * Records when tokens are used, with a precision of ten minutes. It writes in the background: a request does not wait
 * for the write, and does not fail or conflict because of it.
 */
export class UsageRecorder {
  readonly #deps: Deps
  /** token hash → when this process last wrote its use, in milliseconds since 1970 */
  readonly #written = new Map<string, number>()
  readonly #pending = new Set<Promise<void>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Records that a token is used now. Never throws. */
  record(workspaceId: string, hash: string): void {
    const now = this.#deps.clock()
    if (now - (this.#written.get(hash) ?? -Infinity) < WRITE_INTERVAL) return
    if (this.#written.size >= MAX_REMEMBERED_TOKENS) this.#written.delete(this.#written.keys().next().value!)
    this.#written.set(hash, now)
    // A failed write only makes the recorded time older. The next use after the interval is written again.
    const write = this.#write(workspaceId, hash).catch(() => undefined)
    this.#pending.add(write)
    void write.finally(() => this.#pending.delete(write))
  }

  /** Waits for the pending writes. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending)
  }

  async #write(workspaceId: string, hash: string): Promise<void> {
    const { store, clock, random } = this.#deps
    const tx = new Transaction(store, workspaceId, random)
    await tx.get(keys.tokenUse(hash))
    tx.put(keys.tokenUse(hash), { at: timestamp(clock) })
    await tx.commit()
  }
}
