import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { FileRecord } from '../model/file.ts'
import type { Blobs } from '../store/blobs.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { StorageUnavailable } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import type { CommandIo, AdminDeps } from './deps.ts'
import { requireWorkspace } from './workspaces.ts'

/** The format of an export. */
export const EXPORT_FORMAT = 2
/** What is no part of a workspace: how it came here. */
const NOT_EXPORTED = /^(importing|imported_bytes):/
/** Bytes of a file in one line. */
const PIECE = 192 * 1024

const id = z.string().regex(/^[a-z]{3}_[0-9a-z]{20}$/)
const value = z.record(z.string(), z.unknown())

/**
 * A line of an export. First its head, then people, bytes and records, at last how many lines there were and
 * a checksum over them: an export that was cut off says so itself. Bytes are abandoned where the sweep takes
 * their file away in the middle.
 */
export const exportLine = z.union([
  z.strictObject({ lanekeeper_export: z.int(), workspace_id: id, name: z.string(), exported_at: z.string() }),
  z.strictObject({ user: value.and(z.object({ id })) }),
  z.strictObject({ bytes: z.base64(), blob_id: id, last: z.boolean() }),
  z.strictObject({ abandoned: id }),
  z.strictObject({ key: z.string().regex(/^[a-z_]+(:[0-9A-Za-z_]+)*$/), value }),
  z.strictObject({ end: z.literal(true), lines: z.int(), sha256: z.string() }),
])
export type ExportLine = z.infer<typeof exportLine>

/** What was exported, or imported. */
export interface Transferred {
  readonly workspace_id: string
  readonly records: number
  readonly files: number
  readonly bytes: number
}

/**
 * Writes a workspace as JSON lines: all its records as they were at one moment, and the bytes of its files.
 * Tokens are in it as hashes, so they go on working wherever it is imported. No plaintext is.
 * @throws {OperatorError} `not_found`
 */
export async function exportWorkspace(tools: AdminDeps, workspaceId: string, talk: CommandIo): Promise<Transferred> {
  const workspace = await requireWorkspace(tools, workspaceId)
  const out = new Checked(talk)
  await out.write({
    lanekeeper_export: EXPORT_FORMAT,
    workspace_id: workspaceId,
    name: workspace.name,
    exported_at: new Date(tools.clock()).toISOString(),
  })
  let [records, files, bytes] = [0, 0, 0]
  for await (const piece of tools.store.dump(workspaceId)) {
    for (const [key, value] of piece) {
      if (NOT_EXPORTED.test(key)) continue
      if (key.startsWith('membership:')) await writeUser(tools, out, key.slice('membership:'.length))
      if (key.startsWith('file:')) {
        const file = value as unknown as FileRecord
        if (!(await writeBytes(tools, workspaceId, out, file))) continue
        files++
        bytes += file.size
      }
      await out.write({ key, value })
      records++
    }
    talk.progress(`${records} records, ${files} files (${megabytes(bytes)})`)
  }
  await out.end()
  return { workspace_id: workspaceId, records, files, bytes }
}

async function writeUser({ store, random }: AdminDeps, out: Checked, userId: string): Promise<void> {
  const user = await transact(store, GLOBAL, random, (tx) => tx.get(keys.user(userId)))
  if (user !== undefined) await out.write({ user: { ...user } })
}

/**
 * @returns false where the sweep has taken the file away meanwhile: then it goes without it, as nothing needs it
 * @throws {StorageUnavailable} where the file is there and its bytes are not
 */
async function writeBytes({ store, blobs, random }: AdminDeps, workspaceId: string, out: Checked, file: FileRecord): Promise<boolean> {
  const { id: fileId, blob_id, size } = file
  for (let start = 0; start < size; start += PIECE) {
    const end = Math.min(size, start + PIECE)
    const piece = await readPiece(blobs, blob_id, start, end)
    if (piece instanceof Uint8Array) await out.write({ bytes: Buffer.from(piece).toString('base64'), blob_id, last: end === size })
    else {
      const still = await transact(store, workspaceId, random, (tx) => tx.get(keys.file(fileId)))
      if (still !== undefined)
        throw new StorageUnavailable(`the bytes of ${fileId} cannot be read; is --bytes the one that the service has?`, {
          cause: piece.cause,
        })
      if (start > 0) await out.write({ abandoned: blob_id })
      return false
    }
  }
  return true
}

async function readPiece(blobs: Blobs, id: string, start: number, end: number): Promise<Uint8Array | { readonly cause: unknown }> {
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of blobs.read(id, start, end)) chunks.push(chunk)
    return Buffer.concat(chunks)
  } catch (cause) {
    return { cause }
  }
}

/** Bytes, as a person reads them. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

/** Lines with a checksum over all of them. */
class Checked {
  readonly #hash = createHash('sha256')
  readonly #talk: CommandIo
  #lines = 0

  constructor(talk: CommandIo) {
    this.#talk = talk
  }

  async write(line: ExportLine): Promise<void> {
    const text = JSON.stringify(line)
    this.#hash.update(text).update('\n')
    this.#lines++
    await this.#talk.write(text)
  }

  async end(): Promise<void> {
    await this.#talk.write(JSON.stringify({ end: true, lines: this.#lines, sha256: this.#hash.digest('hex') } satisfies ExportLine))
  }
}
