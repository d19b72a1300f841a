import { GLOBAL, keys } from '../store/keys.ts'
import { SCHEMA_VERSION } from '../store/migrations/list.ts'
import { transact } from '../store/transact.ts'
import type { AdminDeps, CommandIo } from './deps.ts'
import { EXPORT_FORMAT, ExportWriter } from './export-format.ts'
import { TransferCounter, type TransferSummary } from './transfer-summary.ts'
import { writeWorkspace } from './workspace-export.ts'
import { requireWorkspace } from './workspaces.ts'

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
  await writeWorkspace(deps, workspaceId, { writer, counter, progress: io.progress }, async (key) => {
    if (key.startsWith(MEMBERSHIP)) await writeUser(deps, writer, key.slice(MEMBERSHIP.length))
  })
  await writer.end()
  return { workspace_id: workspaceId, ...counter.summary }
}

async function writeUser({ store, random }: AdminDeps, writer: ExportWriter, userId: string): Promise<void> {
  const user = await transact(store, GLOBAL, random, (tx) => tx.get(keys.user(userId)))
  if (user !== undefined) await writer.write({ user: { ...user } })
}
