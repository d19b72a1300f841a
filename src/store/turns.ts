import { randomUUID } from 'node:crypto'
import type { Awaitable } from '../model/awaitable.ts'

/** A turn in a partition: until it ends, the commits of others wait. */
export interface Turn {
  readonly id: string
  /** Ends the turn early. A turn that has ended has no effect. */
  end(): void
}

interface Holder {
  readonly id: string
  readonly ended: Promise<void>
}

/** How long a turn lasts at most, in milliseconds. */
const DURATION = 250

/**
 * The turns of one process, in the order in which they are asked for. A request that lost against concurrent writers
 * several times takes a turn, so that its next commit wins. A turn is short, because a holder that waits for its client must
 * not stop the others.
 */
export class Turns {
  readonly #duration: number
  readonly #holders = new Map<string, Holder>()
  /** those who wait for their turns, by partition; until the next turn has begun, none may be taken out of order */
  readonly #queues = new Map<string, ((turn: Turn) => void)[]>()

  /** @param duration the time after which a turn ends by itself, in milliseconds */
  constructor(duration = DURATION) {
    this.#duration = duration
  }

  /** Waits for the turns that were asked for before, and begins one. */
  async take(partition: string): Promise<Turn> {
    if (!this.#holders.has(partition) && !this.#queues.has(partition)) return this.#begin(partition)
    const queue = this.#queues.get(partition) ?? []
    this.#queues.set(partition, queue)
    return new Promise((resolve) => queue.push(resolve))
  }

  #begin(partition: string): Turn {
    let resolve!: () => void
    const ended = new Promise<void>((done) => (resolve = done))
    const holder: Holder = { id: randomUUID(), ended }
    this.#holders.set(partition, holder)
    const end = (): void => {
      if (this.#holders.get(partition) !== holder) return
      clearTimeout(timer)
      this.#holders.delete(partition)
      resolve()
      // The commits that have waited come between two turns. Otherwise they would wait until no one wants a turn any more.
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
   * What a commit has to wait for: the end of a turn that it does not have.
   * @param turn the id of the turn in which it is made
   * @returns undefined if it may go on
   */
  othersIn(partition: string, turn: string | undefined): Promise<void> | undefined {
    const holder = this.#holders.get(partition)
    return holder === undefined || holder.id === turn ? undefined : holder.ended
  }

  /** Whether a turn is still held. */
  isHeld(partition: string, turn: string): boolean {
    return this.#holders.get(partition)?.id === turn
  }

  /** Waits for the end of the turn that is held in the partition, unless it is the one of the commit. */
  pass(partition: string, turn: string | undefined): Awaitable<void> {
    return this.othersIn(partition, turn)?.then(() => this.pass(partition, turn))
  }
}
