import { randomText } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import type { Key } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import type { Transaction } from '../store/transaction.ts'
import { AdminError, type AdminDeps } from './deps.ts'

/** Records per commit. */
export const BATCH_SIZE = 200

/** Where a staged write is. */
interface Stage {
  readonly partition: string
  /** the key of the record that exists until the write is complete, and names it */
  readonly marker: Key<{ id: string; begun_at: string }>
  /** the message of a write that is no longer the current one */
  readonly outdated: string
}
type Records = readonly (readonly [key: string, value: Value])[]

/**
 * A write of many commits, whose records count only when all are there. Each commit requires that it is still the current write of its
 * place: one that began later ends it, so an outdated write can never undo the work of a later one.
 */
export class StagedWrite {
  readonly #deps: AdminDeps
  readonly #stage: Stage
  readonly #id: string
  #waiting: (readonly [key: string, value: Value])[] = []

  private constructor(deps: AdminDeps, stage: Stage) {
    this.#deps = deps
    this.#stage = stage
    this.#id = randomText(deps.random, 20)
  }

  /**
   * Begins a write. What another one has written and not finished is still there.
   * @param require refuses it. It gets the id of that other write.
   */
  static async begin(
    deps: AdminDeps,
    stage: Stage,
    require: (tx: Transaction, unfinished: string | undefined) => Promise<unknown>,
  ): Promise<StagedWrite> {
    const write = new StagedWrite(deps, stage)
    await transact(deps.store, stage.partition, deps.random, async (tx) => {
      const present = await tx.get(stage.marker)
      await require(tx, present?.id)
      tx.put(stage.marker, { id: write.#id, begun_at: timestamp(deps.clock) })
    })
    return write
  }

  /** @throws {AdminError} `conflict` if another write has begun or finished */
  commit(work: (tx: Transaction) => Promise<unknown> = async () => undefined): Promise<void> {
    const { marker, outdated, partition } = this.#stage
    return transact(this.#deps.store, partition, this.#deps.random, async (tx) => {
      if ((await tx.get(marker))?.id !== this.#id) throw new AdminError('conflict', outdated)
      await work(tx)
    })
  }

  /**
   * Writes records, in several commits.
   * @throws {AdminError} `conflict`
   */
  async put(records: Records): Promise<void> {
    for (const batch of batchesOf(records)) await this.commit((tx) => putAll(tx, batch))
  }

  /**
   * Adds a record, and writes those that wait if they are enough for a commit.
   * @returns whether it did
   * @throws {AdminError} `conflict`
   */
  async add(key: string, value: Value): Promise<boolean> {
    this.#waiting.push([key, value])
    if (this.#waiting.length < BATCH_SIZE) return false
    await this.flush()
    return true
  }

  /**
   * Writes the records that wait.
   * @throws {AdminError} `conflict`
   */
  async flush(): Promise<void> {
    await this.put(this.#waiting)
    this.#waiting = []
  }

  /**
   * Removes the records that match, and the marker.
   * @throws {AdminError} `conflict`
   */
  async remove(matches: (key: string) => boolean): Promise<void> {
    const { marker, partition } = this.#stage
    for await (const batch of keysIn(this.#deps, partition, (key) => key !== marker && matches(key)))
      await this.commit((tx) => removeAll(tx, batch))
  }

  /**
   * Ends the write, with the last records, in one commit.
   * @throws {AdminError} `conflict`
   */
  finish(records: Records = []): Promise<void> {
    return this.commit(async (tx) => {
      await putAll(tx, records)
      tx.remove(this.#stage.marker)
    })
  }
}

/** Removes records that nothing reads, whichever write is the current one. */
export async function sweep({ store, random }: AdminDeps, partition: string, removed: readonly string[]): Promise<void> {
  for (const batch of batchesOf(removed)) await transact(store, partition, random, (tx) => removeAll(tx, batch))
}

/** The keys of a partition that match, in batches of one commit. */
export async function* keysIn({ store }: AdminDeps, partition: string, matches: (key: string) => boolean): AsyncGenerator<string[]> {
  for await (const records of store.dump(partition)) yield* batchesOf(records.map(([key]) => key).filter(matches))
}

function* batchesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let from = 0; from < items.length; from += BATCH_SIZE) yield items.slice(from, from + BATCH_SIZE)
}

async function putAll(tx: Transaction, records: Records): Promise<void> {
  await tx.read(records.map(([key]) => key))
  for (const [key, value] of records) tx.put(key, value)
}

async function removeAll(tx: Transaction, removed: readonly string[]): Promise<void> {
  await tx.read(removed as Key<unknown>[])
  for (const key of removed) tx.remove(key)
}
