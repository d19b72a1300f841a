import { durations } from '../model/durations.ts'
import { isId, newId, type RandomSource } from '../model/ids.ts'
import type { User } from '../model/workspace.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import { AdminError, type AdminDeps, type CommandIo } from './deps.ts'
import { EXPORT_FORMAT, readExport, type ExportLine } from './export-format.ts'
import { progressText, type TransferSummary } from './export.ts'
import { readRecord, readUser } from './import-records.ts'
import { ImportSession, type WrittenBytes } from './import-session.ts'
import { linkWorkspace } from './memberships.ts'

/** Records per commit. */
const BATCH_SIZE = 200
/** Keys of records that make the workspace accessible. They are written last. */
const WRITTEN_LAST = /^(workspace|token|membership):/

/**
 * Imports an exported workspace under its own id. It is accessible only after the whole export was read and its
 * checksum verified. A failed import can be repeated. If two imports of a workspace overlap, the one that began later
 * continues and the other fails.
 * @throws {AdminError} `conflict` if the workspace exists or a later import of it has begun; `invalid` if the lines
 *   are not a complete export
 */
export async function importWorkspace(deps: AdminDeps, io: CommandIo): Promise<TransferSummary> {
  const lines = readExport(io.lines)
  const workspaceId = readHeader((await lines.next()).value as ExportLine | undefined)
  const session = await ImportSession.begin(deps, workspaceId)
  try {
    return await receive(deps, session, workspaceId, lines, io)
  } catch (error) {
    // If this fails too, the next import of the workspace clears the rest.
    await session.clear().catch(() => undefined)
    throw error
  }
}

function readHeader(line: ExportLine | undefined): string {
  if (line === undefined || !('lanekeeper_export' in line)) throw new AdminError('invalid', 'the input is not an export of a workspace')
  if (line.lanekeeper_export !== EXPORT_FORMAT)
    throw new AdminError('invalid', `the export has format ${line.lanekeeper_export}; this version reads format ${EXPORT_FORMAT}`)
  if (!isId('workspace', line.workspace_id)) throw new AdminError('invalid', `${line.workspace_id} is not the id of a workspace`)
  return line.workspace_id
}

async function receive(
  deps: AdminDeps,
  session: ImportSession,
  workspaceId: string,
  lines: AsyncGenerator<ExportLine>,
  io: CommandIo,
): Promise<TransferSummary> {
  const users: User[] = []
  const deferred: [string, Value][] = []
  const received = new ReceivedBytes(deps.random)
  let batch: [string, Value][] = []
  let records = 0
  const flush = async (): Promise<void> => {
    await session.put(batch)
    records += batch.length
    batch = []
    io.progress(progressText(records, received.files, received.bytes))
  }
  for await (const line of lines) {
    if ('user' in line) users.push(readUser(line.user))
    else if ('bytes' in line) received.add(line.blob_id, await session.writeBytes(line, lines))
    else if ('key' in line) {
      const record = received.withOwnBytes(line.key, readRecord(line.key, line.value))
      if (record === undefined) continue
      if (line.key.startsWith('token:')) requireIssued(record, deps.clock())
      ;(WRITTEN_LAST.test(line.key) ? deferred : batch).push([line.key, record])
    }
    if (batch.length >= BATCH_SIZE) await flush()
  }
  await flush()
  received.requireAllUsed()
  const workspace = deferred.find(([key]) => key === keys.workspace())?.[1]
  if (workspace?.['id'] !== workspaceId) throw new AdminError('invalid', `the export has no record of ${workspaceId}`)
  for (const user of users) {
    await importUser(deps, user)
    await linkWorkspace(deps, workspaceId, user.id)
  }
  const isMembership = ([key]: [string, Value]) => key.startsWith('membership:')
  const memberships = deferred.filter(isMembership)
  for (let from = 0; from < memberships.length; from += BATCH_SIZE) await session.put(memberships.slice(from, from + BATCH_SIZE))
  // The workspace and its tokens are one commit: no request can use a part of the workspace.
  await session.finish(deferred.filter((record) => !isMembership(record)))
  return { workspace_id: workspaceId, records: records + deferred.length, files: received.files, bytes: received.bytes }
}

/** A token that was issued in the future would live longer than 90 days. */
function requireIssued({ id, issued_at }: Value, now: number): void {
  if (Date.parse(String(issued_at)) > now + durations.clockSkew)
    throw new AdminError('invalid', `the token ${String(id)} was issued in the future, at ${String(issued_at)}`)
}

/**
 * The bytes that an import has written. Each gets a new id: an id in the export may be that of bytes of another
 * workspace, which a file must not refer to.
 */
class ReceivedBytes {
  files = 0
  bytes = 0
  /** by the id in the export, until a file refers to them */
  readonly #unused = new Map<string, WrittenBytes>()
  readonly #random: RandomSource

  constructor(random: RandomSource) {
    this.#random = random
  }

  /** @param written undefined if the export abandoned the bytes */
  add(blobId: string, written: WrittenBytes | undefined): void {
    if (written === undefined) return
    if (this.#unused.has(blobId)) throw new AdminError('invalid', `the bytes of ${blobId} are in the export twice`)
    this.#unused.set(blobId, written)
    this.files++
    this.bytes += written.size
  }

  /**
   * Replaces the id of the bytes in the record of a file.
   * @returns undefined if the record is about bytes that are not imported
   * @throws {AdminError} `invalid` if the bytes are missing, or have another size or hash than the record states
   */
  withOwnBytes(key: string, record: Value): Value | undefined {
    if (key.startsWith('tombstone:')) return record['kind'] === 'blob' ? undefined : record
    if (!key.startsWith('file:')) return record
    // An empty file has no bytes, but those of its id are removed with it.
    if (record['size'] === 0) return { ...record, blob_id: newId('blob', this.#random) }
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

async function importUser({ store, random }: AdminDeps, user: User): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    // A user that exists here keeps their present profile.
    if ((await tx.get(keys.user(user.id))) === undefined) tx.put(keys.user(user.id), user)
  })
}
