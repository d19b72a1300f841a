import { randomUUID } from 'node:crypto'
import type { Awaitable } from '../model/awaitable.ts'

/** A lease in a partition: until it ends, the commits of others wait. */
export interface CommitLease {
  readonly id: string
  /** Ends the lease early. A lease that has ended has no effect. */
  end(): void
}

interface Holder {
  readonly id: string
  readonly ended: Promise<void>
}

/** How long a lease lasts at most, in milliseconds. */
const DURATION = 250

/**
 * The leases of one process, in the order in which they are asked for. A request that lost against concurrent writers
 * several times takes a lease, so that its next commit wins. A lease is short, because a holder that waits for its client must
 * not stop the others.
 */
export class CommitLeases {
  readonly #duration: number
  readonly #holders = new Map<string, Holder>()
  /** those who wait for their leases, by partition; until the next lease has begun, none may be taken out of order */
  readonly #queues = new Map<string, ((lease: CommitLease) => void)[]>()

  /** @param duration milliseconds until a lease ends by itself */
  constructor(duration = DURATION) {
    this.#duration = duration
  }

  /** Waits for the leases that were asked for before, and begins one. */
  async take(partition: string): Promise<CommitLease> {
    if (!this.#holders.has(partition) && !this.#queues.has(partition)) return this.#begin(partition)
    const queue = this.#queues.get(partition) ?? []
    this.#queues.set(partition, queue)
    return new Promise((resolve) => queue.push(resolve))
  }

  #begin(partition: string): CommitLease {
    let resolve!: () => void
    const ended = new Promise<void>((done) => (resolve = done))
    const holder: Holder = { id: randomUUID(), ended }
    this.#holders.set(partition, holder)
    const end = (): void => {
      if (this.#holders.get(partition) !== holder) return
      clearTimeout(timer)
      this.#holders.delete(partition)
      resolve()
      // The commits that have waited come between two leases. Otherwise they would wait until no one wants a lease any more.
      if (this.#queues.has(partition)) setImmediate(() => this.#beginNext(partition))
    }
    const timer = setTimeout(end, this.#duration)
    return { id: holder.id, end }
  }

  #beginNext(partition: string): void {
    const queue = this.#queues.get(partition)!
    const next = queue.shift()!
    if (queue.length === 0) this.#queues.delete(partition)
    next(this.#begin(partition))
  }

  /**
   * What a commit has to wait for: the end of a lease that it does not have.
   * @param lease the id of the lease that it is made in
   * @returns undefined if it may go on
   */
  othersIn(partition: string, lease: string | undefined): Promise<void> | undefined {
    const holder = this.#holders.get(partition)
    return holder === undefined || holder.id === lease ? undefined : holder.ended
  }

  /** Whether a lease is still held. */
  isHeld(partition: string, lease: string): boolean {
    return this.#holders.get(partition)?.id === lease
  }

  /** Waits for the end of the lease that is held in the partition, unless it is the one of the commit. */
  pass(partition: string, lease: string | undefined): Awaitable<void> {
    return this.othersIn(partition, lease)?.then(() => this.pass(partition, lease))
  }
}
