import { isId } from '../model/ids.ts'
import { displayName, type User } from '../model/workspace.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import { AdminError, type AdminDeps, type CommandIo } from './deps.ts'
import { EXPORT_FORMAT, readExport, type ExportLine } from './export-format.ts'
import { progressText, type TransferSummary } from './export.ts'
import { recordError } from './import-records.ts'
import { ImportSession } from './import-session.ts'
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
  let batch: [string, Value][] = []
  let [records, files, bytes] = [0, 0, 0]
  const flush = async (): Promise<void> => {
    await session.put(batch)
    records += batch.length
    batch = []
    io.progress(progressText(records, files, bytes))
  }
  for await (const line of lines) {
    if ('user' in line) users.push(readUser(line.user))
    else if ('bytes' in line) {
      const written = await session.writeBytes(line, lines)
      bytes += written ?? 0
      files += Number(written !== undefined)
    } else if ('key' in line) {
      const error = recordError(line.key, line.value)
      if (error !== undefined) throw new AdminError('invalid', error)
      ;(WRITTEN_LAST.test(line.key) ? deferred : batch).push([line.key, line.value])
    }
    if (batch.length >= BATCH_SIZE) await flush()
  }
  await flush()
  const workspace = deferred.find(([key]) => key === keys.workspace())?.[1]
  if (workspace?.['id'] !== workspaceId) throw new AdminError('invalid', `the export has no record of ${workspaceId}`)
  for (const user of users) {
    await importUser(deps, user)
    await linkWorkspace(deps, workspaceId, user.id)
  }
  const memberships = deferred.filter(([key]) => key.startsWith('membership:'))
  for (let from = 0; from < memberships.length; from += BATCH_SIZE) await session.put(memberships.slice(from, from + BATCH_SIZE))
  // The workspace and its tokens are one commit: no request can use a part of the workspace.
  await session.finish(deferred.filter((record) => !memberships.includes(record)))
  return { workspace_id: workspaceId, records: records + deferred.length, files, bytes }
}

function readUser(user: Value): User {
  const { id, avatar_url, created_at, updated_at } = user as unknown as User
  const name = displayName.safeParse(user['display_name'])
  const hasTimes = typeof created_at === 'string' && typeof updated_at === 'string'
  if (!isId('user', id) || !name.success || !hasTimes || (avatar_url !== null && typeof avatar_url !== 'string'))
    throw new AdminError('invalid', `${JSON.stringify(id)} is not a valid user`)
  return { id, display_name: name.data, avatar_url, created_at, updated_at }
}

async function importUser({ store, random }: AdminDeps, user: User): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    // A user that exists here keeps their present profile.
    if ((await tx.get(keys.user(user.id))) === undefined) tx.put(keys.user(user.id), user)
  })
}
