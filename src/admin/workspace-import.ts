import { durations } from '../model/durations.ts'
import { indexes } from '../store/indexes.ts'
import { keys } from '../store/keys.ts'
import { bringForward } from '../store/migrations/list.ts'
import type { Value } from '../store/port.ts'
import { AdminError, type AdminDeps } from './deps.ts'
import type { ExportLine } from './export-format.ts'
import { readRecord } from './records.ts'
import { BATCH_SIZE, keysIn, StagedWrite, sweep } from './staged-write.ts'
import type { TransferCounter } from './transfer-summary.ts'
import { registerWorkspace } from './workspaces.ts'
import { newId } from '../model/ids.ts'

/** Keys of records that make the workspace accessible. They are written last. */
const WRITTEN_LAST = /^(workspace|token|membership):/
const namesBytes = (key: string): boolean => key.startsWith('imported_bytes:')

/** What the lines are. */
export interface ImportSource {
  /** the version of the records */
  readonly schema: number
  /** which kinds of records are accepted: an export's or a backup's */
  readonly records: 'workspace' | 'backedUp'
}

/** Writes the lines of one workspace. Nothing of it is accessible before {@link WorkspaceImport.publish}. */
export class WorkspaceImport {
  readonly #deps: AdminDeps
  readonly workspaceId: string
  readonly #write: StagedWrite
  readonly #schema: number
  readonly #records: ImportSource['records']
  readonly #counter: TransferCounter
  readonly #bytes: ReceivedBytes
  readonly #deferred: [string, Value][] = []
  readonly #omitted: string[] = []

  private constructor(
    deps: AdminDeps,
    workspaceId: string,
    write: StagedWrite,
    { schema, records }: ImportSource,
    counter: TransferCounter,
  ) {
    this.#deps = deps
    this.workspaceId = workspaceId
    this.#write = write
    this.#schema = schema
    this.#records = records
    this.#counter = counter
    this.#bytes = new ReceivedBytes(deps, write, counter)
  }

  /**
   * Begins an import. One in progress is no longer the current one, and what it has written is removed.
   * @throws {AdminError} `conflict` if the workspace exists
   */
  static async begin(deps: AdminDeps, workspaceId: string, source: ImportSource, counter: TransferCounter): Promise<WorkspaceImport> {
    const outdated = `another import of ${workspaceId} has begun or finished`
    const write = await StagedWrite.begin(deps, { partition: workspaceId, marker: keys.importing(), outdated }, async (tx) => {
      if ((await tx.get(keys.workspace())) !== undefined) throw new AdminError('conflict', `workspace ${workspaceId} already exists`)
    }).catch(async (error: unknown) => {
      // The process of an earlier import may have ended right after its last commit.
      if (error instanceof AdminError) await register(deps, workspaceId)
      throw error
    })
    const begun = new WorkspaceImport(deps, workspaceId, write, source, counter)
    await begun.clear()
    return begun
  }

