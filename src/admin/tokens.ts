import { isId } from '../model/ids.ts'
import type { TokenRecord } from '../model/token.ts'
import { indexes } from '../store/indexes.ts'
import { transact } from '../store/transact.ts'
import { endToken, findToken } from '../auth/tokens/issue.ts'
import { stateOf, type TokenState } from '../auth/tokens/lifecycle.ts'
import { listAll } from '../store/list-all.ts'
import { listMembers } from './memberships.ts'
import { AdminError, type Deps } from './deps.ts'

/** What the operator may know of a token: everything but what could be used. */
export interface TokenEntry {
  readonly id: string
  readonly user_id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly state: TokenState
  readonly issued_at: string
  readonly expires_at: string
}

/** The tokens of a workspace's members, or of one person, oldest first. */
export async function listTokens(tools: Deps, workspaceId: string, userId?: string): Promise<TokenEntry[]> {
  const people = userId === undefined ? (await listMembers(tools, workspaceId)).map((member) => member.user_id) : [userId]
  const found = await Promise.all(people.map((person) => listAll(tools, workspaceId, indexes.tokensOf(person))))
  return found.flat().map((token) => toEntry(token, tools.clock()))
}

/**
 * Revokes a token: it fails from the very next request on, whatever process that comes to.
 * @throws {AdminError} `not_found`
 */
export async function revokeToken({ store, clock, random }: Deps, workspaceId: string, tokenId: string): Promise<TokenEntry> {
  return transact(store, workspaceId, random, async (tx) => {
    const token = isId('token', tokenId) ? await findToken(tx, tokenId) : undefined
    if (token === undefined) throw new AdminError('not_found', `there is no token ${tokenId} in ${workspaceId}`)
    return toEntry(endToken(tx, token, 'revoke', clock), clock())
  })
}

function toEntry(token: TokenRecord, now: number): TokenEntry {
  const { id, user_id, name, scopes, issued_at, expires_at } = token
  return { id, user_id, name, scopes, state: stateOf(token, now), issued_at, expires_at }
}
