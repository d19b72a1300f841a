import { ApiError } from '../model/errors.ts'
import type { Operation, OperationRequest } from '../resources/operation.ts'
import { shownRevision } from '../resources/pending-removals.ts'
import { keys, type Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { plainTag } from './compression.ts'
import type { AuthorizationContext } from '../authz/context.ts'
import type { Claim } from '../model/claim.ts'
import { isHeldBy, readClaim } from '../resources/claims/present.ts'
import type { AttemptRecord } from './decision-record.ts'

/** A strong ETag: the revision of a record (RFC 9110 §8.8.3). */
export function entityTag(revision: string): string {
  return `"${revision}"`
}

/** A weak ETag (RFC 9110 §8.8.1). */
export function weakTag(version: string): string {
  return `W/${entityTag(version)}`
}

/**
 * Checks the If-Match of a request (RFC 9110 §13.1.1). The commit of a write expects the same revision, so exactly one of
 * two writers with the same ETag succeeds. A weak tag is read as the strong one: a proxy that compresses a response weakens its tag
 * (nginx does), and all representations of a revision have the same state. So the comparison is the weak one of §8.8.3.2.
 * @param revision of the path's target; undefined if that has no ETag, so that nothing matches
 * @throws {ApiError} `precondition_failed`, with the current ETag
 */
export function requireMatch(headers: Headers, revision: string | undefined): void {
  const condition = headers.get('if-match')
  if (condition === null || condition === '*') return
  if (revision === undefined)
    throw new ApiError('precondition_failed', {
      message: 'The target of this request has no strong ETag, so no If-Match can match: omit it.',
    })
  const tag = entityTag(revision)
  if (listOf(condition).some((stated) => strongTag(stated) === tag)) return
  // Otherwise a client would read again and again what has not changed.
  const mistake = condition.includes('"') ? {} : { message: 'If-Match has no ETag: the double quotes belong to it, as in the header ETag.' }
  throw new ApiError('precondition_failed', { ...mistake, headers: { etag: tag }, members: { current_etag: tag } })
}

/**
 * Checks the If-None-Match of a write (RFC 9110 §13.1.2): it is for resources that should not exist, or should have changed.
 * @throws {ApiError} `precondition_failed`, with the current ETag if there is one
 */
export function requireNoMatch(headers: Headers, revision: string | undefined): void {
  if (headers.get('if-none-match') !== '*' && !isCurrent(headers, revision)) return
  const current = revision === undefined ? {} : { headers: { etag: entityTag(revision) }, members: { current_etag: entityTag(revision) } }
  throw new ApiError('precondition_failed', { message: 'The current state of the resource matches If-None-Match.', ...current })
}

/**
 * Checks the preconditions of a write. Its commit then relies on them.
 * @throws {ApiError} `precondition_failed`
 */
export function requirePreconditions(tx: Transaction, headers: Headers, entity: Key<unknown> | undefined): void {
  if (!headers.has('if-match') && !headers.has('if-none-match')) return
  const revision = entity && shownRevision(tx, entity)
  requireMatch(headers, revision)
  requireNoMatch(headers, revision)
  if (entity !== undefined) tx.relyOnWhole(entity)
}

/** Whether the client's copy is current, by If-None-Match (RFC 9110 §13.1.2). */
export function isCurrent(headers: Headers, revision: string | undefined): boolean {
  return currentTag(headers, revision) !== undefined
}

/**
 * The ETag of the client's copy, if that is current, as the client has it: with the suffix of its coding, because the response 304
 * is about the copy with exactly this ETag (RFC 9111 §4.3.4).
 */
export function currentTag(headers: Headers, revision: string | undefined): string | undefined {
  if (revision === undefined) return undefined
  const condition = headers.get('if-none-match')
  if (condition === null) return undefined
  const tag = entityTag(revision)
  if (condition === '*') return tag
  return listOf(condition).find((stated) => strongTag(stated) === tag)
}

/** The headers of a response that has an ETag. A client that revalidates may keep its copy. */
export function entityHeaders(headers: Headers, revision: string | undefined): Record<string, string> {
  if (revision === undefined) return {}
  return Object.assign({ etag: currentTag(headers, revision) ?? entityTag(revision) }, revalidated(headers))
}

/** The headers of a response to a client that has a copy. */
export function revalidated(headers: Headers): Record<string, string> {
  return headers.has('if-none-match') ? { 'cache-control': 'private, no-cache' } : {}
}

/** The tag of a revision. Which coding the representation had does not matter, and whether a proxy has weakened its tag. */
function strongTag(stated: string): string {
  return plainTag(stated.startsWith('W/') ? stated.slice(2) : stated)
}

/** A condition as it is compared: two that name the same tags are equal, whatever a proxy has made of them. */
export function comparedTags(condition: string): string {
  return listOf(condition).map(strongTag).join(', ')
}

function listOf(header: string): string[] {
  return header.split(',').map((tag) => tag.trim())
}

/**
 * The items of a page, with their ETags if the query asks for them: `include=etag`. They equal the ETags of reading each item, in the state
 * that the page shows.
 */
export function withItemTags({ id }: Operation, { tx, query }: Pick<OperationRequest, 'tx' | 'query'>, data: unknown): unknown {
  const { include } = query as { readonly include?: ReadonlySet<string> }
  if (include?.has('etag') !== true) return data
  const keyOf = keys[id.replace(/s\..*/, '') as 'board']
  const items = data as readonly { readonly id: string }[]
  return items.map((item) => ({ ...item, etag: entityTag(shownRevision(tx, keyOf(item.id))!) }))
}

/** Makes a write conditional on holding the card (src/http/claims.md, "Claims: one worker for each card"). */
const HEADER = 'if-claim'

/**
 * The epoch of the header If-Claim; undefined without one.
 * @throws {ApiError} `bad_request`
 */
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
  record: AttemptRecord,
): Promise<void> {
  if (card === undefined)
    throw new ApiError('precondition_failed', { message: 'This operation changes no card, so If-Claim cannot hold: omit it.' })
  const { live } = await readClaim(request, card.id)
  if (live === undefined || live.epoch !== epoch || !isHeldBy(live, request.caller)) throw lost(record, live)
  record.claimedUntil = Math.min(Date.parse(live.expires_at), record.claimedUntil ?? Infinity)
}

/** 428: a request that only the holder of a claim may make does not state the claim (RFC 6585 §3). */
export function requireStatedClaim({ requiresClaim }: Pick<Operation, 'requiresClaim'>, epoch: number | undefined): void {
  if (requiresClaim && epoch === undefined) throw new ApiError('precondition_required')
}

/**
 * Requires, right before the commit, that no claim that was stated has run out: an upload may have taken long.
 * @throws {ApiError} `precondition_failed`
 */
export function requireUnexpired({ clock }: Pick<OperationRequest, 'clock'>, record: AttemptRecord): void {
  if (record.claimedUntil !== undefined && clock() >= record.claimedUntil) throw lost(record, undefined)
}

function lost(record: AttemptRecord, current: Claim | undefined): ApiError {
  record.claimed = ['lost']
  return new ApiError('precondition_failed', {
    message: 'The calling token does not hold the card with this epoch. Change nothing more: another may be working on it.',
    members: { current_claim: current ?? null },
  })
}
