import { Failure } from '../model/failure.ts'
import type { Clock } from '../model/time.ts'
import type { Caller } from '../operations/situation.ts'
import { keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { stateOf } from '../tokens/lifecycle.ts'
import { parseToken, sameHash, type ParsedToken } from '../tokens/secret.ts'

const CREDENTIAL = /^Bearer +([A-Za-z0-9_]+) *$/i

/**
 * Reads the token of an Authorization header (RFC 6750 §2.1), before storage is asked anything.
 * @throws {Failure} `unauthorized` where it is missing or malformed, or where there are two
 */
export function readCredential(header: string | null, legacyPrefixes: readonly string[]): ParsedToken {
  const plaintext = header === null ? undefined : CREDENTIAL.exec(header)?.[1]
  const token = plaintext === undefined ? undefined : parseToken(plaintext, legacyPrefixes)
  if (token === undefined) throw new Failure('unauthorized')
  return token
}

/**
 * Finds out on whose behalf a request is made. Both the token and its user's membership are read anew for
 * every request: what was revoked or ended counts from the very next one (spec §5, rule 4).
 * @throws {Failure} `unauthorized`, the same for each reason
 */
export async function authenticate(tx: Transaction, { hash, workspaceId }: ParsedToken, clock: Clock): Promise<Caller> {
  const [token, membership] = await tx.read([keys.token(hash), keys.membership('{0.user_id}')])
  if (token === undefined || !sameHash(token.hash, hash)) throw new Failure('unauthorized')
  if (stateOf(token, clock()) !== 'active') throw new Failure('unauthorized')
  if (membership === undefined || membership.ended_at !== null) throw new Failure('unauthorized')
  return { userId: token.user_id, workspaceId, membership, token }
}
