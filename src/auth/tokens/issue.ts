import { newId, type RandomSource } from '../../model/ids.ts'
import type { Clock } from '../../model/time.ts'
import type { TokenRecord } from '../../model/token.ts'
import { isActive } from '../../model/workspace.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { transition, newLifecycle, MAX_LIFETIME } from './lifecycle.ts'
import { mintToken } from './secret.ts'

/** What is chosen when a token is created. */
export interface TokenRequest {
  readonly userId: string
  readonly name: string
  readonly scopes: readonly string[]
  /** milliseconds; more than 90 days is taken as 90 days */
  readonly lifetime?: number
}

/** A token that was just made. The plaintext is nowhere afterwards. */
export interface IssuedToken {
  readonly plaintext: string
  readonly token: TokenRecord
}

/** A token cannot be issued: its person is no active member, or the one to be rotated is not active any more. */
export class IssueRefused extends Error {
  override readonly name = 'NotIssued'
  readonly because: 'no_member' | 'no_token' | 'not_active'

  constructor(because: IssueRefused['because']) {
    super(`the token was not issued: ${because}`)
    this.because = because
  }
}

/**
 * Creates a token in the transaction's workspace.
 * @throws {IssueRefused} `no_member`
 */
export async function issueToken(
  tx: Transaction,
  { userId, name, scopes, lifetime = MAX_LIFETIME }: TokenRequest,
  clock: Clock,
  random: RandomSource,
): Promise<IssuedToken> {
  const membership = await tx.get(keys.membership(userId))
  if (!isActive(membership)) throw new IssueRefused('no_member')
  const { plaintext, hash } = mintToken(tx.partition, random)
  const life = newLifecycle(clock(), lifetime)
  const token: TokenRecord = { id: newId('token', random), hash, user_id: userId, name, scopes: [...scopes], ...life }
  await tx.read([keys.token(hash), keys.tokenHash(token.id)])
  tx.put(keys.token(hash), token)
  tx.put(keys.tokenHash(token.id), { hash })
  return { plaintext, token }
}

/**
 * Puts a new token in the place of a person's active one: the same name and scopes, and a lifetime from now on.
 * In one commit: at no moment are there two of them, or none (spec §3, "rotation").
 * @throws {IssueRefused}
 */
export async function rotateToken(
  tx: Transaction,
  { userId, tokenId, lifetime }: { readonly userId: string; readonly tokenId: string; readonly lifetime: number },
  clock: Clock,
  random: RandomSource,
): Promise<IssuedToken & { readonly replaced: TokenRecord }> {
  const old = await findToken(tx, tokenId)
  if (old === undefined || old.user_id !== userId) throw new IssueRefused('no_token')
  const { plaintext, token } = await issueToken(tx, { userId, name: old.name, scopes: old.scopes, lifetime }, clock, random)
  const life = transition(old, { type: 'rotate', successor: token.id }, clock())
  if (life === undefined) throw new IssueRefused('not_active')
  const replaced = { ...old, ...life }
  tx.put(keys.token(old.hash), replaced)
  return { plaintext, token, replaced }
}

/** A token by its id. */
export async function findToken(tx: Transaction, tokenId: string): Promise<TokenRecord | undefined> {
  const pointer = await tx.get(keys.tokenHash(tokenId))
  return pointer && (await tx.get(keys.token(pointer.hash)))
}

/** Ends a token. It fails from the very next request on, whatever process that comes to (spec §5, rule 4). */
export function endToken(tx: Transaction, token: TokenRecord, type: 'revoke' | 'leave', clock: Clock): TokenRecord {
  const life = transition(token, { type }, clock())!
  if (life === token) return token
  const ended = { ...token, ...life }
  tx.put(keys.token(token.hash), ended)
  return ended
}
