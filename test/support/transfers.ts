import { backUp, type BackupSummary } from '../../src/admin/backup.ts'
import type { AdminDeps } from '../../src/admin/deps.ts'
import type { TransferSummary } from '../../src/admin/transfer-summary.ts'
import { exportWorkspace } from '../../src/admin/workspace-export.ts'
import { createIo } from './command-io.ts'

/** The lines of an export or a backup, and its summary. */
export interface Lines<Summary> {
  readonly lines: string[]
  readonly summary: Summary
}

/** Exports a workspace. */
export async function exportOf(deps: AdminDeps, workspaceId: string): Promise<Lines<TransferSummary>> {
  const io = createIo()
  const summary = await exportWorkspace(deps, workspaceId, io)
  return { lines: io.written, summary }
}

/** Makes a backup. */
export async function backupOf(deps: AdminDeps): Promise<Lines<BackupSummary>> {
  const io = createIo()
  const summary = await backUp(deps, io)
  return { lines: io.written, summary }
}
