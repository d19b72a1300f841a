import { isId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import { isActive, type Membership, type Role, type User } from '../model/workspace.ts'
import { unassignFromAllCards } from '../resources/cascades.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { endToken } from '../auth/tokens/issue.ts'
import { listAll } from '../store/list-all.ts'
import { AdminError, type Deps } from './deps.ts'

const ALL = 100_000

/** Makes a person a member of a workspace, or an active one again. Whoever is one keeps what he is. */
export async function addMember({ store, clock, random }: Deps, workspaceId: string, user: User, role: Role): Promise<Membership> {
  await linkWorkspace({ store, clock, random }, workspaceId, user.id)
  return transact(store, workspaceId, random, async (tx) => {
    const present = await tx.get(keys.membership(user.id))
    if (isActive(present)) return present
    const now = timestamp(clock)
    const membership: Membership = {
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
  })
}

/** Notes, before it is so, that a person is a member: so that the web app finds where. */
export async function linkWorkspace({ store, random }: Deps, workspaceId: string, userId: string): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    const key = keys.workspaceLink(userId, workspaceId)
    if ((await tx.get(key)) === undefined) tx.put(key, { user_id: userId, workspace_id: workspaceId })
  })
}

/**
 * Ends a membership, and with it, in one commit, that person's tokens in the workspace (for good: coming back
 * revives none), explicit board memberships and assignments.
 * @returns false where there was no active membership
 */
export async function endMembership({ store, clock, random }: Deps, workspaceId: string, userId: string): Promise<boolean> {
  return transact(store, workspaceId, random, async (tx) => {
    const membership = await tx.get(keys.membership(userId))
    if (!isActive(membership)) return false
    const now = timestamp(clock)
    const { values: tokens } = await tx.range(indexes.tokensOf(userId), { limit: ALL })
    for (const token of tokens) if (token !== undefined) endToken(tx, token, 'leave', clock)
    const { values: boards } = await tx.range(indexes.boardsOf(userId), { limit: ALL })
    const entries = await tx.read(boards.flatMap((board) => (board === undefined ? [] : [keys.boardMember(board.id, userId)])))
    for (const entry of entries) if (entry !== undefined) tx.remove(keys.boardMember(entry.board_id, userId))
    await unassignFromAllCards(tx, userId, clock)
    tx.put(keys.membership(userId), { ...membership, ended_at: now, updated_at: now })
    return true
  })
}

/**
 * Gives a member another role.
 * @throws {AdminError} `not_found` where there is no active membership
 */
export async function setRole({ store, clock, random }: Deps, workspaceId: string, userId: string, role: Role): Promise<Membership> {
  return transact(store, workspaceId, random, async (tx) => {
    const membership = isId('user', userId) ? await tx.get(keys.membership(userId)) : undefined
    if (!isActive(membership)) throw new AdminError('not_found', `${userId} is no member of ${workspaceId}`)
    const changed: Membership = { ...membership, role, updated_at: timestamp(clock) }
    tx.put(keys.membership(userId), changed)
    return changed
  })
}

/** The active members of a workspace, in the order in which they came. */
export function listMembers(tools: Deps, workspaceId: string): Promise<Membership[]> {
  return listAll(tools, workspaceId, indexes.members())
}
