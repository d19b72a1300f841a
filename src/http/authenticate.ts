import { ApiError } from '../model/errors.ts'
import type { Clock } from '../model/time.ts'
import type { TokenRecord } from '../model/token.ts'
import { isActive } from '../model/workspace.ts'
import type { Caller } from '../authz/context.ts'
import { keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { stateOf } from '../auth/tokens/lifecycle.ts'
import { parseToken, sameHash, type ParsedToken } from '../auth/tokens/secret.ts'

const CREDENTIAL = /^Bearer +([A-Za-z0-9_]+) *$/i

/**
 * Reads the token of an Authorization header (RFC 6750 §2.1), before storage is asked anything.
 * @throws {ApiError} `unauthorized` where it is missing or malformed, or where there are two
 */
export function readCredential(header: string | null, legacyPrefixes: readonly string[]): ParsedToken {
  const plaintext = header === null ? undefined : CREDENTIAL.exec(header)?.[1]
  const token = plaintext === undefined ? undefined : parseToken(plaintext, legacyPrefixes)
  if (token === undefined) throw new ApiError('unauthorized')
  return token
}

/**
 * Finds out on whose behalf a request is made. Both the token and its user's membership are read anew for
 * every request: what was revoked or ended counts from the very next one (spec §5, rule 4).
 * @param onReplaced told where a token is used that was rotated: somebody has it who should not, or was forgotten
 * @throws {ApiError} `unauthorized`, the same for each reason
 */
export async function authenticate(
  tx: Transaction,
  { hash, workspaceId }: ParsedToken,
  clock: Clock,
  onReplaced: (token: TokenRecord) => void,
): Promise<Caller> {
  const [token, membership] = await tx.read([keys.token(hash), keys.membership('{0.user_id}')])
  if (token === undefined || !sameHash(token.hash, hash)) throw new ApiError('unauthorized')
  const state = stateOf(token, clock())
  if (state === 'rotated') onReplaced(token)
  if (state !== 'active') throw new ApiError('unauthorized')
  if (!isActive(membership)) throw new ApiError('unauthorized')
  return { userId: token.user_id, workspaceId, membership, token }
}
