import { StorageUnavailable } from '../port.ts'
import type { RowChange } from './record-writer.ts'
import type { Writer } from './writer.ts'

/** A change that waits until it is on the disk. */
interface Queued {
  readonly rows: RowChange
  readonly onlyRemoves: boolean
  /** called synchronously, in the order of the queue */
  readonly settle: (error?: StorageUnavailable) => void
}

/** The disk has no space for a change. Nothing was changed. */
export class DiskFull extends StorageUnavailable {}

/** Maximum number of changes per transaction. */
const MAX_CHANGES = 1000

/**
 * The changes of all partitions in the order in which they were accepted. One transaction is written at a time, with all that waits. When
 * one fails, all that waits behind it fails too: it was accepted because of what was before it. After an unknown outcome nothing is written
 * any more.
 */
export class CommitQueue {
  readonly #writer: Writer
  readonly #onForeign: () => void
  #queue: Queued[] = []
  #isRunning = false
  /** the end of the last change */
  #last = Promise.resolve()
  /** why nothing can be written until a restart */
  #failure: StorageUnavailable | undefined

  /** @param onForeign is called when another program has changed the records */
  constructor(writer: Writer, onForeign: () => void) {
    this.#writer = writer
    this.#onForeign = onForeign
  }

  /** The reason why nothing can be written any more. */
  get broken(): StorageUnavailable | undefined {
    return this.#failure
  }

  /**
   * Writes a change.
   * @param settle is called when it is on the disk, or when it has failed: before any other change is accepted
   * @throws {StorageUnavailable} {@link DiskFull}
   */
  append(rows: RowChange, onlyRemoves: boolean, settle: (error?: StorageUnavailable) => void): Promise<void> {
    const written = new Promise<void>((resolve, reject) => {
      const settled = (error?: StorageUnavailable): void => {
        settle(error)
        if (error === undefined) resolve()
        else reject(error)
      }
      this.#queue.push({ rows, onlyRemoves, settle: settled })
      if (!this.#isRunning) void this.#run()
    })
    this.#last = written.catch(() => undefined)
    return written
  }

  /** Waits until all changes that are queued now are written or have failed. */
  flush(): Promise<void> {
    return this.#last
  }

  /** Refuses all further changes. */
  refuse(reason: StorageUnavailable): void {
    this.#failure ??= reason
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    // What is accepted in the same turn goes into the same transaction.
    await undefined
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, MAX_CHANGES)
      const error = await this.#write(batch)
      for (const { settle } of batch) settle(error)
      if (error !== undefined) for (const { settle } of this.#queue.splice(0)) settle(this.#failure ?? error)
    }
    this.#isRunning = false
  }

  async #write(batch: readonly Queued[]): Promise<StorageUnavailable | undefined> {
    let cause: unknown
    try {
      const result = await this.#writer.write(
        batch.map(({ rows }) => rows),
        batch.every(({ onlyRemoves }) => onlyRemoves),
      )
      if ('written' in result) return undefined
      if ('full' in result) return new DiskFull('the disk is full', { cause: new Error(result.full) })
      if ('busy' in result) return new StorageUnavailable('another program writes to records.db', { cause: new Error(result.busy) })
      cause = new Error(result.failed)
      if (result.isForeign === true) this.#onForeign()
    } catch (error) {
      cause = error
    }
    this.#failure ??= new StorageUnavailable('records could not be written; nothing is written until a restart', { cause })
    return new StorageUnavailable(this.#failure.message, { outcomeKnown: false, cause })
  }
}
