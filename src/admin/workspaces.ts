import { isId, newId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import { workspaceName, type Workspace } from '../model/workspace.ts'
import { type Deps, listAll, transact } from '../store/transact.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { AdminError } from './deps.ts'

/**
 * Creates an empty workspace.
 * @throws {z.ZodError} if the name is invalid
 */
export async function createWorkspace({ store, clock, random }: Deps, name: string): Promise<Workspace> {
  const now = timestamp(clock)
  const workspace: Workspace = { id: newId('workspace', random), name: workspaceName.parse(name), created_at: now, updated_at: now }
  await transact(store, workspace.id, random, async (tx) => tx.create(keys.workspace(), workspace))
  await registerWorkspace({ store, clock, random }, workspace.id)
  return workspace
}

/** Adds an existing workspace to the list of all workspaces. It comes last, so every listed workspace exists. */
export async function registerWorkspace({ store, random }: Deps, id: string): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    if ((await tx.get(keys.workspaceEntry(id))) === undefined) tx.put(keys.workspaceEntry(id), { id })
  })
}

/** Lists all workspaces, oldest first. Those that are damaged are left out; the log names them. */
export async function listWorkspaces(deps: Deps): Promise<Workspace[]> {
  const entries = await listAll(deps, GLOBAL, indexes.workspaces())
  const findUnlessDamaged = (id: string) =>
    deps.store
      .hold(id, () => findWorkspace(deps, id))
      .catch((error: unknown) => {
        if (deps.store.damaged().includes(id) !== true) throw error
      })
  const workspaces = await Promise.all(entries.map(({ id }) => findUnlessDamaged(id)))
  return workspaces
    .filter((workspace): workspace is Workspace => workspace !== undefined)
    .toSorted((a, b) => (a.created_at < b.created_at ? -1 : Number(a.created_at > b.created_at)))
}

/** Lists all workspaces with the bytes of their files. */
export async function listWithUse(deps: Deps): Promise<(Workspace & { readonly file_bytes: number })[]> {
  const read = (id: string) => transact(deps.store, id, deps.random, (tx) => tx.get(keys.fileBytes()))
  const workspaces = await listWorkspaces(deps)
  return Promise.all(
    workspaces.map(async (one) => ({ ...one, file_bytes: (await deps.store.hold(one.id, () => read(one.id)))?.bytes ?? 0 })),
  )
}

/** @throws {AdminError} `not_found` */
export async function requireWorkspace(deps: Deps, id: string): Promise<Workspace> {
  const workspace = await findWorkspace(deps, id)
  if (workspace === undefined) throw new AdminError('not_found', `there is no workspace ${id}`)
  return workspace
}

async function findWorkspace({ store, random }: Deps, id: string): Promise<Workspace | undefined> {
  return isId('workspace', id) ? transact(store, id, random, (tx) => tx.get(keys.workspace())) : undefined
}
