import type { Column } from '../../model/column.ts'
import { conflict } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { indexes } from '../../store/indexes.ts'
import type { Transaction } from '../../store/transaction.ts'
import { requireCapacityOf } from '../capacity.ts'

/** What is added to the active cards of a board. */
interface Added {
  /** the number of cards that become active, not counting the cards of a restored column */
  readonly cards?: number
  /** the column that is restored */
  readonly column?: string
}

/**
 * Checks that a board has capacity for more active cards. Archived cards do not count, and neither do the cards of archived columns. The
 * commit checks it again.
 * @throws {ApiError} `conflict`, with `limit`
 */
export async function requireCardCapacity(tx: Transaction, boardId: string, { cards = 0, column }: Added): Promise<void> {
  const notArchived = indexes.boardActiveCards(boardId)
  const room = limits.cardsPerBoard - cards
  // Cards of archived columns are among them, so there may be fewer that count, but never more.
  if (await tx.hasAtMost(notArchived, room)) return
  const hidden = await countHidden(tx, boardId, column)
  requireCapacityOf((await tx.count(notArchived, room + hidden)) - hidden + cards - 1, 'cardsPerBoard')
}

/** The message of the 409 at the WIP limit of a column. */
export const WIP_LIMIT = 'The column has as many active cards as its WIP limit allows.'

/**
 * Checks that a column has room for one more active card, completed ones included. The commit checks it again.
 * @throws {ApiError} `conflict`, with `limit`
 */
export async function requireWipCapacity(tx: Transaction, { id, wip_limit }: Pick<Column, 'id' | 'wip_limit'>): Promise<void> {
  if (wip_limit === null) return
  if (!(await tx.hasAtMost(indexes.cards('active', id), wip_limit - 1))) throw conflict(WIP_LIMIT, { limit: 'wip_limit' })
}

/** Counts the cards that are only archived with their column. The commit succeeds only if that is still true. */
async function countHidden(tx: Transaction, boardId: string, except: string | undefined): Promise<number> {
  const { values } = await tx.all(indexes.columns(boardId))
  const archived = values.flatMap((column) =>
    column === undefined || column.archived_at === null || column.id === except ? [] : column.id,
  )
  const lists = archived.map((id) => indexes.cards('active', id))
  // A change of one of these lists conflicts, although only one entry is read.
  await tx.load({ ranges: lists.map((index) => ({ index, options: { limit: 1, entriesOnly: true } })) })
  return (await tx.counts(lists)).reduce((sum, count) => sum + count, 0)
}
