import { newId, randomText } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import { indexes } from '../store/indexes.ts'
import { keys, type Key } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import type { Transaction } from '../store/transaction.ts'
import { AdminError, type AdminDeps } from './deps.ts'
import type { ExportLine } from './export-format.ts'
import { registerWorkspace } from './workspaces.ts'

/** Records per commit. */
export const BATCH_SIZE = 200

/** Bytes of a file that an import has written. */
export interface WrittenBytes {
  readonly blobId: string
  readonly size: number
  /** in hex */
  readonly sha256: string
}

type BytesLine = Extract<ExportLine, { bytes: string }>

/**
 * A workspace that is being imported. Each commit requires that this session is still the current one and that the
 * workspace does not exist yet, so an outdated session can never undo the work of a later one.
 */
export class ImportSession {
  readonly #deps: AdminDeps
  readonly #workspaceId: string
  readonly #id: string

  private constructor(deps: AdminDeps, workspaceId: string, id: string) {
    this.#deps = deps
    this.#workspaceId = workspaceId
    this.#id = id
  }

  /**
   * Begins a session. A session in progress is no longer the current one, and what it has written is removed.
   * @throws {AdminError} `conflict` if the workspace exists
   */
  static async begin(deps: AdminDeps, workspaceId: string): Promise<ImportSession> {
    const { store, clock, random } = deps
    const session = new ImportSession(deps, workspaceId, randomText(random, 20))
    const exists = await transact(store, workspaceId, random, async (tx) => {
      const [workspace] = await tx.read([keys.workspace(), keys.importing()])
      if (workspace === undefined) tx.put(keys.importing(), { id: session.#id, begun_at: timestamp(clock) })
      return workspace !== undefined
    })
    if (exists) {
      // The process of an earlier import may have ended right after its last commit.
      await session.#complete()
      throw new AdminError('conflict', `workspace ${workspaceId} already exists`)
    }
    await session.clear()
    return session
  }

  /** Writes records. @throws {AdminError} `conflict` */
  async put(records: readonly (readonly [string, Value])[]): Promise<void> {
    if (records.length > 0) await this.#commit((tx) => putAll(tx, records))
  }

  /** Writes the last records and ends the session in one commit. @throws {AdminError} `conflict` */
  async finish(records: readonly (readonly [string, Value])[]): Promise<void> {
    await this.#commit(async (tx) => {
      await putAll(tx, records)
      tx.remove(keys.importing())
    })
    await this.#complete()
  }

  /** Adds the imported workspace to the list of all workspaces, and forgets which bytes were imported. */
  async #complete(): Promise<void> {
    const { store, random } = this.#deps
    await registerWorkspace(this.#deps, this.#workspaceId)
    for await (const batch of this.#keys((key) => key.startsWith('imported_bytes:')))
      await transact(store, this.#workspaceId, random, (tx) => removeAll(tx, batch))
  }

  /** Removes everything that was imported so far. @throws {AdminError} `conflict` */
  async clear(): Promise<void> {
    for await (const batch of this.#keys((key) => key.startsWith('imported_bytes:'))) {
      for (const key of batch) {
        // A later import of the same workspace needs these bytes.
        await this.#requireCurrent()
        await this.#deps.blobs.remove(key.slice('imported_bytes:'.length))
      }
    }
    for await (const batch of this.#keys((key) => key !== keys.importing())) await this.#commit((tx) => removeAll(tx, batch))
  }

  /**
   * Writes the bytes of a file under a new id.
   * @param first the first line of the file
   * @param lines the lines after it; those of the file are consumed
   * @returns undefined if the export abandoned the file
   * @throws {AdminError} `conflict`; `invalid` if the bytes are incomplete
   */
  async writeBytes(first: BytesLine, lines: AsyncGenerator<ExportLine>): Promise<WrittenBytes | undefined> {
    const { blobs, random } = this.#deps
    const blobId = newId('blob', random)
    await this.put([[keys.importedBytes(blobId), { blob_id: blobId }]])
    let abandoned = false
    const requireCurrent = () => this.#requireCurrent()
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let line: BytesLine = first; ;) {
        yield Buffer.from(line.bytes, 'base64')
        if (line.last) return
        const next = (await lines.next()).value as ExportLine | undefined
        // A later import has removed what was written so far, and would not find what is written now.
        await requireCurrent()
        if (next !== undefined && 'abandoned' in next && next.abandoned === first.blob_id) return void (abandoned = true)
        if (next === undefined || !('bytes' in next) || next.blob_id !== first.blob_id)
          throw new AdminError('invalid', `the bytes of ${first.blob_id} are incomplete`)
        line = next
      }
    }
    const written = await blobs.write(blobId, chunks())
    if (!abandoned) return { blobId, ...written }
    await blobs.remove(blobId)
    return undefined
  }

  /** Removes the attachments of a file that is not imported, also where they are covers. @throws {AdminError} `conflict` */
  async detach(fileId: string): Promise<void> {
    for (let found = BATCH_SIZE; found === BATCH_SIZE;) {
      await this.#commit(async (tx) => {
        const { values } = await tx.range(indexes.fileAttachments(fileId), { limit: BATCH_SIZE })
        found = values.length
        const attachments = values.filter((attachment) => attachment !== undefined)
        const cards = await tx.read(attachments.map(({ card_id }) => keys.card(card_id)))
        for (const [i, { id }] of attachments.entries()) {
          const card = cards[i]
          if (card?.cover_attachment_id === id) tx.put(keys.card(card.id), { ...card, cover_attachment_id: null })
          tx.remove(keys.attachment(id))
        }
      })
    }
  }

  /** @throws {AdminError} `conflict` if another session has begun or finished */
  #requireCurrent(): Promise<void> {
    return this.#commit(async () => undefined)
  }

  #commit(work: (tx: Transaction) => Promise<void>): Promise<void> {
    const { store, random } = this.#deps
    return transact(store, this.#workspaceId, random, async (tx) => {
      const [workspace, importing] = await tx.read([keys.workspace(), keys.importing()])
      if (workspace !== undefined || importing?.id !== this.#id)
        throw new AdminError('conflict', `another import of ${this.#workspaceId} has begun or finished`)
      await work(tx)
    })
  }

  /** The keys of the partition that match, in batches of one commit. */
  async *#keys(matches: (key: string) => boolean): AsyncGenerator<string[]> {
    for await (const records of this.#deps.store.dump(this.#workspaceId)) {
      const matching = records.map(([key]) => key).filter(matches)
      for (let from = 0; from < matching.length; from += BATCH_SIZE) yield matching.slice(from, from + BATCH_SIZE)
    }
  }
}

async function putAll(tx: Transaction, records: readonly (readonly [string, Value])[]): Promise<void> {
  await tx.read(records.map(([key]) => key))
  for (const [key, value] of records) tx.put(key, value)
}

async function removeAll(tx: Transaction, keysToRemove: readonly string[]): Promise<void> {
  await tx.read(keysToRemove as Key<unknown>[])
  for (const key of keysToRemove) tx.remove(key)
}
