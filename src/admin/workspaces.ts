import { isId, newId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import { workspaceName, type Workspace } from '../model/workspace.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { listAll } from '../store/list-all.ts'
import { byAge } from './by-age.ts'
import { AdminError, type Deps } from './deps.ts'

/**
 * Creates an empty workspace.
 * @throws {z.ZodError} where the name is none
 */
export async function createWorkspace({ store, clock, random }: Deps, name: string): Promise<Workspace> {
  const now = timestamp(clock)
  const workspace: Workspace = { id: newId('workspace', random), name: workspaceName.parse(name), created_at: now, updated_at: now }
  await transact(store, workspace.id, random, (tx) => tx.create(keys.workspace(), workspace))
  await registerWorkspace({ store, clock, random }, workspace.id)
  return workspace
}

/** Adds a workspace that is there to the list of all. Last of all: what is in the list is there. */
export async function registerWorkspace({ store, random }: Deps, id: string): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    if ((await tx.get(keys.workspaceEntry(id))) === undefined) tx.put(keys.workspaceEntry(id), { id })
  })
}

/** All workspaces, oldest first. */
export async function listWorkspaces(tools: Deps): Promise<Workspace[]> {
  const entries = await listAll(tools, GLOBAL, indexes.workspaces())
  const found = await Promise.all(entries.map(({ id }) => findWorkspace(tools, id)))
  return byAge(found.filter((workspace) => workspace !== undefined))
}

/** @throws {AdminError} `not_found` */
export async function requireWorkspace(tools: Deps, id: string): Promise<Workspace> {
  const workspace = await findWorkspace(tools, id)
  if (workspace === undefined) throw new AdminError('not_found', `there is no workspace ${id}`)
  return workspace
}

async function findWorkspace({ store, random }: Deps, id: string): Promise<Workspace | undefined> {
  return isId('workspace', id) ? transact(store, id, random, (tx) => tx.get(keys.workspace())) : undefined
}
