import { randomText } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import type { Deps } from '../store/deps.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys, type Key } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import type { Transaction } from '../store/transaction.ts'
import { AdminError, type AdminDeps } from './deps.ts'
import { BATCH_SIZE } from './import-session.ts'

/** Global records that an empty storage may have, because they describe the storage itself. */
const OF_STORAGE = /^(bytes_mount|schema):/
const NOT_EMPTY = 'the storage is not empty; restore the backup to an empty one'
const OUTDATED = 'another restore of this storage has begun or finished'
/** Records that name the bytes of a file. */
const OF_BYTES = /^(file|imported_bytes):/

/**
 * Checks that no restore of this storage has begun and not finished.
 * @throws {AdminError} `conflict`
 */
export async function requireNoRestore({ store, random }: Pick<Deps, 'store' | 'random'>): Promise<void> {
  const restoring = await transact(store, GLOBAL, random, (tx) => tx.get(keys.restoring()))
  if (restoring !== undefined)
    throw new AdminError(
      'conflict',
      `a restore of this storage has begun at ${restoring.begun_at} and has not finished; run "restore" again with the same backup`,
    )
}

/**
 * The run of a restore. Each commit requires that it is still the current run, so an outdated run writes nothing. As long as
 * it has not finished, the service does not start on the storage.
 */
export class RestoreRun {
  readonly #deps: AdminDeps
  readonly #id: string

  private constructor(deps: AdminDeps, id: string) {
    this.#deps = deps
    this.#id = id
  }

  /**
   * Begins a run. What a run before it has written and not finished is removed.
   * @throws {AdminError} `conflict` if the storage is not empty
   */
  static async begin(deps: AdminDeps): Promise<RestoreRun> {
    const { store, clock, random } = deps
    const run = new RestoreRun(deps, randomText(random, 20))
    const present = await transact(store, GLOBAL, random, (tx) => tx.get(keys.restoring()))
    if (present === undefined) await requireEmpty(deps)
    await transact(store, GLOBAL, random, async (tx) => {
      const current = await tx.get(keys.restoring())
      if (current?.id !== present?.id) throw new AdminError('conflict', OUTDATED)
      // The same as above, as of this commit: a running service may have been used since.
      const users = await tx.count(indexes.users(), 0)
      const workspaces = await tx.count(indexes.workspaces(), 0)
      if (present === undefined && users + workspaces > 0) throw new AdminError('conflict', NOT_EMPTY)
      tx.put(keys.restoring(), { id: run.#id, begun_at: timestamp(clock) })
    })
    await run.#removeAll()
    return run
  }

  /** Remembers that a workspace is written from now on. @throws {AdminError} `conflict` */
  async addWorkspace(id: string): Promise<void> {
    await this.put([[keys.restoredWorkspace(id), { workspace_id: id }]])
  }

  /** Writes global records. @throws {AdminError} `conflict` */
  async put(records: readonly (readonly [string, Value])[]): Promise<void> {
    for (let from = 0; from < records.length; from += BATCH_SIZE) {
      const batch = records.slice(from, from + BATCH_SIZE)
      await this.#commit(async (tx) => {
        await tx.read(batch.map(([key]) => key as Key<unknown>))
        for (const [key, value] of batch) tx.put(key, value)
      })
    }
  }

  /** Ends the run: the restored storage can be used. @throws {AdminError} `conflict` */
  async finish(): Promise<void> {
    await this.#remove([keys.restoring()])
    const { store, random } = this.#deps
    // Without the run, nothing reads them.
    for await (const batch of this.#globalKeys((key) => key.startsWith('restored_workspace:')))
      for (let from = 0; from < batch.length; from += BATCH_SIZE)
        await transact(store, GLOBAL, random, (tx) => removeAll(tx, batch.slice(from, from + BATCH_SIZE)))
  }

  /** Ends the run and removes everything that it has written. @throws {AdminError} `conflict` */
  async abandon(): Promise<void> {
    await this.#removeAll()
    await this.#remove([keys.restoring()])
  }

  async #removeAll(): Promise<void> {
    for await (const batch of this.#globalKeys((key) => key.startsWith('restored_workspace:')))
      for (const key of batch) await this.#removeWorkspace(key.slice(key.indexOf(':') + 1))
    // Only afterwards: they name the workspaces.
    for await (const batch of this.#globalKeys((key) => !OF_STORAGE.test(key) && key !== keys.restoring())) await this.#remove(batch)
  }

  async #removeWorkspace(id: string): Promise<void> {
    const { store, blobs, random } = this.#deps
    for await (const records of store.dump(id)) {
      await this.#commit(async () => undefined)
      // The restore has written these bytes under new ids, so no other record names them.
      for (const [key, value] of records) if (OF_BYTES.test(key)) await blobs.remove(String(value['blob_id']))
      for (let from = 0; from < records.length; from += BATCH_SIZE)
        await transact(store, id, random, (tx) =>
          removeAll(
            tx,
            records.slice(from, from + BATCH_SIZE).map(([key]) => key),
          ),
        )
    }
  }

  async *#globalKeys(matches: (key: string) => boolean): AsyncGenerator<string[]> {
    for await (const records of this.#deps.store.dump(GLOBAL)) yield records.map(([key]) => key).filter(matches)
  }

  async #remove(removed: readonly string[]): Promise<void> {
    for (let from = 0; from < removed.length; from += BATCH_SIZE)
      await this.#commit((tx) => removeAll(tx, removed.slice(from, from + BATCH_SIZE)))
  }

  #commit(work: (tx: Transaction) => Promise<void>): Promise<void> {
    const { store, random } = this.#deps
    return transact(store, GLOBAL, random, async (tx) => {
      if ((await tx.get(keys.restoring()))?.id !== this.#id) throw new AdminError('conflict', OUTDATED)
      await work(tx)
    })
  }
}

async function requireEmpty({ store }: AdminDeps): Promise<void> {
  for await (const batch of store.dump(GLOBAL)) {
    const found = batch.find(([key]) => !OF_STORAGE.test(key))
    if (found !== undefined) throw new AdminError('conflict', NOT_EMPTY)
  }
}

async function removeAll(tx: Transaction, removed: readonly string[]): Promise<void> {
  await tx.read(removed as Key<unknown>[])
  for (const key of removed) tx.remove(key)
}
