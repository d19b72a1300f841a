import { endToken } from '../auth/tokens/issue.ts'
import { isId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import { isActive, type Membership, type Role, type User } from '../model/workspace.ts'
import { unassignFromAllCards } from '../resources/cascades.ts'
import type { Deps } from '../store/deps.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { listAll, transact } from '../store/transact.ts'
import { AdminError } from './deps.ts'

/** Makes a user an active member of a workspace. An active membership stays as it is, whatever the role. */
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

/**
 * Writes the pointer from a user to a workspace, by which the web app finds it. The pointer is in another partition
 * than the membership and is written first, so every membership has one.
 */
export async function linkWorkspace({ store, random }: Deps, workspaceId: string, userId: string): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    const key = keys.workspaceLink(userId, workspaceId)
    if ((await tx.get(key)) === undefined) tx.put(key, { user_id: userId, workspace_id: workspaceId })
  })
}

/**
 * Ends a membership. The same commit revokes the user's tokens in the workspace, for good (a later membership does
 * not restore them), and removes their board memberships and assignments.
 * @returns false if there was no active membership
 */
export async function endMembership({ store, clock, random }: Deps, workspaceId: string, userId: string): Promise<boolean> {
  return transact(store, workspaceId, random, async (tx) => {
    const membership = await tx.get(keys.membership(userId))
    if (!isActive(membership)) return false
    const now = timestamp(clock)
    const { values: tokens } = await tx.all(indexes.tokensOf(userId))
    for (const token of tokens) if (token !== undefined) endToken(tx, token, 'leave', clock)
    const { values: boards } = await tx.all(indexes.boardsOf(userId))
    const boardMembers = await tx.read(boards.flatMap((board) => (board === undefined ? [] : [keys.boardMember(board.id, userId)])))
    for (const boardMember of boardMembers) if (boardMember !== undefined) tx.remove(keys.boardMember(boardMember.board_id, userId))
    await unassignFromAllCards({ tx, clock }, userId)
    tx.put(keys.membership(userId), { ...membership, ended_at: now, updated_at: now })
    return true
  })
}

/**
 * Changes the role of an active member.
 * @throws {AdminError} `not_found`
 */
export async function setRole({ store, clock, random }: Deps, workspaceId: string, userId: string, role: Role): Promise<Membership> {
  return transact(store, workspaceId, random, async (tx) => {
    const membership = isId('user', userId) ? await tx.get(keys.membership(userId)) : undefined
    if (!isActive(membership)) throw new AdminError('not_found', `${userId} is not a member of ${workspaceId}`)
    const changed: Membership = { ...membership, role, updated_at: timestamp(clock) }
    tx.put(keys.membership(userId), changed)
    return changed
  })
}

/** Lists the active members of a workspace, in the order in which they joined. */
export function listMembers(deps: Deps, workspaceId: string): Promise<Membership[]> {
  return listAll(deps, workspaceId, indexes.members())
}
