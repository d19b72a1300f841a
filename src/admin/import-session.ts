import { randomText } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import { keys, type Key } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import type { Transaction } from '../store/transaction.ts'
import type { ExportLine } from './export.ts'
import { AdminError, type AdminDeps } from './deps.ts'

const BATCH = 200
type BytesLine = Extract<ExportLine, { bytes: string }>

/**
 * A workspace while it is imported. Each of its commits holds only as long as this very import is the one that
 * is going on and the workspace is not there yet: so a second import can never undo what the first one did.
 */
export class ImportSession {
  readonly #tools: AdminDeps
  readonly #workspaceId: string
  readonly #id: string

  private constructor(tools: AdminDeps, workspaceId: string, id: string) {
    this.#tools = tools
    this.#workspaceId = workspaceId
    this.#id = id
  }

  /**
   * Begins, in the place of whatever import was going on, and clears away what that left.
   * @throws {AdminError} `conflict` where the workspace is there
   */
  static async begin(tools: AdminDeps, workspaceId: string): Promise<ImportSession> {
    const { store, clock, random } = tools
    const id = randomText(random, 20)
    await transact(store, workspaceId, random, async (tx) => {
      const [workspace] = await tx.read([keys.workspace(), keys.importing()])
      if (workspace !== undefined) throw new AdminError('conflict', `workspace ${workspaceId} is there already`)
      tx.put(keys.importing(), { id, begun_at: timestamp(clock) })
    })
    const importing = new ImportSession(tools, workspaceId, id)
    await importing.clear()
    return importing
  }

  /** Writes records. @throws {AdminError} `conflict` */
  async put(records: readonly (readonly [string, Value])[]): Promise<void> {
    if (records.length > 0) await this.#commit((tx) => putAll(tx, records))
  }

  /** Writes the last of them: from then on the workspace is there. @throws {AdminError} `conflict` */
  async finish(records: readonly (readonly [string, Value])[]): Promise<void> {
    await this.#commit(async (tx) => {
      await putAll(tx, records)
      tx.remove(keys.importing())
    })
    // The notes of its bytes are of no more use, and no harm.
    for await (const noted of this.#found((key) => key.startsWith('imported_bytes:')))
      await transact(this.#tools.store, this.#workspaceId, this.#tools.random, (tx) => removeAll(tx, noted))
  }

  /** Removes all that an import has written. @throws {AdminError} `conflict` */
  async clear(): Promise<void> {
    for await (const found of this.#found((key) => key.startsWith('imported_bytes:'))) {
      // Another import would need them, which begins with the same ones.
      await this.#commit(async () => undefined)
      for (const key of found) await this.#tools.blobs.remove(key.slice('imported_bytes:'.length))
    }
    for await (const found of this.#found((key) => key !== keys.importing())) await this.#commit((tx) => removeAll(tx, found))
  }

  /**
   * Writes the bytes of a file, from its first line on.
   * @returns how many; undefined where they were abandoned
   * @throws {AdminError} `conflict` where such bytes are there; `invalid` where they are not whole
   */
  async writeBytes(first: BytesLine, lines: AsyncGenerator<ExportLine>): Promise<number | undefined> {
    const { blobs } = this.#tools
    const { blob_id } = first
    if (await blobs.exists(blob_id)) throw new AdminError('conflict', `bytes ${blob_id} are there already`)
    await this.put([[keys.importedBytes(blob_id), { blob_id }]])
    let abandoned = false
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let line: BytesLine = first; ;) {
        yield Buffer.from(line.bytes, 'base64')
        if (line.last) return
        const next = (await lines.next()).value as ExportLine | undefined
        if (next !== undefined && 'abandoned' in next && next.abandoned === blob_id) return void (abandoned = true)
        if (next === undefined || !('bytes' in next) || next.blob_id !== blob_id)
          throw new AdminError('invalid', `the bytes of ${blob_id} are not whole`)
        line = next
      }
    }
    const { size } = await blobs.write(blob_id, pieces())
    if (!abandoned) return size
    await blobs.remove(blob_id)
    return undefined
  }

  #commit(work: (tx: Transaction) => Promise<void>): Promise<void> {
    const { store, random } = this.#tools
    return transact(store, this.#workspaceId, random, async (tx) => {
      const [workspace, importing] = await tx.read([keys.workspace(), keys.importing()])
      if (workspace !== undefined || importing?.id !== this.#id)
        throw new AdminError('conflict', `${this.#workspaceId} was imported by somebody else meanwhile`)
      await work(tx)
    })
  }

  /** Keys of the partition, some at a time. */
  async *#found(wanted: (key: string) => boolean): AsyncGenerator<string[]> {
    for await (const piece of this.#tools.store.dump(this.#workspaceId)) {
      const found = piece.map(([key]) => key).filter(wanted)
      for (let from = 0; from < found.length; from += BATCH) yield found.slice(from, from + BATCH)
    }
  }
}

async function putAll(tx: Transaction, records: readonly (readonly [string, Value])[]): Promise<void> {
  await tx.read(records.map(([key]) => key))
  for (const [key, value] of records) tx.put(key, value)
}

async function removeAll(tx: Transaction, found: readonly string[]): Promise<void> {
  await tx.read(found as Key<unknown>[])
  for (const key of found) tx.remove(key)
}
