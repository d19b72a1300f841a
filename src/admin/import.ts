import { isId } from '../model/ids.ts'
import type { User } from '../model/workspace.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { bringForward } from '../store/migrations/list.ts'
import { transact } from '../store/transact.ts'
import { AdminError, type AdminDeps, type CommandIo } from './deps.ts'
import { readExport, readHeader } from './export-format.ts'
import { linkWorkspace } from './memberships.ts'
import { readRecord } from './records.ts'
import { TransferCounter, type TransferSummary } from './transfer-summary.ts'
import { WorkspaceImport } from './workspace-import.ts'

/**
 * Imports an exported workspace under its own id. It is accessible only after the whole export was read and its
 * checksum verified. A failed import can be repeated. If two imports of a workspace overlap, the one that began later
 * continues and the other fails. The attachments of files that the export omits are left out.
 * @throws {AdminError} `conflict` if the workspace exists or a later import of it has begun; `invalid` if the lines
 *   are not a complete export
 */
export async function importWorkspace(deps: AdminDeps, io: CommandIo): Promise<TransferSummary> {
  const lines = readExport(io.lines, 'export')
  const { header, schema } = await readHeader(lines, 'export')
  const workspaceId = header.workspace_id
  if (!isId('workspace', workspaceId)) throw new AdminError('invalid', `${workspaceId} is not the id of a workspace`)
  const counter = new TransferCounter()
  const workspace = await WorkspaceImport.begin(deps, workspaceId, { schema, records: 'workspace' }, counter)
  try {
    const users: User[] = []
    for await (const line of lines) {
      if ('user' in line)
        for (const [key, user] of bringForward(keys.user(line.user.id), line.user, schema))
          users.push(readRecord('global', key, user) as unknown as User)
      else if (await workspace.take(line, lines)) io.progress(counter.progress)
    }
    await workspace.complete()
    io.progress(counter.progress)
    for (const user of users) {
      await importUser(deps, user)
      await linkWorkspace(deps, workspaceId, user.id)
    }
    await workspace.publish()
  } catch (error) {
    // If this fails too, the next import of the workspace clears the rest.
    await workspace.clear().catch(() => undefined)
    throw error
  }
  return { workspace_id: workspaceId, ...counter }
}

async function importUser({ store, random }: AdminDeps, user: User): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    // A user that exists here keeps their present profile.
    if ((await tx.get(keys.user(user.id))) === undefined) tx.put(keys.user(user.id), user)
  })
}
