import { createHash } from 'node:crypto'
import type { FileRecord } from '../model/file.ts'
import type { Blobs } from '../store/blobs.ts'
import { keys, GLOBAL } from '../store/keys.ts'
import { StorageUnavailable } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import type { AdminDeps, CommandIo } from './deps.ts'
import { ExportWriter, type OmittedFile, EXPORT_FORMAT } from './export-format.ts'
import { isIn } from './records.ts'
import { TransferCounter, type TransferSummary } from './transfer-summary.ts'
import { SCHEMA_VERSION } from '../store/migrations/list.ts'
import { requireWorkspace } from './workspaces.ts'

/** Bytes of a file per line. */
const CHUNK_BYTES = 192 * 1024

/** Where the lines of a workspace are written, and who counts them. */
export interface ExportTarget {
  /** which records are written */
  readonly records: 'workspace' | 'backedUp'
  readonly writer: ExportWriter
  readonly counter: TransferCounter
  readonly progress: CommandIo['progress']
}

/**
 * Writes a snapshot of all records of a workspace, and the bytes of its files. A file whose bytes are lost is left out.
 * @param onRecord is called before each record is written
 * @throws {StorageUnavailable}
 */
export async function writeWorkspace(
  deps: AdminDeps,
  workspaceId: string,
  { records, writer, counter, progress }: ExportTarget,
  onRecord: (key: string) => unknown = () => undefined,
): Promise<void> {
  for await (const batch of deps.store.dump(workspaceId)) {
    for (const [key, value] of batch) {
      // Records that describe the storage, or an import in progress, stay.
      if (!isIn(records, key)) continue
      await onRecord(key)
      if (key.startsWith('file:')) {
        const file = value as unknown as FileRecord
        const omitted = await writeBytes(deps, workspaceId, writer, file)
        if (omitted !== undefined) {
          await writer.write(omitted)
          counter.omit(workspaceId, omitted)
          continue
        }
        counter.files++
        counter.bytes += file.size
      }
      await writer.write({ key, value })
      counter.records++
    }
    progress(counter.progress)
  }
}

/**
 * Writes the bytes of a file.
 * @returns undefined, or why they are left out
 */
async function writeBytes(deps: AdminDeps, workspaceId: string, writer: ExportWriter, file: FileRecord): Promise<OmittedFile | undefined> {
  const { blob_id, size, sha256 } = file
  const hash = createHash('sha256')
  for (let start = 0; start < size; start += CHUNK_BYTES) {
    const end = Math.min(size, start + CHUNK_BYTES)
    const last = end === size
    const chunk = await readChunk(deps.blobs, blob_id, start, end)
    if (chunk !== undefined) hash.update(chunk)
    // An import accepts only bytes that match the hash.
    if (chunk !== undefined && (!last || hash.digest('hex') === sha256)) {
      await writer.write({ bytes: Buffer.from(chunk).toString('base64'), blob_id, last })
      continue
    }
    if (start > 0) await writer.write({ abandoned: blob_id })
    const isPresent = await isStillPresent(deps, workspaceId, file.id)
    return { omitted: file.id, name: file.name, size, reason: !isPresent ? 'removed' : chunk === undefined ? 'unreadable' : 'damaged' }
  }
  return undefined
}

/** Whether garbage collection has not removed a file since the snapshot. */
function isStillPresent({ store, random }: AdminDeps, workspaceId: string, fileId: string): Promise<boolean> {
  return transact(store, workspaceId, random, async (tx) => (await tx.get(keys.file(fileId))) !== undefined)
}

/**
 * @returns undefined if the bytes are missing or cannot be read
 * @throws {StorageUnavailable} if no bytes at all can be read at present
 */
async function readChunk(blobs: Blobs, id: string, start: number, end: number): Promise<Uint8Array | undefined> {
  const attempt = async (): Promise<Uint8Array> => {
    const parts: Uint8Array[] = []
    for await (const part of blobs.read(id, start, end)) parts.push(part)
    return Buffer.concat(parts)
  }
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) return undefined
  }
  // The connection may have been lost for a moment. Then these bytes are not.
  await blobs.ready()
  return attempt().catch(() => undefined)
}

const MEMBERSHIP = 'membership:'

/**
 * Writes a workspace as JSON lines: a snapshot of all its records, and the bytes of its files. Tokens are exported as
 * hashes, so they keep working after an import. No plaintext of a token is stored or exported. A file whose bytes are lost is
 * left out; the summary names it.
 * @throws {AdminError} `not_found`
 * @throws {StorageUnavailable}
 */
export async function exportWorkspace(deps: AdminDeps, workspaceId: string, io: CommandIo): Promise<TransferSummary> {
  const workspace = await requireWorkspace(deps, workspaceId)
  const writer = new ExportWriter(io)
  await writer.write({
    lanekeeper_export: EXPORT_FORMAT,
    schema: SCHEMA_VERSION,
    workspace_id: workspaceId,
    name: workspace.name,
    exported_at: new Date(deps.clock()).toISOString(),
  })
  const counter = new TransferCounter()
  await writeWorkspace(deps, workspaceId, { records: 'workspace', writer, counter, progress: io.progress }, async (key) => {
    if (key.startsWith(MEMBERSHIP)) await writeUser(deps, writer, key.slice(MEMBERSHIP.length))
  })
  await writer.end()
  return { workspace_id: workspaceId, ...counter }
}

async function writeUser({ store, random }: AdminDeps, writer: ExportWriter, userId: string): Promise<void> {
  const user = await transact(store, GLOBAL, random, (tx) => tx.get(keys.user(userId)))
  if (user !== undefined) await writer.write({ user: { ...user } })
}
