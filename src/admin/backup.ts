import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { SCHEMA_VERSION } from '../store/migrations/list.ts'
import { StorageUnavailable, type Value } from '../store/port.ts'
import { listAll, transact } from '../store/transact.ts'
import type { AdminDeps, CommandIo } from './deps.ts'
import { BACKUP_FORMAT, ExportWriter } from './export-format.ts'
import { isIn } from './records.ts'
import { TransferCounter, type Transferred } from './transfer-summary.ts'
import { writeWorkspace, type ExportTarget } from './workspace-export.ts'
import { requireWorkspace } from './workspaces.ts'

/** How often an unreadable workspace is read while other records can be read. */
const MAX_ATTEMPTS = 3

/** What a backup or a restore has transferred. */
export interface BackupSummary extends Transferred {
  readonly workspaces: number
  readonly users: number
  /** the ids of workspaces that could not be read */
  readonly lost_workspaces: readonly string[]
  /** those that a restore has disabled, if there are any: `lanekeeper webhooks enable` enables them */
  readonly disabled_webhooks?: number
}

/**
 * Writes the whole installation as JSON lines: all workspaces with the bytes of their files, all users with their e-mail
 * addresses and password hashes. Each workspace is a snapshot of one moment. The users are read at a later moment, so they
 * include every member. What cannot be read is left out; the summary names it.
 * @throws {StorageUnavailable}
 */
export async function backUp(deps: AdminDeps, io: CommandIo): Promise<BackupSummary> {
  const writer = new ExportWriter(io)
  await writer.write({ lanekeeper_backup: BACKUP_FORMAT, schema: SCHEMA_VERSION, created_at: new Date(deps.clock()).toISOString() })
  const counter = new TransferCounter()
  const entries = await listAll(deps, GLOBAL, indexes.workspaces())
  const [written, lost] = [new Set<string>(), [] as string[]]
  for (const { id } of entries) {
    const progress = () => io.progress(`${written.size} of ${entries.length} workspaces, ${counter.progress}`)
    await deps.store.hold(id, async () => {
      if (await isReadable(deps, id)) {
        await writer.write({ workspace: id })
        await writeWorkspace(deps, id, { records: 'backedUp', writer, counter, progress })
        written.add(id)
      } else {
        await writer.write({ omitted_workspace: id })
        lost.push(id)
      }
    })
    progress()
  }
  await writer.write({ installation: true })
  const users = await writeGlobal(deps, { writer, counter }, written)
  await writer.end()
  return { workspaces: written.size, users, ...counter, lost_workspaces: lost }
}

/**
 * Whether a workspace can be read.
 * @throws {StorageUnavailable} if nothing else can be read either
 */
async function isReadable(deps: AdminDeps, id: string): Promise<boolean> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    try {
      await requireWorkspace(deps, id)
      return true
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error
    }
    await transact(deps.store, GLOBAL, deps.random, (tx) => tx.get(keys.workspaceEntry(id)))
  }
  return false
}

/**
 * Writes what belongs to no workspace.
 * @returns the number of users
 */
async function writeGlobal(
  deps: AdminDeps,
  { writer, counter }: Pick<ExportTarget, 'writer' | 'counter'>,
  workspaces: ReadonlySet<string>,
): Promise<number> {
  let users = 0
  for await (const batch of deps.store.dump(GLOBAL)) {
    for (const [key, value] of batch) {
      // A restore writes the index of e-mail addresses and the list of workspaces again.
      if (!isIn('global', key) || isLinkToOther(key, value, workspaces)) continue
      await writer.write({ key, value })
      counter.records++
      if (key.startsWith('user:')) users++
    }
  }
  return users
}

/** Whether a record is the link of a user to a workspace that the backup does not have. */
function isLinkToOther(key: string, value: Value, workspaces: ReadonlySet<string>): boolean {
  return key.startsWith('workspace_link:') && !workspaces.has(String(value['workspace_id']))
}
