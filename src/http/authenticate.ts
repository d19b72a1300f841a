import { equalInConstantTime } from '../auth/secrets.ts'
import { parseToken, type ParsedToken } from '../auth/tokens/format.ts'
import { stateOf } from '../auth/tokens/lifecycle.ts'
import type { Caller } from '../authz/context.ts'
import { ApiError } from '../model/errors.ts'
import type { Clock } from '../model/time.ts'
import type { TokenRecord } from '../model/token.ts'
import { isActive, type Membership } from '../model/workspace.ts'
import { keys } from '../store/keys.ts'

const CREDENTIAL = /^Bearer +([A-Za-z0-9_]+) *$/i

/**
 * Parses the token of an Authorization header (RFC 6750 §2.1). This reads no storage.
 * @throws {ApiError} `unauthorized` if the token is missing, malformed, or not the only one
 */
export function readCredential(header: string | null, legacyPrefixes: readonly string[]): ParsedToken {
  const plaintext = header === null ? undefined : CREDENTIAL.exec(header)?.[1]
  const token = plaintext === undefined ? undefined : parseToken(plaintext, legacyPrefixes)
  if (token === undefined) throw new ApiError('unauthorized')
  return token
}

/** What {@link authenticate} needs: the token, and the membership of its user. */
export function credentialKeys(hash: string) {
  return [keys.token(hash), keys.membership('{0.user_id}')] as const
}

/** The records of {@link credentialKeys}. */
export type CredentialRecords = readonly [token: TokenRecord | undefined, membership: Membership | undefined]

/**
 * Identifies the caller. The token and the membership of its user are read for every request, so a revocation or the
 * end of a membership holds for the very next one (spec §5, rule 4).
 * @param onReplaced called if the token was replaced by rotation: its user forgot a copy, or it was stolen
 * @throws {ApiError} `unauthorized`, the same for each reason
 */
export function authenticate(
  [token, membership]: CredentialRecords,
  { hash, workspaceId }: ParsedToken,
  clock: Clock,
  onReplaced: (token: TokenRecord) => void,
): Caller {
  if (token === undefined || !equalInConstantTime(token.hash, hash)) throw new ApiError('unauthorized')
  const state = stateOf(token, clock())
  if (state === 'rotated') onReplaced(token)
  if (state !== 'active') throw new ApiError('unauthorized')
  if (!isActive(membership)) throw new ApiError('unauthorized')
  return { userId: token.user_id, workspaceId, membership, token }
}
