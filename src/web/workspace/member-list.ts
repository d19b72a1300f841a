import { durations, isCurrent } from '../../model/durations.ts'
import { isId } from '../../model/ids.ts'
import { isActive, type Membership } from '../../model/workspace.ts'
import { indexes } from '../../store/indexes.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { listAll, transact } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'
import type { WebServices } from '../page-context.ts'

/** How far a member has come: signed up, or invited and until when their link works (RFC 3339; null: none works). */
export type MemberState = { readonly signedUp: true } | { readonly signedUp: false; readonly invitedUntil: string | null }

/** The states of members, in their order. */
export async function statesOf({ store, random, clock }: WebServices, members: readonly Membership[]): Promise<MemberState[]> {
  return transact(store, GLOBAL, random, async (tx) => {
    const accounts = await tx.read(members.map(({ user_id }) => keys.account(user_id)))
    const links = await tx.read(members.map(({ user_id }) => keys.signUp(user_id)))
    return members.map((_member, i): MemberState => {
      if (accounts[i] !== undefined) return { signedUp: true }
      const until = links[i]?.expires_at
      return { signedUp: false, invitedUntil: until !== undefined && isCurrent(until, durations.signUpLink, clock()) ? until : null }
    })
  })
}

/** The active member that the path of a page names; undefined: there is none. The decision and the change rely on this record. */
export async function findMember(tx: Transaction, userId: string): Promise<Membership | undefined> {
  if (!isId('user', userId)) return undefined
  const membership = await tx.get(keys.membership(userId))
  return isActive(membership) ? membership : undefined
}

/**
 * Whether a member is the only owner. The transaction relies on another owner who is found, so two owners who step down at the same time
 * cannot both succeed.
 */
export async function isLastOwner(tx: Transaction, { user_id, role }: Membership): Promise<boolean> {
  if (role !== 'owner') return false
  const { values } = await tx.all(indexes.members(), { weak: true })
  const others = values.filter((one) => one !== undefined && one.role === 'owner' && one.user_id !== user_id)
  if (others.length === 0) return true
  await tx.confirm([keys.membership(others[0]!.user_id)])
  return false
}

/** Whether a person is an active member of another workspace, too. */
export async function isElsewhere(web: WebServices, userId: string, workspaceId: string): Promise<boolean> {
  const links = await listAll(web, GLOBAL, indexes.workspacesOf(userId))
  const others = links.filter(({ workspace_id }) => workspace_id !== workspaceId)
  const memberships = await Promise.all(
    others.map(({ workspace_id }) => transact(web.store, workspace_id, web.random, (tx) => tx.get(keys.membership(userId)))),
  )
  return memberships.some(isActive)
}