  /**
   * Takes one line.
   * @param lines the lines after it; those that belong to it are consumed
   * @returns whether records were written
   * @throws {AdminError} `conflict` if a later import of the workspace has begun; `invalid` if it is not a line of a workspace
   */
  async take(line: ExportLine, lines: AsyncGenerator<ExportLine>): Promise<boolean> {
    let written = false
    if ('bytes' in line) await this.#bytes.receive(line, lines)
    else if ('omitted' in line) this.#omit(line)
    else if ('key' in line)
      for (const [key, value] of bringForward(line.key, line.value, this.#schema))
        written = (await this.#addRecord(key, readRecord(this.#records, key, value))) || written
    else throw new AdminError('invalid', `${JSON.stringify(line)} is not a line of a workspace`)
    return written
  }

  /**
   * Ends the lines.
   * @throws {AdminError} `conflict`; `invalid` if the lines are not a whole workspace
   */
  async complete(): Promise<void> {
    await this.#write.flush()
    this.#bytes.requireAllUsed()
    const workspace = this.#deferred.find(([key]) => key === keys.workspace())?.[1]
    if (workspace?.['id'] !== this.workspaceId) throw new AdminError('invalid', `the export has no record of ${this.workspaceId}`)
    for (const fileId of this.#omitted) await this.#detach(fileId)
  }

  /**
   * Makes the workspace accessible.
   * @throws {AdminError} `conflict`
   */
  async publish(): Promise<void> {
    // Without a membership, a token gives no access.
    const tokens = this.#deferred.filter(([key]) => key.startsWith('token:'))
    await this.#write.put(tokens)
    // The workspace and its members are one commit: no request can use a part of the workspace.
    await this.#write.finish(this.#deferred.filter(([key]) => !key.startsWith('token:')))
    await register(this.#deps, this.workspaceId)
  }

  /**
   * Removes everything that was written.
   * @throws {AdminError} `conflict`
   */
  async clear(): Promise<void> {
    for await (const batch of keysIn(this.#deps, this.workspaceId, namesBytes)) {
      for (const key of batch) {
        // A later import of the same workspace needs these bytes.
        await this.#write.commit()
        await this.#deps.blobs.remove(key.slice('imported_bytes:'.length))
      }
    }
    await this.#write.remove(() => true)
  }

  /**
   * Removes the attachments of a file that is not imported, also where they are covers.
   * @throws {AdminError} `conflict`
   */
  async #detach(fileId: string): Promise<void> {
    for (let found = BATCH_SIZE; found === BATCH_SIZE;) {
      await this.#write.commit(async (tx) => {
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

  #omit(line: Extract<ExportLine, { omitted: unknown }>): void {
    this.#omitted.push(line.omitted)
    this.#counter.omit(this.workspaceId, line)
  }

  /** @returns whether records were written */
  async #addRecord(key: string, value: Value): Promise<boolean> {
    const record = this.#bytes.withOwnBytes(key, value)
    if (record === undefined) return false
    if (key.startsWith('token:')) requireIssued(record, this.#deps.clock())
    this.#counter.records++
    if (!WRITTEN_LAST.test(key)) return this.#write.add(key, record)
    this.#deferred.push([key, record])
    return false
  }
}

/** Adds an imported workspace to the list of all workspaces, and forgets which bytes were imported. */
async function register(deps: AdminDeps, workspaceId: string): Promise<void> {
  await registerWorkspace(deps, workspaceId)
  for await (const batch of keysIn(deps, workspaceId, namesBytes)) await sweep(deps, workspaceId, batch)
}

/** A token that was issued in the future would live longer than 90 days. */
function requireIssued({ id, issued_at }: Value, now: number): void {
  if (Date.parse(String(issued_at)) > now + durations.clockSkew)
    throw new AdminError('invalid', `the token ${String(id)} was issued in the future, at ${String(issued_at)}`)
}

/** Bytes of a file that an import has written. */
interface WrittenBytes {
  readonly blobId: string
  readonly size: number
  /** in hex */
  readonly sha256: string
}
type BytesLine = Extract<ExportLine, { bytes: string }>

/**
 * The bytes that an import has written. Each gets a new id: an id in the export may belong to bytes of another
 * workspace, which a file must not refer to.
 */
class ReceivedBytes {
  /** by the id in the export, until a file refers to them */
  readonly #unused = new Map<string, WrittenBytes>()
  readonly #deps: AdminDeps
  readonly #write: StagedWrite
  readonly #counter: TransferCounter

  constructor(deps: AdminDeps, write: StagedWrite, counter: TransferCounter) {
    this.#deps = deps
    this.#write = write
    this.#counter = counter
  }

  /**
   * Writes the bytes of a file under a new id, unless the export abandons them.
   * @param first the first line of the file
   * @param lines the lines after it; the file's lines are consumed
   * @throws {AdminError} `conflict`; `invalid` if the bytes are incomplete
   */
  async receive(first: BytesLine, lines: AsyncGenerator<ExportLine>): Promise<void> {
    const { blobs, random } = this.#deps
    const write = this.#write
    const blobId = newId('blob', random)
    await write.put([[keys.importedBytes(blobId), { blob_id: blobId }]])
    let abandoned = false
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let line: BytesLine = first; ;) {
        yield Buffer.from(line.bytes, 'base64')
        if (line.last) return
        const next = (await lines.next()).value as ExportLine | undefined
        // A later import has removed what was written so far, and would not find what is written now.
        await write.commit()
        if (next !== undefined && 'abandoned' in next && next.abandoned === first.blob_id) return void (abandoned = true)
        if (next === undefined || !('bytes' in next) || next.blob_id !== first.blob_id)
          throw new AdminError('invalid', `the bytes of ${first.blob_id} are incomplete`)
        line = next
      }
    }
    const written = await blobs.write(blobId, chunks())
    if (abandoned) return blobs.remove(blobId)
    if (this.#unused.has(first.blob_id)) throw new AdminError('invalid', `the bytes of ${first.blob_id} are in the export twice`)
    this.#unused.set(first.blob_id, { blobId, ...written })
    this.#counter.files++
    this.#counter.bytes += written.size
  }

  /**
   * Replaces the id of the bytes in the record of a file.
   * @returns undefined if the record is about bytes that are not imported
   * @throws {AdminError} `invalid` if the bytes are missing, or have another size or hash than the record states
   */
  withOwnBytes(key: string, record: Value): Value | undefined {
    if (key.startsWith('tombstone:')) return record['kind'] === 'blob' ? undefined : record
    if (!key.startsWith('file:')) return record
    // An empty file has no bytes, but any bytes stored under its id are removed with it.
    if (record['size'] === 0) {
      this.#counter.files++
      return { ...record, blob_id: newId('blob', this.#deps.random) }
    }
    const blobId = String(record['blob_id'])
    const written = this.#unused.get(blobId)
    this.#unused.delete(blobId)
    if (written === undefined) throw new AdminError('invalid', `${key}: the export does not have its bytes`)
    if (written.size !== record['size'] || written.sha256 !== record['sha256'])
      throw new AdminError('invalid', `${key}: its bytes do not have the size and SHA-256 that it states`)
    return { ...record, blob_id: written.blobId }
  }

  /** @throws {AdminError} `invalid` if no file refers to some bytes: they would remain for good */
  requireAllUsed(): void {
    for (const blobId of this.#unused.keys()) throw new AdminError('invalid', `no file refers to the bytes of ${blobId}`)
  }
}
