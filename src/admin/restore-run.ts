import { type Deps, transact } from '../store/transact.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { AdminError, type AdminDeps } from './deps.ts'
import { keysIn, StagedWrite, sweep } from './staged-write.ts'

/** Global records that an empty storage may have, because they describe the storage itself. */
const OF_STORAGE = /^(bytes_mount|schema):/
/** Those, and which key would seal its secrets: a restore removes that, because the secrets of the backup may have another one. */
const OF_EMPTY_STORAGE = /^(bytes_mount|schema|secret_key):/
const NOT_EMPTY = 'the storage is not empty; restore the backup to an empty one'
const OUTDATED = 'another restore of this storage has begun or finished'
/** Records that name the bytes of a file. */
const OF_BYTES = /^(file|imported_bytes):/
const isOfWorkspace = (key: string): boolean => key.startsWith('restored_workspace:')

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

/** The run of a restore. As long as it has not finished, the service does not start on the storage. */
export class RestoreRun {
  readonly #deps: AdminDeps
  /** of the global records */
  readonly write: StagedWrite

  private constructor(deps: AdminDeps, write: StagedWrite) {
    this.#deps = deps
    this.write = write
  }

  /**
   * Begins a run. What a run before it has written and not finished is removed.
   * @throws {AdminError} `conflict` if the storage is not empty
   */
  static async begin(deps: AdminDeps): Promise<RestoreRun> {
    const present = await transact(deps.store, GLOBAL, deps.random, (tx) => tx.get(keys.restoring()))
    if (present === undefined) await requireEmpty(deps)
    const stage = { partition: GLOBAL, marker: keys.restoring(), outdated: OUTDATED }
    const write = await StagedWrite.begin(deps, stage, async (tx, unfinished) => {
      if (unfinished !== present?.id) throw new AdminError('conflict', OUTDATED)
      // The same as above, as of this commit: a running service may have been used since.
      const users = await tx.count(indexes.users(), 0)
      const workspaces = await tx.count(indexes.workspaces(), 0)
      if (present === undefined && users + workspaces > 0) throw new AdminError('conflict', NOT_EMPTY)
    })
    const run = new RestoreRun(deps, write)
    await run.#removeAll()
    return run
  }

  /**
   * Ends the run: the restored storage can be used.
   * @throws {AdminError} `conflict`
   */
  async finish(): Promise<void> {
    await this.write.finish()
    // Without the run, nothing reads them.
    for await (const batch of keysIn(this.#deps, GLOBAL, isOfWorkspace)) await sweep(this.#deps, GLOBAL, batch)
  }

  /**
   * Ends the run and removes everything that it has written.
   * @throws {AdminError} `conflict`
   */
  async abandon(): Promise<void> {
    await this.#removeAll()
    await this.write.finish()
  }

  async #removeAll(): Promise<void> {
    for await (const batch of keysIn(this.#deps, GLOBAL, isOfWorkspace))
      for (const key of batch) await this.#removeWorkspace(key.slice(key.indexOf(':') + 1))
    // Only afterwards: they name the workspaces.
    await this.write.remove((key) => !OF_STORAGE.test(key))
  }

  async #removeWorkspace(id: string): Promise<void> {
    const { store, blobs } = this.#deps
    for await (const records of store.dump(id)) {
      await this.write.commit()
      // The restore has written these bytes under new ids, so no other record names them.
      for (const [key, value] of records) if (OF_BYTES.test(key)) await blobs.remove(String(value['blob_id']))
      const removed = records.map(([key]) => key)
      await sweep(this.#deps, id, removed)
    }
  }
}

async function requireEmpty(deps: AdminDeps): Promise<void> {
  const found = await keysIn(deps, GLOBAL, (key) => !OF_EMPTY_STORAGE.test(key)).next()
  if (found.done !== true) throw new AdminError('conflict', NOT_EMPTY)
}
