import { timestamp } from '../../model/time.ts'
import { limits } from '../../model/limits.ts'
import { indexes, lastWord, retriedCard } from '../../store/indexes.ts'
import type { OperationRequest } from '../operation.ts'

// Which cards of a board wait: for an answer, for somebody who tries again a card that is stuck, or for a time. It is read from indexes, without
// the records. The transaction does not rely on it, as on the claims: otherwise each failure on the board would conflict with it.

type Reading = Pick<OperationRequest, 'tx' | 'clock'>

const WEAK = { weak: true, entriesOnly: true, limit: limits.cardsPerBoard } as const

/** The cards of a board whose work waited for a time that has passed: they are ready again, and no index of ready cards has them. */
export interface DueCards {
  readonly cardIds: ReadonlySet<string>
  /** column → the entries that its cards would have among the ready ones, in their order */
  readonly byColumn: ReadonlyMap<string, readonly string[]>
}

/** What {@link readDueCards} reads. */
export function dueCards(boardId: string, clock: OperationRequest['clock']) {
  return { index: indexes.retriedCards(boardId), options: { ...WEAK, before: `${timestamp(clock)} ~` } }
}

/** Reads which cards of a board are ready again. */
export async function readDueCards({ tx }: Reading, { index, options }: ReturnType<typeof dueCards>): Promise<DueCards> {
  const { entries } = await tx.range(index, options)
  const byColumn = new Map<string, string[]>()
  for (const { columnId, readyEntry } of entries.map(retriedCard)) {
    const known = byColumn.get(columnId)
    if (known === undefined) byColumn.set(columnId, [readyEntry])
    else known.push(readyEntry)
  }
  for (const column of byColumn.values()) column.sort()
  return { cardIds: new Set(entries.map(lastWord)), byColumn }
}

/** Reads the next time at which a card of a board is ready again: RFC 3339. */
export async function readNextRetry({ tx, clock }: Reading, boardId: string): Promise<string | undefined> {
  const options = { ...WEAK, after: `${timestamp(clock)} ~`, limit: 1 }
  const { entries } = await tx.range(indexes.retriedCards(boardId), options)
  return entries[0]?.split(' ')[0]
}

/** Reads which cards of a board are offered to nobody, and why: those whose last attempt is under way are among the stuck ones. */
export async function readHeldCards({ tx }: Reading, boardId: string): Promise<ReadonlyMap<string, 'waiting' | 'stuck'>> {
  const { entries } = await tx.range(indexes.heldCards(boardId), WEAK)
  return new Map(entries.map((entry) => [lastWord(entry), entry.startsWith('waiting ') ? 'waiting' : 'stuck']))
}

/** Reads which cards of a board wait for a time that is in the future. */
export async function readRetriedCards({ tx, clock }: Reading, boardId: string): Promise<ReadonlySet<string>> {
  const { entries } = await tx.range(indexes.retriedCards(boardId), { ...WEAK, after: `${timestamp(clock)} ~` })
  return new Set(entries.map(lastWord))
}
