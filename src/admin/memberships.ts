import { activeTokens, endToken } from '../auth/tokens/issue.ts'
import { newId } from '../model/ids.ts'
import { timestamp, type Clock } from '../model/time.ts'
import { isActive, type Membership, type Role, type User } from '../model/workspace.ts'
import { limits } from '../model/limits.ts'
import { pendingRemovalOfMember } from '../resources/pending-removals.ts'
import { beginRemoval, continueRemoval } from '../resources/removals.ts'
import { SERVICE } from '../store/derivation.ts'
import { type Deps, listAll, transact } from '../store/transact.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { AdminError } from './deps.ts'

/**
 * Makes a user an active member of a workspace. An active membership stays as it is, whatever the role. What remains of an
 * earlier membership is removed first, so that the new one restores none of it.
 */
export async function addMember(deps: Deps, workspaceId: string, user: User, role: Role): Promise<Membership> {
  await linkWorkspace(deps, workspaceId, user.id)
  for (;;) {
    const added = await transact(deps.store, workspaceId, deps.random, (tx) => addMemberIn(tx, deps, user, role))
    if (added !== undefined) return added
  }
}

/**
 * Does a step of {@link addMember} in a transaction of the workspace. {@link linkWorkspace} comes before it.
 * @returns undefined if more of an earlier membership must be removed: the next step is another transaction
 */
export async function addMemberIn(
  tx: Transaction,
  { clock, random, batch = limits.batch }: Deps,
  user: User,
  role: Role,
): Promise<Membership | undefined> {
  const [present, removals] = await tx.read([keys.membership(user.id), keys.removals()])
  const removal = pendingRemovalOfMember(removals, user.id)
  if (removal === undefined) return present !== undefined && isActive(present) ? present : join(tx, { clock, random }, user, role, present)
  await tx.get(keys.tombstone(removal.id))
  tx.logChanges(SERVICE, clock)
  await continueRemoval({ tx, clock, random, batch }, removal.id)
  return undefined
}

function join(
  tx: Transaction,
  { clock, random }: Pick<Deps, 'clock' | 'random'>,
  user: User,
  role: Role,
  present: Membership | undefined,
): Membership {
  const now = timestamp(clock)
  const membership: Membership = {
    id: newId('membership', random),
    user_id: user.id,
    role,
    display_name: user.display_name,
    avatar_url: user.avatar_url,
    joined_at: now,
    ended_at: null,
    created_at: present?.created_at ?? now,
    updated_at: now,
  }
  tx.put(keys.membership(user.id), membership)
  return membership
}

/**
 * Writes the pointer that leads the web app from a user to a workspace. The pointer is in another partition
 * than the membership and is written first, so every membership has one.
 */
export async function linkWorkspace({ store, random }: Deps, workspaceId: string, userId: string): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    const key = keys.workspaceLink(userId, workspaceId)
    if ((await tx.get(key)) === undefined) tx.put(key, { user_id: userId, workspace_id: workspaceId })
  })
}

/**
 * Ends a membership. The same commit revokes the user's tokens in the workspace, for good: a later membership does not
 * restore them. Board memberships and assignments count for nothing from then on, and are removed in batches.
 * @returns false if there was no active membership
 */
export async function endMembership(deps: Deps, workspaceId: string, userId: string): Promise<boolean> {
  return transact(deps.store, workspaceId, deps.random, (tx) => endMembershipIn(tx, deps, userId))
}

/**
 * Does what {@link endMembership} does, in a transaction of the workspace.
 * @param by the owner or admin who does it; undefined: an operator
 */
export async function endMembershipIn(
  tx: Transaction,
  { clock, random, batch = limits.batch }: Deps,
  userId: string,
  by?: string,
): Promise<boolean> {
  const membership = await tx.get(keys.membership(userId))
  if (!isActive(membership)) return false
  tx.logChanges(SERVICE, clock)
  const now = timestamp(clock)
  // Those that have expired stay as they are: they belong to this membership, so they are refused whatever the clock says.
  const active = activeTokens(userId, clock)
  const { values: tokens } = await tx.range(active.index, active.options)
  for (const token of tokens) if (token !== undefined) endToken(tx, token, clock, by)
  await beginRemoval({ tx, clock, random, batch }, { kind: 'former_member', user_id: userId })
  tx.put(keys.membership(userId), { ...membership, ended_at: now, updated_at: now })
  return true
}

/**
 * Changes the role of an active member.
 * @throws {AdminError} `not_found`
 */
export async function setRole({ store, clock, random }: Deps, workspaceId: string, userId: string, role: Role): Promise<Membership> {
  return transact(store, workspaceId, random, async (tx) => {
    const membership = await tx.get(keys.membership(userId))
    if (!isActive(membership)) throw new AdminError('not_found', `${userId} is not a member of ${workspaceId}`)
    return setRoleIn(tx, membership, role, clock)
  })
}

/** Changes the role of an active member, whose membership this transaction has read. */
export function setRoleIn(tx: Transaction, membership: Membership, role: Role, clock: Clock): Membership {
  const changed: Membership = { ...membership, role, updated_at: timestamp(clock) }
  tx.put(keys.membership(membership.user_id), changed)
  return changed
}

/** Lists the active members of a workspace, in the order in which they joined. */
export function listMembers(deps: Deps, workspaceId: string): Promise<Membership[]> {
  return listAll(deps, workspaceId, indexes.members())
}
