import type { Board } from '../../model/board.ts'
import { timestamp } from '../../model/time.ts'
import { currentClaims, readClaimedCards } from '../../resources/claims/present.ts'
import { readWaitingCards, waitingCards } from '../../resources/claims/waiting.ts'
import { indexes, sortedGroup } from '../../store/indexes.ts'
import type { Reader } from '../reader.ts'

/** What a list of boards tells of one. Each number is of at most {@link MOST} cards. */
export interface BoardCounts {
  readonly waiting: number
  readonly stuck: number
  readonly claimed: number
  readonly overdue: number
  /** when the board or a card of it was changed last, RFC 3339 */
  readonly changedAt: string
}

/** Boards that are counted, and cards of each number. */
const COUNTED = 100
export const MOST = 100
/** Boards whose counts cost as much as a read. */
const BOARDS_PER_UNIT = 10

const ENTRIES = { weak: true, entriesOnly: true } as const

/**
 * Counts the cards of boards from indexes, all at once and without a record of a card. Cards of archived columns are counted as others.
 * @param boards that the person has read just now, newest change first: those beyond the first 100 are not counted
 */
export async function readBoardCounts(reader: Reader, boards: readonly Board[]): Promise<ReadonlyMap<string, BoardCounts>> {
  const { clock } = reader.context.web
  const counted = boards.slice(0, COUNTED)
  reader.context.work.read += Math.floor(counted.length / BOARDS_PER_UNIT)
  return reader.transact(async (tx) => {
    const asked = counted.map((board) => ({ board, ...rangesOf(board.id, timestamp(clock), clock) }))
    await tx.prefetch({ ranges: asked.flatMap(({ claims, waiting, dated }) => [claims, ...waiting, ...dated]) })
    const found = new Map<string, BoardCounts>()
    for (const { board, claims, waiting, dated } of asked) {
      const [{ cards }, { held }, { ranges }] = [
        await readClaimedCards({ tx, clock }, claims),
        await readWaitingCards({ tx, clock }, waiting),
        await tx.load({ ranges: dated }),
      ]
      // A card in its last attempt is among those that are held.
      const reasons = [...held].flatMap(([id, reason]) => (cards.has(id) ? [] : [reason]))
      const stuck = reasons.filter((reason) => reason === 'stuck').length
      const [overdue, ...changed] = ranges.map(({ entries }) => entries)
      // The entry of a card has its group and its time.
      const times = changed.flatMap(([entry]) => entry?.split(' ')[1] ?? [])
      found.set(board.id, {
        claimed: cards.size,
        stuck,
        waiting: reasons.length - stuck,
        overdue: overdue!.length,
        changedAt: [board.updated_at, ...times].toSorted().at(-1)!,
      })
    }
    return found
  })
}

function rangesOf(boardId: string, now: string, clock: () => number) {
  const open = sortedGroup('active', false)
  const changed = indexes.sortedCards('updated_at', boardId)
  const newest = (group: string) => ({
    index: changed,
    options: { ...ENTRIES, after: `${group} `, before: `${group} ~`, limit: 1, reverse: true },
  })
  const due = { ...ENTRIES, after: `${open} `, before: `${open} ${now}`, limit: MOST }
  return {
    claims: currentClaims(boardId, clock),
    waiting: waitingCards(boardId, clock),
    dated: [{ index: indexes.sortedCards('due_at', boardId), options: due }, newest(open), newest(sortedGroup('active', true))],
  }
}
