import { ApiError } from './errors.ts'
import { HeldClaim, type ClaimDeps } from './held-claim.ts'
import type { Result } from './methods.ts'
import { operations, type ClaimedCard, type Methods } from './operations.ts'
import { LONGEST_TIME } from './options.ts'
import { patiently, type Caller } from './transport.ts'
import type { Retry } from './changes.ts'

/** What a handler works on a card with. */
export interface WorkContext {
  /**
   * The operations, bound to the claim: each write to the card, its subtasks, comments and attachments has `If-Claim`, and fails
   * once the claim is lost. Operations in a batch have none by themselves: give them `if_claim`.
   */
  readonly lk: Methods
  /** is aborted when the claim is lost (its reason is {@link ClaimLost}), and with the signal of the worker */
  readonly signal: AbortSignal
}

/**
 * Works on a card. A card whose handler returns is completed. It is released, for the next worker, if the handler returns `'release'`
 * or throws; what it throws also ends `work`, unless the claim is lost. If it completes, archives, deletes or releases the card by itself, in its last
 * write, nothing more is done.
 */
export type WorkHandler = (card: ClaimedCard, context: WorkContext) => Promise<void | 'release'> | void | 'release'

/** The options of a worker. */
export interface WorkOptions {
  /** only cards of this column */
  readonly column_id?: string
  /** only cards with this label */
  readonly label_id?: string
  /** the time after which the card of a worker that has crashed is free again, in seconds; default 300 */
  readonly ttl?: number
  /** the number of seconds for which a request waits for a card, up to 30; default 30 */
  readonly wait?: number
  /** ends the worker: the signal of its handler is aborted, and what the handler does then decides about its card */
  readonly signal?: AbortSignal
  /** is called before each wait of an outage. An error that it throws ends the worker, or loses the claim that is being renewed. */
  readonly onRetry?: (retry: Retry) => void
}

/** Takes ready cards of a board, one after the other, and lets a handler work on them. @throws what ends it */
export async function work(
  deps: ClaimDeps,
  boardId: string,
  handler: WorkHandler,
  { signal, ttl: _ttl, onRetry: _onRetry, ...wanted }: WorkOptions & { readonly wait: number },
  bind: (caller: Caller) => Methods,
): Promise<never> {
  for (;;) {
    signal?.throwIfAborted()
    const sentAt = deps.monotonic()
    const card = await takeNext(deps, { ...wanted, board_id: boardId }, signal)
    if (card === null) continue
    const claim = new HeldClaim(deps, card.claim, sentAt)
    try {
      await handle(claim, card, handler, signal, bind(claim))
    } finally {
      claim.stop()
    }
  }
}

async function takeNext(
  { transport, ttl, timeout, retries, onRetry }: ClaimDeps,
  input: Readonly<Record<string, unknown>> & { readonly wait: number },
  signal: AbortSignal | undefined,
): Promise<ClaimedCard | null> {
  const options = { timeout: Math.min(LONGEST_TIME, timeout + input.wait * 1000), ...(signal && { signal }) }
  // Its idempotency key makes sure that a card is not lost whose response was lost.
  const answer = await transport.call(operations['claims.take_next'], { ...input, ttl }, options, patiently(retries, onRetry))
  return (answer as Result<ClaimedCard | null>).data
}

/** @throws what the handler has thrown, unless the claim is lost */
async function handle(
  claim: HeldClaim,
  card: ClaimedCard,
  handler: WorkHandler,
  signal: AbortSignal | undefined,
  lk: Methods,
): Promise<void> {
  try {
    await claim.keep()
    const ends = signal === undefined ? claim.lost : AbortSignal.any([signal, claim.lost])
    const outcome = ends.aborted ? 'release' : await handler(card, { lk, signal: ends })
    if (!claim.isEnded) await finish(claim, outcome)
  } catch (error) {
    if (claim.lost.aborted) return
    // The error says more than that the release has failed as well.
    if (!claim.isEnded) await claim.insist(operations['claims.release']).catch(() => undefined)
    signal?.throwIfAborted()
    throw error
  }
}

async function finish(claim: HeldClaim, outcome: unknown): Promise<void> {
  try {
    if (outcome === 'release') await claim.insist(operations['claims.release'])
    else await claim.insist(operations['cards.complete'], { completed: true })
  } catch (error) {
    // The card was deleted meanwhile. If the board is gone, the next request says so.
    if (!(error instanceof ApiError && error.is('not_found'))) throw error
  }
}
