import { activeTokens, findToken } from '../auth/tokens/issue.ts'
import { stateOf } from '../auth/tokens/lifecycle.ts'
import { isId } from '../model/ids.ts'
import type { TokenRecord, TokenUse } from '../model/token.ts'
import { isActive } from '../model/workspace.ts'
import { type Deps, listAll, transact } from '../store/transact.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import type { Clock } from '../model/time.ts'
import type { SignedInContext } from './page-context.ts'

/** A workspace that a person is an active member of. */
export interface MemberWorkspace {
  readonly id: string
  readonly name: string
  readonly role: string
}

/** A token of a person, with its workspace. */
export interface MemberToken {
  readonly workspace: MemberWorkspace
  readonly token: TokenRecord
}

/** A token with its use. */
export type UsedToken = TokenRecord & { readonly use: TokenUse | null }

/** A token in the list of its person. */
export interface ListedToken extends UsedToken {
  /** the name of the owner or admin who revoked it */
  readonly revoker: string | undefined
}

/** The list of a person's tokens in a workspace has the newest 200, and all older ones that are active. */
const LISTED_TOKENS = 200

/** The workspaces that a person is an active member of, by name. */
export async function workspacesOf(deps: Deps, userId: string): Promise<MemberWorkspace[]> {
  const links = await listAll(deps, GLOBAL, indexes.workspacesOf(userId))
  const workspaces = await Promise.all(links.map(({ workspace_id }) => workspaceOf(deps, userId, workspace_id)))
  return workspaces.filter((workspace) => workspace !== undefined).toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
}

/** A workspace; undefined if the person is not an active member of it. */
export async function workspaceOf({ store, random }: Deps, userId: string, id: string): Promise<MemberWorkspace | undefined> {
  if (!isId('workspace', id)) return undefined
  return transact(store, id, random, async (tx) => {
    const [workspace, membership] = await tx.read([keys.workspace(), keys.membership(userId)])
    if (workspace === undefined || !isActive(membership)) return undefined
    return { id, name: workspace.name, role: membership.role }
  })
}

/** A person's tokens in a workspace, newest first. Every active one is listed, so that its owner can see and end it. */
export async function tokensOf({ store, clock, random }: Deps, userId: string, workspaceId: string): Promise<ListedToken[]> {
  return transact(store, workspaceId, random, async (tx) => {
    const listed = await newestTokens(tx, userId, LISTED_TOKENS, clock)
    const revokers = await tx.read(listed.map(({ revoked_by }) => keys.membership(revoked_by ?? userId)))
    return listed.map((token, i) => ({
      ...token,
      revoker: token.revoked_by === undefined ? undefined : (revokers[i]?.display_name ?? token.revoked_by),
    }))
  })
}

/**
 * The newest tokens of a person, and all older ones that are active.
 * @param most how many of the newest
 */
export async function newestTokens(tx: Transaction, userId: string, most: number, clock: Clock): Promise<UsedToken[]> {
  const active = activeTokens(userId, clock)
  const newest = { index: indexes.tokensOf(userId), options: { limit: most, reverse: true, weak: true } }
  const { ranges } = await tx.load({ ranges: [newest, { index: active.index, options: { ...active.options, weak: true } }] })
  const [first, others] = ranges.map(({ values }) => values.filter((token) => token !== undefined))
  const isListed = new Set(first!.map(({ hash }) => hash))
  const older = others!.filter((token) => !isListed.has(token.hash) && stateOf(token, clock()) === 'active')
  const listed = [...first!, ...older.toSorted((a, b) => (a.issued_at > b.issued_at ? -1 : 1))]
  const uses = await tx.read(listed.map(({ hash }) => keys.tokenUse(hash)))
  return listed.map((token, i) => ({ ...token, use: uses[i] ?? null }))
}

/** The token in the path of a page, with its workspace; undefined if it is not the person's or they are not an active member. */
export async function findMemberToken({ web, session, params }: SignedInContext): Promise<MemberToken | undefined> {
  const tokenId = params['token']!
  const workspace = await workspaceOf(web, session.user_id, params['workspace']!)
  if (workspace === undefined || !isId('token', tokenId)) return undefined
  const token = await transact(web.store, workspace.id, web.random, (tx) => findToken(tx, tokenId))
  return token?.user_id === session.user_id ? { workspace, token } : undefined
}
