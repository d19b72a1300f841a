import { endToken, findToken } from '../auth/tokens/issue.ts'
import { stateOf, type TokenState } from '../auth/tokens/lifecycle.ts'
import { isId } from '../model/ids.ts'
import type { TokenRecord } from '../model/token.ts'
import type { Deps } from '../store/deps.ts'
import { indexes } from '../store/indexes.ts'
import { listAll, transact } from '../store/transact.ts'
import { AdminError } from './deps.ts'
import { listMembers } from './memberships.ts'

/** A token as the operator sees it: without its hash. Times are RFC 3339. */
export interface TokenEntry {
  readonly id: string
  readonly user_id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly state: TokenState
  readonly issued_at: string
  readonly expires_at: string
}

/** Lists the tokens of one user, or of all active members of a workspace; the tokens of each user oldest first. */
export async function listTokens(deps: Deps, workspaceId: string, userId?: string): Promise<TokenEntry[]> {
  const userIds = userId === undefined ? (await listMembers(deps, workspaceId)).map((member) => member.user_id) : [userId]
  const tokens = await Promise.all(userIds.map((id) => listAll(deps, workspaceId, indexes.tokensOf(id))))
  return tokens.flat().map((token) => toEntry(token, deps.clock()))
}

/**
 * Revokes a token. Its next request fails, on every process.
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
