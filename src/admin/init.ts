import { displayName, workspaceName, type User, type Workspace } from '../model/workspace.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { listAll, transact } from '../store/transact.ts'
import { AdminError, type AdminDeps } from './deps.ts'
import { addMember, listMembers } from './memberships.ts'
import { addUser, inviteUser, listUsers, type SignUpLink } from './users.ts'
import { createWorkspace, listWorkspaces } from './workspaces.ts'

/** The first workspace of an installation, and its owner. */
export interface Installation extends SignUpLink {
  readonly workspace_id: string
  readonly workspace: string
  readonly user_id: string
  readonly owner: string
  readonly email: string
}

/** What to create. */
export interface NewInstallation {
  /** the name of the workspace */
  readonly workspace: string
  /** the name of its owner */
  readonly owner: string
  /** the e-mail address that the sign-up form suggests */
  readonly email: string
}

/**
 * Creates the first workspace and its owner in an empty storage. If it was interrupted, it continues.
 * @param url the URL of the service, which begins the sign-up link
 * @throws {AdminError} `conflict` if there is a workspace with a member, or with another name
 * @throws {z.ZodError} if a name is invalid
 */
export async function initialize(deps: AdminDeps, { workspace: name, owner, email }: NewInstallation, url: string): Promise<Installation> {
  const unfinished = await requireNoWorkspace(deps, workspaceName.parse(name))
  const user = (await findUnused(deps, displayName.parse(owner))) ?? (await addUser(deps, { display_name: owner }))
  const workspace = unfinished ?? (await createWorkspace(deps, name))
  await addMember(deps, workspace.id, user, 'owner')
  const link = await inviteUser(deps, user.id, url, email)
  return { workspace_id: workspace.id, workspace: workspace.name, user_id: user.id, owner: user.display_name, email, ...link }
}

/** @returns a workspace of this name without members, which an interrupted run has left */
async function requireNoWorkspace(deps: AdminDeps, name: string): Promise<Workspace | undefined> {
  const [first, ...others] = await listWorkspaces(deps)
  // A damaged workspace is not in the list.
  if (first === undefined && (await listAll(deps, GLOBAL, indexes.workspaces())).length === 0) return undefined
  const members = first === undefined ? [] : await listMembers(deps, first.id)
  if (first !== undefined && others.length === 0 && members.length === 0 && first.name === name) return first
  const present = first === undefined ? 'a damaged workspace' : `the workspace "${first.name}" (${first.id})`
  const owner = members.find(({ role }) => role === 'owner')
  const hints = [
    ...(owner === undefined ? [] : [`for another sign-up link: lanekeeper user invite ${owner.user_id}`]),
    'for another workspace: lanekeeper workspace create NAME',
  ]
  throw new AdminError('conflict', [`this storage has ${present} already`, ...hints].join('\n  '))
}

/** The user of this name who has not signed up: an interrupted run may have left them. */
async function findUnused(deps: AdminDeps, name: string): Promise<User | undefined> {
  const users = (await listUsers(deps)).filter(({ display_name }) => display_name === name)
  const accounts = await transact(deps.store, GLOBAL, deps.random, (tx) => tx.read(users.map(({ id }) => keys.account(id))))
  return users.find((_user, i) => accounts[i] === undefined)
}
