import { newId, type RandomSource } from '../model/ids.ts'
import { timestamp, type Clock } from '../model/time.ts'
import type { TokenRecord } from '../model/token.ts'
import { keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { MAX_LIFETIME } from './lifecycle.ts'
import { mintToken } from './secret.ts'

/** What is chosen when a token is created. */
export interface TokenRequest {
  readonly userId: string
  readonly name: string
  readonly scopes: readonly string[]
  /** milliseconds; more than 90 days is taken as 90 days */
  readonly lifetime?: number
}

/**
 * Creates a token in the transaction's workspace. Its user must be an active member.
 * @returns the plaintext, which is nowhere afterwards, and the record
 */
export async function issueToken(
  tx: Transaction,
  { userId, name, scopes, lifetime = MAX_LIFETIME }: TokenRequest,
  clock: Clock,
  random: RandomSource,
): Promise<{ plaintext: string; token: TokenRecord }> {
  const membership = await tx.get(keys.membership(userId))
  if (membership === undefined || membership.ended_at !== null) throw new TypeError('a token is issued to an active member')
  const { plaintext, hash } = mintToken(tx.partition, random)
  const issued = clock()
  const token: TokenRecord = {
    id: newId('token', random),
    hash,
    user_id: userId,
    name,
    scopes: [...scopes],
    issued_at: timestamp(() => issued),
    expires_at: timestamp(() => issued + Math.min(lifetime, MAX_LIFETIME)),
    revoked_at: null,
    replaced_by: null,
  }
  await tx.read([keys.token(hash), keys.tokenHash(token.id)])
  tx.put(keys.token(hash), token)
  tx.put(keys.tokenHash(token.id), { hash })
  return { plaintext, token }
}
