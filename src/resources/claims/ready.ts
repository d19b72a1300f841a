import { tokenOf } from '../../authz/context.ts'
import type { Card } from '../../model/card.ts'
import { isReleasedBy } from '../../model/claim.ts'
import type { Column } from '../../model/column.ts'
import { limits } from '../../model/limits.ts'
import { familyOf } from '../../model/token.ts'
import { indexes, lastWord } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { firstPage, memberOf } from '../../store/reads.ts'
import { TransactionConflict, type Transaction } from '../../store/transaction.ts'
import type { OperationRequest } from '../operation.ts'
import { shownCard } from '../pending-removals.ts'
import { requireCapacityOf } from '../capacity.ts'
import { currentClaims, readClaim, readClaimedCards, type CardClaim } from './present.ts'
import { claimReads } from '../targets.ts'
import { dueCards, readDueCards, readReleasedCards, releasedCards, type DueCards } from './waiting.ts'
import { isBlocked, workOf } from './work.ts'

/** Which cards may be taken. */
interface Wanted {
  readonly column_id?: string | undefined
  readonly label_id?: string | undefined
}

/** A card that is ready and that nobody holds. The transaction relies on both. */
interface ReadyCard {
  readonly card: Card
  readonly column: Column
  readonly claim: CardClaim
}

/** The number of columns that are read at once. */
const COLUMNS_AT_ONCE = 8

/** What {@link findReadyCard} has found. */
interface Found {
  readonly found: ReadyCard | undefined
  /** when a claim runs out, if no card is ready now: RFC 3339. Whoever waits for a card looks again each second anyway */
  readonly next?: string | undefined
}

/**
 * Finds the first ready card of a board that nobody holds. Which card that is, is read without relying on it: otherwise 32 workers who take
 * cards of a board would all conflict with each other. The transaction relies on the card that was found: on its readiness, on its column
 * and on its claim.
 * @throws {TransactionConflict} if the card has just become another
 * @throws {ApiError} `conflict` if the board has as many claims as it can have
 */
export async function findReadyCard(
  request: Pick<OperationRequest, 'tx' | 'clock' | 'caller'>,
  boardId: string,
  wanted: Wanted,
): Promise<Found> {
  const { tx, clock, caller } = request
  const [claimed, retried] = [currentClaims(boardId, clock), dueCards(boardId, clock)]
  const released = releasedCards(boardId, familyOf(tokenOf(caller)), clock)
  const columnList = firstPage(indexes.columns(boardId), { weak: true })
  await tx.prefetch({ ranges: [claimed, retried, released, columnList] })
  const { cards, next } = await readClaimedCards(request, claimed)
  requireCapacityOf(cards.size, 'claimsPerBoard')
  const due = await readDueCards(request, retried)
  const skipped = new Set([...cards.keys(), ...(await readReleasedCards(request, released))])
  const columns = await tx.range(columnList.index, columnList.options)
  const open = columns.values.filter((column) => column?.archived_at === null && (wanted.column_id ?? column.id) === column.id) as Column[]
  for (let rest = open; rest.length > 0; rest = rest.slice(COLUMNS_AT_ONCE)) {
    const id = await firstCard(tx, rest.slice(0, COLUMNS_AT_ONCE), wanted.label_id, skipped, due)
    if (id !== undefined) return { found: await confirm(request, id, wanted) }
  }
  return { found: undefined, next }
}

/** The first card of some columns that is not to be skipped: those that are claimed, or were released by the token. */
async function firstCard(
  tx: Transaction,
  columns: readonly Column[],
  labelId: string | undefined,
  skipped: ReadonlySet<string>,
  due: DueCards,
): Promise<string | undefined> {
  // One more than those that may have to be skipped; with a label, most may lack it.
  const limit = labelId === undefined ? skipped.size + 1 : limits.cardsPerBoard
  const ready = columns.map(({ id }) => readyRange(id, limit))
  const labelled = labelId === undefined ? [] : columns.map(({ id }) => labelledRange(id, labelId))
  const { ranges } = await tx.load({ ranges: [...ready, ...labelled] })
  for (const [i, { id }] of columns.entries()) {
    const withLabel = labelId === undefined ? undefined : new Set(ranges[columns.length + i]!.entries)
    const isWanted = (entry: string) => !skipped.has(lastWord(entry)) && withLabel?.has(entry) !== false
    // Few of the thousands that are ready again are asked about.
    let first = ranges[i]!.entries.find(isWanted)
    // Stryker disable next-line EqualityOperator: an entry is among the ready ones or among those that are ready again
    for (const entry of due.get(id) ?? []) if ((first === undefined || entry < first) && isWanted(entry)) first = entry
    if (first !== undefined) return lastWord(first)
  }
  return undefined
}

const WEAK = { weak: true, entriesOnly: true } as const

function readyRange(columnId: string, limit: number) {
  return { index: indexes.readyCards(columnId), options: { limit, ...WEAK } }
}

function labelledRange(columnId: string, labelId: string) {
  return { index: indexes.cardsWith('active', columnId, labelId), options: { limit: limits.cardsPerBoard, ...WEAK } }
}

/** Reads a card with all that makes it ready, and relies on it. */
async function confirm(
  request: Pick<OperationRequest, 'tx' | 'clock' | 'caller'>,
  id: string,
  { column_id, label_id }: Wanted,
): Promise<ReadyCard> {
  const { tx, clock, caller } = request
  const key = keys.card(id)
  const ofCard = [key, keys.column(memberOf(key, 'column_id')), keys.readiness(id), keys.removals()] as const
  const [card, column, , removals] = await tx.read([...ofCard, ...claimReads(id)])
  const claim = await readClaim(request, id)
  // One whose readiness or column is damaged is given to nobody.
  // Stryker disable next-line ConditionalExpression: without a card there is no column
  if (card === undefined || column?.archived_at !== null || workOf(card, claim, isBlocked(tx, card), clock()).state !== 'ready')
    throw new TransactionConflict()
  if (isReleasedBy(claim.record, familyOf(tokenOf(caller)), tx.revisionOf(key)!, clock())) throw new TransactionConflict()
  const shown = shownCard(card, removals)
  if ((column_id ?? shown.column_id) !== shown.column_id) throw new TransactionConflict()
  if (label_id !== undefined && !shown.label_ids.includes(label_id)) throw new TransactionConflict()
  return { card: shown, column, claim }
}
