import type { Board } from '../../model/board.ts'
import type { Card } from '../../model/card.ts'
import type { Column } from '../../model/column.ts'
import { conflict, notFound } from '../../model/errors.ts'
import { isId } from '../../model/ids.ts'
import type { Placement } from '../../listing/placement.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { loadAnchor, type Anchor } from '../../listing/anchors.ts'

export const ARCHIVED = 'The column, or the card next to which it would go, is archived.'
export const ELSEWHERE = 'The card named by before or after is in another column than column_id.'

/** Where a card goes: a column of its board, and a card there next to which it goes. */
export interface CardDestination {
  readonly column: Column
  readonly anchor: Anchor<Card> | undefined
}

/**
 * Reads where a card is to go. Both the column and the card next to which it goes must be of its own board.
 * @param otherwise the column where the body names neither
 * @throws {Failure} `not_found`
 */
export async function loadDestination(
  tx: Transaction,
  board: Board,
  placement: Placement,
  named: string | undefined,
  otherwise?: string,
): Promise<CardDestination> {
  const anchor = await loadAnchor(tx, placement, 'card', keys.card, ({ board_id }) => board_id === board.id)
  const columnId = named ?? anchor?.thing.column_id ?? otherwise!
  const column = isId('column', columnId) ? await tx.get(keys.column(columnId)) : undefined
  if (column === undefined || column.board_id !== board.id) throw notFound()
  return { column, anchor }
}

/** @throws {Failure} `conflict` where a card cannot go there as things are */
export function requireOpen(column: Column, anchor: Anchor<Card> | undefined): void {
  if (column.archived_at !== null || (anchor !== undefined && anchor.thing.archived_at !== null)) throw conflict(ARCHIVED)
  if (anchor !== undefined && anchor.thing.column_id !== column.id) throw conflict(ELSEWHERE)
}
