import type { User } from '../model/workspace.ts'
import { displayName } from '../model/workspace.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import { EXPORT_FORMAT, megabytes, type ExportLine, type Transferred } from './export.ts'
import { checkedLines } from './export-lines.ts'
import { ImportSession } from './import-session.ts'
import { linkWorkspace } from './memberships.ts'
import { recordError } from './import-records.ts'
import { AdminError, type CommandIo, type AdminDeps } from './deps.ts'
import { registerWorkspace } from './workspaces.ts'
import { isId } from '../model/ids.ts'

/** Records of one commit. */
const BATCH = 200
/** Written last, the tokens and the workspace itself in one commit: so nobody can ask for half a workspace. */
const LAST = /^(workspace|token|membership):/

/**
 * Brings an exported workspace back, under its own id. Until the last line has come and fits, nobody can use it;
 * an import that was broken off can be done again. Of two at once the later one goes on, and the other fails.
 * @throws {AdminError} `conflict` where the workspace is there, or is being imported again; `invalid` where the
 *   lines are no whole export
 */
export async function importWorkspace(tools: AdminDeps, talk: CommandIo): Promise<Transferred> {
  const lines = checkedLines(talk.lines)
  const workspaceId = readHead((await lines.next()).value as ExportLine | undefined)
  const importing = await ImportSession.begin(tools, workspaceId)
  try {
    return await receive(tools, importing, workspaceId, lines, talk)
  } catch (error) {
    // What is left, should this fail too, the next import of it finds.
    await importing.clear().catch(() => undefined)
    throw error
  }
}

function readHead(head: ExportLine | undefined): string {
  if (head === undefined || !('lanekeeper_export' in head)) throw new AdminError('invalid', 'this is no export of a workspace')
  if (head.lanekeeper_export !== EXPORT_FORMAT)
    throw new AdminError('invalid', `the export has format ${head.lanekeeper_export}; this version knows format ${EXPORT_FORMAT}`)
  if (!isId('workspace', head.workspace_id)) throw new AdminError('invalid', `${head.workspace_id} is no id of a workspace`)
  return head.workspace_id
}

async function receive(
  tools: AdminDeps,
  importing: ImportSession,
  workspaceId: string,
  lines: AsyncGenerator<ExportLine>,
  talk: CommandIo,
): Promise<Transferred> {
  const users: User[] = []
  const held: [string, Value][] = []
  let batch: [string, Value][] = []
  let [records, files, bytes] = [0, 0, 0]
  const flush = async (): Promise<void> => {
    await importing.put(batch)
    records += batch.length
    batch = []
    talk.progress(`${records} records, ${files} files (${megabytes(bytes)})`)
  }
  for await (const line of lines) {
    if ('user' in line) users.push(readUser(line.user))
    else if ('bytes' in line) {
      const written = await importing.writeBytes(line, lines)
      bytes += written ?? 0
      files += Number(written !== undefined)
    } else if ('key' in line) {
      const wrong = recordError(line.key, line.value)
      if (wrong !== undefined) throw new AdminError('invalid', wrong)
      ;(LAST.test(line.key) ? held : batch).push([line.key, line.value])
    }
    if (batch.length >= BATCH) await flush()
  }
  await flush()
  const workspace = held.find(([key]) => key === keys.workspace())?.[1]
  if (workspace?.['id'] !== workspaceId) throw new AdminError('invalid', `the export has no record of ${workspaceId}`)
  for (const user of users) {
    await importUser(tools, user)
    await linkWorkspace(tools, workspaceId, user.id)
  }
  const members = held.filter(([key]) => key.startsWith('membership:'))
  for (let from = 0; from < members.length; from += BATCH) await importing.put(members.slice(from, from + BATCH))
  await importing.finish(held.filter((record) => !members.includes(record)))
  await registerWorkspace(tools, workspaceId)
  return { workspace_id: workspaceId, records: records + held.length, files, bytes }
}

function readUser(user: Value): User {
  const { id, avatar_url, created_at, updated_at } = user as unknown as User
  const name = displayName.safeParse(user['display_name'])
  const times = typeof created_at === 'string' && typeof updated_at === 'string'
  if (!isId('user', id) || !name.success || !times || (avatar_url !== null && typeof avatar_url !== 'string'))
    throw new AdminError('invalid', `${JSON.stringify(id)} is no person`)
  return { id, display_name: name.data, avatar_url, created_at, updated_at }
}

async function importUser({ store, random }: AdminDeps, user: User): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    // Whoever is known already keeps what is known.
    if ((await tx.get(keys.user(user.id))) === undefined) tx.put(keys.user(user.id), user)
  })
}
