import { newId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import { workspaceName, type Workspace } from '../model/workspace.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import type { Tools } from './tools.ts'

/**
 * Creates an empty workspace.
 * @throws {z.ZodError} where the name is none
 */
export async function createWorkspace({ store, clock, random }: Tools, name: string): Promise<Workspace> {
  const now = timestamp(clock)
  const workspace: Workspace = { id: newId('workspace', random), name: workspaceName.parse(name), created_at: now, updated_at: now }
  await transact(store, workspace.id, random, async (tx) => {
    await tx.get(keys.workspace())
    tx.put(keys.workspace(), workspace)
  })
  // Listed last: what is in the list is there.
  await transact(store, GLOBAL, random, async (tx) => {
    await tx.get(keys.workspaceEntry(workspace.id))
    tx.put(keys.workspaceEntry(workspace.id), { id: workspace.id })
  })
  return workspace
}
