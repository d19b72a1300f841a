import type { ServerRequest } from 'srvx'
import type { AwaitedEntry } from '../resources/result.ts'
import type { Index } from '../store/indexes.ts'
import type { Store } from '../store/port.ts'
import { Watch } from '../store/watch.ts'
import { clientSignal } from './answered.ts'
import type { Services } from './services.ts'

/** How long to wait for a hint before looking again, in milliseconds: a hint can be lost, and access can end without one. */
const RECHECK = 1000

/** Waits for commits that append to an index. */
export class Waiter {
  readonly #watch: Watch

  /** @param signal ends the waiting */
  constructor(store: Store, partition: string, { name }: Index<unknown>, signal: AbortSignal) {
    this.#watch = new Watch(signal)
    this.#watch.begin(store, partition, name)
  }

  get isAborted(): boolean {
    return this.#watch.isAborted
  }

  /** Waits for a hint since the last wait, but not for long: something may be there without one. */
  wait(milliseconds = RECHECK): Promise<void> {
    return this.#watch.wait(Math.min(milliseconds, RECHECK))
  }

  end(): void {
    this.#watch.end()
  }
}

/** A request that waits until there is something, its time is over, its client has left, or the service stops. */
export class LongPoll {
  readonly #waiter: Waiter
  readonly #deadline: number
  #began = false

  constructor(store: Store, partition: string, { index, seconds }: AwaitedEntry, signal: AbortSignal) {
    this.#waiter = new Waiter(store, partition, index, signal)
    this.#deadline = performance.now() + seconds * 1000
  }

  /** Whether its client has left, or the service stops. */
  get isAborted(): boolean {
    return this.#waiter.isAborted
  }

  /** Whether the next read is the last one. */
  get isOver(): boolean {
    return performance.now() >= this.#deadline
  }

  /**
   * Waits for the next read. The first one comes at once: a commit may have come before it began to wait.
   * @param most the milliseconds until something may be there without a commit
   */
  async next(most = Infinity): Promise<void> {
    if (this.#began) await this.#waiter.wait(Math.max(Math.min(this.#deadline - performance.now(), most), 0))
    this.#began = true
  }

  end(): void {
    this.#waiter.end()
  }
}

/** A signal that ends the waiting of a request: its client has left, or the service stops. */
export function waitSignal({ stopping }: Pick<Services, 'stopping'>, request: ServerRequest): AbortSignal {
  const client = clientSignal(request)
  return stopping === undefined ? client : AbortSignal.any([client, stopping])
}
