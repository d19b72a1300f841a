import type { AccountDeps } from '../auth/accounts/deps.ts'
import { isId } from '../model/ids.ts'
import type { TokenRecord } from '../model/token.ts'
import { isActive } from '../model/workspace.ts'
import { listAll } from '../store/list-all.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { findToken } from '../auth/tokens/issue.ts'
import { MAX_LIFETIME, stateOf } from '../auth/tokens/lifecycle.ts'

/** A workspace that a person is an active member of. */
export interface OwnWorkspace {
  readonly id: string
  readonly name: string
  readonly role: string
}

/** A token, with when it was last used. */
export interface OwnToken extends TokenRecord {
  readonly last_used_at: string | null
}

/** So many of a person's tokens in a workspace are listed at least, newest first; those that work, all of them. */
const MOST_TOKENS = 200

/** Where a person is an active member, by name. */
export async function workspacesOf(keeping: AccountDeps, userId: string): Promise<OwnWorkspace[]> {
  const belongings = await listAll(keeping, GLOBAL, indexes.workspacesOf(userId))
  const found = await Promise.all(belongings.map(({ workspace_id }) => workspaceOf(keeping, userId, workspace_id)))
  return found.filter((workspace) => workspace !== undefined).toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
}

/** A workspace, as long as the person is an active member of it. */
export async function workspaceOf({ store, random }: AccountDeps, userId: string, id: string): Promise<OwnWorkspace | undefined> {
  if (!isId('workspace', id)) return undefined
  return transact(store, id, random, async (tx) => {
    const [workspace, membership] = await tx.read([keys.workspace(), keys.membership(userId)])
    if (workspace === undefined || !isActive(membership)) return undefined
    return { id, name: workspace.name, role: membership.role }
  })
}

/** A person's tokens in a workspace, newest first. None that works is left out: it could not be seen and ended. */
export async function tokensOf({ store, clock, random }: AccountDeps, userId: string, workspaceId: string): Promise<OwnToken[]> {
  return transact(store, workspaceId, random, async (tx) => {
    const found: TokenRecord[] = []
    for (let before: string | undefined; ;) {
      const { entries, values } = await tx.range(indexes.tokensOf(userId), { limit: MOST_TOKENS, reverse: true, weak: true, before })
      found.push(...values.filter((token) => token !== undefined))
      before = entries.at(-1)
      // What was issued longer ago than a token can live has ended.
      const oldest = found.at(-1)
      if (entries.length < MOST_TOKENS || oldest === undefined || Date.parse(oldest.issued_at) + MAX_LIFETIME <= clock()) break
    }
    const tokens = found.filter((token, i) => i < MOST_TOKENS || stateOf(token, clock()) === 'active')
    const uses = await tx.read(tokens.map(({ hash }) => keys.tokenUse(hash)))
    return tokens.map((token, i) => ({ ...token, last_used_at: uses[i]?.at ?? null }))
  })
}

/** One of a person's tokens in a workspace that he is an active member of. */
export async function tokenOf(
  keeping: AccountDeps,
  userId: string,
  workspaceId: string,
  tokenId: string,
): Promise<{ workspace: OwnWorkspace; token: TokenRecord } | undefined> {
  const workspace = await workspaceOf(keeping, userId, workspaceId)
  if (workspace === undefined || !isId('token', tokenId)) return undefined
  const token = await transact(keeping.store, workspaceId, keeping.random, (tx) => findToken(tx, tokenId))
  return token?.user_id === userId ? { workspace, token } : undefined
}
