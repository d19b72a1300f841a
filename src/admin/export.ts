import type { FileRecord } from '../model/file.ts'
import type { Blobs } from '../store/blobs.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { StorageUnavailable } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import type { AdminDeps, CommandIo } from './deps.ts'
import { EXPORT_FORMAT, ExportWriter } from './export-format.ts'
import { requireWorkspace } from './workspaces.ts'

/** Keys of records that describe an import in progress, not the workspace. */
const NOT_EXPORTED = /^(importing|imported_bytes):/
/** Bytes of a file per line. */
const CHUNK_BYTES = 192 * 1024

/** What an export or import has transferred. */
export interface TransferSummary {
  readonly workspace_id: string
  readonly records: number
  readonly files: number
  /** bytes of all files */
  readonly bytes: number
}

/**
 * Writes a workspace as JSON lines: a snapshot of all its records, and the bytes of its files. Tokens are exported as
 * hashes, so they keep working after an import. No plaintext of a token is stored or exported.
 * @throws {AdminError} `not_found`
 * @throws {StorageUnavailable} if the bytes of a file cannot be read
 */
export async function exportWorkspace(deps: AdminDeps, workspaceId: string, io: CommandIo): Promise<TransferSummary> {
  const workspace = await requireWorkspace(deps, workspaceId)
  const writer = new ExportWriter(io)
  await writer.write({
    lanekeeper_export: EXPORT_FORMAT,
    workspace_id: workspaceId,
    name: workspace.name,
    exported_at: new Date(deps.clock()).toISOString(),
  })
  let [records, files, bytes] = [0, 0, 0]
  for await (const batch of deps.store.dump(workspaceId)) {
    for (const [key, value] of batch) {
      if (NOT_EXPORTED.test(key)) continue
      if (key.startsWith('membership:')) await writeUser(deps, writer, key.slice('membership:'.length))
      if (key.startsWith('file:')) {
        const file = value as unknown as FileRecord
        if (!(await writeBytes(deps, workspaceId, writer, file))) continue
        files++
        bytes += file.size
      }
      await writer.write({ key, value })
      records++
    }
    io.progress(progressText(records, files, bytes))
  }
  await writer.end()
  return { workspace_id: workspaceId, records, files, bytes }
}

/** The progress of an export or import, as the operator reads it. */
export function progressText(records: number, files: number, bytes: number): string {
  return `${records} records, ${files} files (${(bytes / 1024 / 1024).toFixed(1)} MiB)`
}

async function writeUser({ store, random }: AdminDeps, writer: ExportWriter, userId: string): Promise<void> {
  const user = await transact(store, GLOBAL, random, (tx) => tx.get(keys.user(userId)))
  if (user !== undefined) await writer.write({ user: { ...user } })
}

/**
 * Writes the bytes of a file.
 * @returns false if garbage collection has removed the file since the snapshot. It was unattached, so the export omits it.
 * @throws {StorageUnavailable} if the file exists and its bytes cannot be read
 */
async function writeBytes(
  { store, blobs, random }: AdminDeps,
  workspaceId: string,
  writer: ExportWriter,
  file: FileRecord,
): Promise<boolean> {
  const { id: fileId, blob_id, size } = file
  for (let start = 0; start < size; start += CHUNK_BYTES) {
    const end = Math.min(size, start + CHUNK_BYTES)
    const chunk = await readChunk(blobs, blob_id, start, end)
    if (chunk instanceof Uint8Array) await writer.write({ bytes: Buffer.from(chunk).toString('base64'), blob_id, last: end === size })
    else {
      const current = await transact(store, workspaceId, random, (tx) => tx.get(keys.file(fileId)))
      if (current !== undefined)
        throw new StorageUnavailable(`the bytes of ${fileId} cannot be read; check that --bytes is the same as for the service`, {
          cause: chunk.cause,
        })
      if (start > 0) await writer.write({ abandoned: blob_id })
      return false
    }
  }
  return true
}

async function readChunk(blobs: Blobs, id: string, start: number, end: number): Promise<Uint8Array | { readonly cause: unknown }> {
  try {
    const parts: Uint8Array[] = []
    for await (const part of blobs.read(id, start, end)) parts.push(part)
    return Buffer.concat(parts)
  } catch (cause) {
    return { cause }
  }
}
