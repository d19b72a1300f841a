import { createHash } from 'node:crypto'
import { listWorkspaces } from '../../src/admin/workspaces.ts'
import type { FileRecord } from '../../src/model/file.ts'
import type { Key } from '../../src/store/keys.ts'
import type { Service } from './service.ts'

/**
 * Compares the stored bytes with the files of all workspaces. While no upload is in progress and all due tombstones are
 * collected, they match exactly. The keys of both are read from the raw storage.
 * @returns the differences: blobs that no file names, and files whose bytes are missing or differ
 */
export async function findByteDifferences(service: Service): Promise<string[]> {
  const stored = new Set(await service.blobKeys())
  const differences: string[] = []
  for (const file of await allFiles(service)) {
    const content = await readAll(service, file).catch((error: Error) => error.message)
    const intact = content instanceof Uint8Array && createHash('sha256').update(content).digest('hex') === file.sha256
    if (!intact) differences.push(`the bytes of ${file.id} are ${typeof content === 'string' ? `unreadable: ${content}` : 'different'}`)
    stored.delete(file.blob_id)
  }
  return [...differences, ...[...stored].map((id) => `no file names the bytes ${id}`)]
}

async function allFiles(service: Service): Promise<FileRecord[]> {
  const files: FileRecord[] = []
  for (const { id } of await listWorkspaces(service.deps)) {
    const keys = (await service.recordKeys(id)).filter((key) => key.startsWith('file:'))
    files.push(...((await service.write(id, (tx) => tx.read(keys as Key<FileRecord>[]))) as FileRecord[]))
  }
  return files
}

async function readAll({ adminDeps }: Service, { blob_id, size }: FileRecord): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of adminDeps.blobs.read(blob_id, 0, size)) parts.push(part)
  return Buffer.concat(parts)
}
