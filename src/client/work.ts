import { ApiError } from './errors.ts'
import { HeldClaim, type ClaimDeps } from './held-claim.ts'
import type { Input } from './input.ts'
import type { OperationRow, Result } from './methods.ts'
import { operations, type AnsweredQuestion, type ClaimedCard, type Methods, type Work } from './operations.ts'
import { LONGEST_TIME } from './options.ts'
import { Failure, Question, textOf } from './outcomes.ts'
import { patiently, type Caller } from './transport.ts'
import type { Retry } from './changes.ts'

/** A card that a handler works on. */
export type TakenCard = ClaimedCard & {
  /** what earlier attempts have come to: how many have failed in a row, and why the last one has */
  readonly work: Work
  /** the last question that was asked about it, with the answer; null if there is none */
  readonly answered: AnsweredQuestion | null
}

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
 * Works on a card. A card whose handler returns is completed, or released, for the next worker, if it returns `'release'`. If it throws,
 * the card fails with the message of the error, and is tried again later; a {@link Question} asks, and a {@link Failure} says when. If it
 * ends the claim by itself, in its last write, nothing more is done.
 */
export type WorkHandler = (card: TakenCard, context: WorkContext) => Promise<void | 'release'> | void | 'release'

/** The options of a worker. */
export interface WorkOptions {
  /** only cards of this column */
  readonly column_id?: string
  /** only cards with this label */
  readonly label_id?: string
  /** how many seconds until the card of a crashed worker is free again; default 300 */
  readonly ttl?: number
  /** how many seconds a request waits for a card, up to 30; default 30 */
  readonly wait?: number
  /** ends the worker: the signal of its handler is aborted, and what the handler does then decides about its card. An error releases it. */
  readonly signal?: AbortSignal
  /** is called before each wait of an outage. An error that it throws ends the worker, or loses the claim that is being renewed. */
  readonly onRetry?: (retry: Retry) => void
  /**
   * is called with the error that a handler threw, after its card has failed: the card has no stack. An error that it throws ends the
   * worker.
   */
  readonly onFailure?: (error: unknown, card: TakenCard) => void
}

/**
 * Takes ready cards of a board, one after the other, and lets a handler work on them.
 * @throws what ends it
 */
export async function work(
  deps: ClaimDeps,
  boardId: string,
  handler: WorkHandler,
  options: WorkOptions & { readonly wait: number },
  bind: (caller: Caller) => Methods,
): Promise<never> {
  const { signal, ttl: _ttl, onRetry: _onRetry, onFailure: _onFailure, ...wanted } = options
  for (;;) {
    signal?.throwIfAborted()
    const sentAt = deps.monotonic()
    const card = await takeNext(deps, { ...wanted, board_id: boardId }, signal)
    if (card === null) continue
    const claim = new HeldClaim(deps, card.claim, sentAt)
    try {
      await handle(claim, card, handler, options, bind(claim))
    } finally {
      claim.stop()
    }
  }
}

async function takeNext(
  { transport, ttl, timeout, retries, onRetry }: ClaimDeps,
  input: Readonly<Record<string, unknown>> & { readonly wait: number },
  signal: AbortSignal | undefined,
): Promise<TakenCard | null> {
  const options = { timeout: Math.min(LONGEST_TIME, timeout + input.wait * 1000), ...(signal && { signal }) }
  // Its idempotency key makes sure that a card is not lost whose response was lost.
  const answer = await transport.call(
    operations['claims.take_next'],
    { ...input, ttl, include: ['work'] },
    options,
    patiently(retries, onRetry),
  )
  return (answer as Result<TakenCard | null>).data
}

/** What becomes of a card: the call that says so. */
type Outcome = readonly [row: OperationRow, input?: Input]
const COMPLETION: Outcome = [operations['cards.complete'], { completed: true }]
const RELEASE: Outcome = [operations['claims.release']]
const failure = (reason: string, retry_after?: number): Outcome => [operations['claims.fail'], { reason, retry_after }]

/** @throws what ends the worker */
async function handle(
  claim: HeldClaim,
  card: TakenCard,
  handler: WorkHandler,
  { signal, onFailure }: WorkOptions,
  lk: Methods,
): Promise<void> {
  let outcome: Outcome
  try {
    await claim.keep()
    const ends = signal === undefined ? claim.lost : AbortSignal.any([signal, claim.lost])
    outcome = ends.aborted || (await handler(card, { lk, signal: ends })) === 'release' ? RELEASE : COMPLETION
  } catch (error) {
    if (claim.lost.aborted) return
    outcome = outcomeOf(error, signal?.aborted === true)
    try {
      return await conclude(claim, outcome)
    } finally {
      if (outcome[0] === operations['claims.fail']) onFailure?.(error, card)
    }
  }
  await conclude(claim, outcome)
}

/** @param isStopped whether the worker was told to end: an error says nothing about the card then */
function outcomeOf(thrown: unknown, isStopped: boolean): Outcome {
  if (thrown instanceof Question) return [operations['claims.ask'], { question: textOf(thrown) }]
  if (thrown instanceof Failure) return failure(textOf(thrown), thrown.retryAfter)
  return isStopped ? RELEASE : failure(textOf(thrown))
}

/**
 * Says what becomes of the card, unless the handler has done it.
 * @throws what ends the worker
 */
async function conclude(claim: HeldClaim, outcome: Outcome): Promise<void> {
  if (claim.isEnded) return
  try {
    await claim.insist(...outcome)
  } catch (error) {
    // The card was deleted meanwhile. If the board is gone, the next request says so.
    if (claim.lost.aborted || (error instanceof ApiError && error.is('not_found'))) return
    // A card whose completion is refused would be refused to the next worker, too: it counts, so that the card is stuck some time.
    const instead = error instanceof ApiError ? failure(textOf({ message: `The outcome was refused: ${error.message}` })) : RELEASE
    await claim.insist(...instead).catch(() => undefined)
    if (!(error instanceof ApiError) || ENDS_WORKER.has(error.status)) throw error
  }
}

/** What the service then refuses about every card: the token is not valid, or may not do it. */
const ENDS_WORKER = new Set([401, 403])
