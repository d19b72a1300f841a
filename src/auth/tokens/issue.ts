import { durations } from '../../model/durations.ts'
import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { DAY, timestamp, type Clock } from '../../model/time.ts'
import { effectiveScopes, familyOf, type TokenRecord } from '../../model/token.ts'
import { isActive, membershipOf } from '../../model/workspace.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { PAGE_SIZE } from '../../store/reads.ts'
import type { Deps } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'
import { mintToken } from './format.ts'
import { newLifecycle, revoked, rotated } from './lifecycle.ts'

/** What a user chooses when they create a token. */
export interface TokenRequest {
  readonly userId: string
  readonly name: string
  readonly scopes: readonly string[]
  /** milliseconds; default and maximum: 90 days, or what the rules of the workspace say */
  readonly lifetime?: number
}

/** A new token. Only its hash is stored: the plaintext cannot be recovered. */
export interface IssuedToken {
  readonly plaintext: string
  readonly token: TokenRecord
}

/**
 * A token cannot be issued: the user is not an active member or has too many active tokens, the rules of the workspace do not allow it, or
 * the token to rotate is absent or not active.
 */
export class IssueRefused extends Error {
  override readonly name = 'IssueRefused'
  readonly reason: 'no_member' | 'no_token' | 'not_active' | 'too_long' | 'admin' | 'too_many'

  constructor(reason: IssueRefused['reason']) {
    super(`the token was not issued: ${reason}`)
    this.reason = reason
  }
}

/**
 * Creates a token in the transaction's workspace.
 * @throws {IssueRefused} `no_member`; `too_long`, `admin`: the rules of the workspace; `too_many`
 */
export async function issueToken(tx: Transaction, request: TokenRequest, deps: Deps): Promise<IssuedToken> {
  if (!(await hasRoomForToken(tx, request.userId, deps.clock))) throw new IssueRefused('too_many')
  return issue(tx, request, deps)
}

/** Whether a user may have one more active token. The commit succeeds only if the user has got no other token meanwhile. */
export async function hasRoomForToken(tx: Transaction, userId: string, clock: Clock): Promise<boolean> {
  const { index, options } = activeTokens(userId, clock)
  // Stryker disable next-line BooleanLiteral: with the records, it only takes longer
  const { entries } = await tx.range(index, { ...options, limit: limits.tokensPerPerson, entriesOnly: true })
  return entries.length < limits.tokensPerPerson
}

/** The tokens of a user that can be active. There are about {@link limits.tokensPerPerson} of them at most, however many have ended. */
export function activeTokens(userId: string, clock: Clock) {
  return { index: indexes.activeTokensOf(userId), options: { after: `${timestamp(clock)} ~`, limit: PAGE_SIZE } } as const
}

/** @param family of a token that replaces another */
async function issue(tx: Transaction, request: TokenRequest, { clock, random }: Deps, family?: string): Promise<IssuedToken> {
  const { userId, name, scopes } = request
  const [membership, rules] = await tx.read([keys.membership(userId), keys.tokenRules()])
  if (!isActive(membership)) throw new IssueRefused('no_member')
  const longest = rules === undefined ? durations.token : rules.max_days * DAY
  const lifetime = request.lifetime ?? longest
  if (Math.min(lifetime, durations.token) > longest) throw new IssueRefused('too_long')
  if (rules?.admin === false && effectiveScopes(scopes).includes('kanban:admin')) throw new IssueRefused('admin')
  const { plaintext, hash } = mintToken(tx.partition, random)
  const lifecycle = newLifecycle(clock(), lifetime)
  const token: TokenRecord = {
    id: newId('token', random),
    hash,
    user_id: userId,
    name,
    scopes: [...scopes],
    ...membershipOf(membership),
    ...lifecycle,
    ...(family !== undefined && { family }),
  }
  await tx.read([keys.token(hash), keys.tokenHash(token.id)])
  tx.put(keys.token(hash), token)
  tx.put(keys.tokenHash(token.id), { hash })
  return { plaintext, token }
}

/**
 * Replaces a user's active token by a new one with the same name and scopes. The lifetime (in milliseconds) starts
 * now. One commit does both, so that at every moment exactly one of the two tokens is active (spec §3, "Token lifecycle"). What the old
 * token holds belongs to its family, whose last token is the new one from then on.
 * @throws {IssueRefused}
 */
export async function rotateToken(
  tx: Transaction,
  { userId, tokenId, lifetime }: { readonly userId: string; readonly tokenId: string; readonly lifetime: number },
  deps: Deps,
): Promise<IssuedToken & { readonly replaced: TokenRecord }> {
  const old = await findToken(tx, tokenId)
  if (old === undefined || old.user_id !== userId) throw new IssueRefused('no_token')
  const family = familyOf(old)
  const first = await tx.get(keys.token(family))
  const { plaintext, token } = await issue(tx, { userId, name: old.name, scopes: old.scopes, lifetime }, deps, family)
  const replaced = rotated(old, token.id, deps.clock())
  if (replaced === undefined) throw new IssueRefused('not_active')
  const last = token.id
  tx.put(keys.token(old.hash), family === old.hash ? { ...replaced, last } : replaced)
  if (family !== old.hash && first !== undefined) tx.put(keys.token(family), { ...first, last })
  return { plaintext, token, replaced }
}

/** Finds a token by its id. */
export async function findToken(tx: Transaction, tokenId: string): Promise<TokenRecord | undefined> {
  const pointer = await tx.get(keys.tokenHash(tokenId))
  return pointer && (await tx.get(keys.token(pointer.hash)))
}

/**
 * Ends a token. It is refused from the next request on, in every process (spec §5, rule 4).
 * @param by who revokes it, if not its user
 * @returns the token as it is now: the same object if it had already ended
 */
export function endToken(tx: Transaction, token: TokenRecord, clock: Clock, by?: string): TokenRecord {
  const changed = revoked(token, clock())
  if (changed === token) return token
  const ended = by === undefined ? changed : { ...changed, revoked_by: by }
  tx.put(keys.token(token.hash), ended)
  return ended
}
