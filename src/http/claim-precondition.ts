import type { AuthorizationContext } from '../authz/context.ts'
import type { Claim } from '../model/claim.ts'
import { ApiError } from '../model/errors.ts'
import { isHeldBy, readClaim } from '../resources/claims/present.ts'
import type { OperationRequest } from '../resources/operation.ts'
import type { DecisionRecord } from './decision-record.ts'

/** A write that only the holder of a card may make (api: Contract 3, number 5). */
const HEADER = 'if-claim'

/** The epoch of the header If-Claim; undefined without one. @throws {ApiError} `bad_request` */
export function readEpoch(headers: Headers): number | undefined {
  const text = headers.get(HEADER)
  if (text === null) return undefined
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text)
  throw new ApiError('bad_request', { message: 'If-Claim must be the epoch of a claim: a whole number, without quotes.' })
}

/**
 * Requires that the calling token holds the card of a write, with this epoch. The transaction relies on the claim: a claim that is lost
 * before the commit makes the request start again.
 * @throws {ApiError} `precondition_failed`, with the current claim
 */
export async function requireClaim(
  request: OperationRequest,
  { card }: AuthorizationContext,
  epoch: number,
  step: DecisionRecord,
): Promise<void> {
  if (card === undefined)
    throw new ApiError('precondition_failed', { message: 'This operation changes no card, so If-Claim cannot hold: omit it.' })
  const { live } = await readClaim(request, card.id)
  if (live === undefined || live.epoch !== epoch || !isHeldBy(live, request.caller)) throw lost(step, live)
  step.claimedUntil = Math.min(Date.parse(live.expires_at), step.claimedUntil ?? Infinity)
}

/** Requires, right before the commit, that no claim that was stated has run out: an upload may have taken long. @throws {ApiError} `precondition_failed` */
export function requireUnexpired({ clock }: Pick<OperationRequest, 'clock'>, step: DecisionRecord): void {
  if (step.claimedUntil !== undefined && clock() >= step.claimedUntil) throw lost(step, undefined)
}

function lost(step: DecisionRecord, current: Claim | undefined): ApiError {
  step.claimed = ['lost']
  return new ApiError('precondition_failed', {
    message: 'The calling token does not hold the card with this epoch. Change nothing more: another may be working on it.',
    members: { current_claim: current ?? null },
  })
}
