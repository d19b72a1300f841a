import { timestamp } from '../../model/time.ts'
import { limits } from '../../model/limits.ts'
import { indexes, lastWord, releasedRevision, retriedCard } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { OperationRequest } from '../operation.ts'

// Which cards of a board wait: for an answer, for somebody who tries again a card that is stuck, or for a time. It is read from indexes,
// without the records. The transaction does not rely on it, as on the claims: otherwise each failure on the board would conflict with it.

type Reading = Pick<OperationRequest, 'tx' | 'clock'>

const WEAK = { weak: true, entriesOnly: true, limit: limits.cardsPerBoard } as const

/** What {@link readDueCards} reads: the cards of a board whose work waited for a time that has passed. */
export function dueCards(boardId: string, clock: OperationRequest['clock']) {
  return { index: indexes.retriedCards(boardId), options: { ...WEAK, before: `${timestamp(clock)} ~` } }
}

/** Reads which cards of a board are ready again: by column, the entries that they would have among the ready ones, in no order. */
export async function readDueCards({ tx }: Reading, { index, options }: ReturnType<typeof dueCards>): Promise<DueCards> {
  const { entries } = await tx.range(index, options)
  const byColumn = new Map<string, string[]>()
  for (const entry of entries) {
    const { columnId, readyEntry } = retriedCard(entry)
    const known = byColumn.get(columnId)
    if (known === undefined) byColumn.set(columnId, [readyEntry])
    else known.push(readyEntry)
  }
  return byColumn
}

export type DueCards = ReadonlyMap<string, readonly string[]>

/** The cards of a board that wait. */
export interface WaitingCards {
  readonly due: ReadonlySet<string>
  /** those that are offered to nobody, and why: those whose last attempt is under way are among the stuck ones */
  readonly held: ReadonlyMap<string, 'waiting' | 'stuck'>
  /** those that wait for a time that is in the future */
  readonly retried: ReadonlySet<string>
}

/** What {@link readWaitingCards} reads. */
export function waitingCards(boardId: string, clock: OperationRequest['clock']) {
  // Stryker disable next-line StringLiteral: of a card that is also due, only that is asked
  const [index, after] = [indexes.retriedCards(boardId), `${timestamp(clock)} ~`]
  return [dueCards(boardId, clock), { index, options: { ...WEAK, after } }, { index: indexes.heldCards(boardId), options: WEAK }] as const
}

/** Reads which cards of a board wait. */
export async function readWaitingCards({ tx }: Reading, [due, later, held]: ReturnType<typeof waitingCards>): Promise<WaitingCards> {
  const [again, retried, kept] = (await tx.load({ ranges: [due, later, held] })).ranges.map(({ entries }) => entries)
  return {
    due: new Set(again!.map(lastWord)),
    held: new Map(kept!.map((entry) => [lastWord(entry), entry.startsWith('waiting ') ? 'waiting' : 'stuck'])),
    retried: new Set(retried!.map(lastWord)),
  }
}

/** The released cards that are asked whether they have changed since. Those beyond it are not offered before their time is over. */
const ASKED = 50

/** What {@link readReleasedCards} reads first: the cards of a board that a token has released, or one of its family. */
export function releasedCards(boardId: string, family: string, clock: OperationRequest['clock']) {
  return { index: indexes.releasedCards(boardId, family), options: { weak: true, limit: ASKED, after: `${timestamp(clock)} ~` } } as const
}

/** Reads which cards of a board are not offered to a token because it has released them, and they have not changed since. */
export async function readReleasedCards(
  { tx }: Reading,
  { index, options }: ReturnType<typeof releasedCards>,
): Promise<ReadonlySet<string>> {
  const { entries } = await tx.range(index, options)
  const kept = entries.filter((entry) => tx.revisionOf(keys.card(lastWord(entry))) === releasedRevision(entry))
  // Few tokens release so many in a minute.
  const rest = entries.length < ASKED ? [] : (await tx.range(index, { ...WEAK, after: entries.at(-1) })).entries
  return new Set([...kept, ...rest].map(lastWord))
}
