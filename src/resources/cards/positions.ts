import { staleCursor } from '../../listing/pages.ts'
import { currentEntry } from '../../listing/ranks.ts'
import type { Card } from '../../model/card.ts'
import type { Column } from '../../model/column.ts'
import { isId } from '../../model/ids.ts'
import type { OrderRecord } from '../../model/order.ts'
import { positionEntry, type CardState } from '../../store/indexes.ts'

/** A part of the list: the cards of one column in one state. */
export interface Segment {
  readonly column: Column
  readonly state: CardState
}

/** The places of the last card of a page and of its column. The next one starts behind them. */
export interface Start {
  readonly columnId: string
  readonly columnEntry: string
  readonly state: CardState
  readonly cardEntry: string
}

/** The decoded cursor: the places as they were in a generation of each list. */
interface Position extends Start {
  readonly columnGeneration: number
  readonly cardGeneration: number
}

/**
 * Finds where the page behind a cursor starts.
 * @throws {ApiError} when the cursor is stale
 */
export function findStart(at: Position, columnOrder: OrderRecord | undefined, cardOrder: OrderRecord | undefined): Start {
  const columnEntry = currentEntry(columnOrder, at.columnGeneration, at.columnEntry)
  const cardEntry = currentEntry(cardOrder, at.cardGeneration, at.cardEntry)
  if (columnEntry === undefined || cardEntry === undefined) throw staleCursor()
  return { ...at, columnEntry, cardEntry }
}

/** The position of a card, for a cursor. */
export function writePosition(
  columnOrder: OrderRecord | undefined,
  cardOrder: OrderRecord | undefined,
  { card, segment }: { card: Card; segment: Segment },
): string {
  return [columnOrder?.generation ?? 0, positionEntry(segment.column), segment.state, cardOrder?.generation ?? 0, positionEntry(card)].join(
    ' ',
  )
}

/**
 * Decodes a cursor.
 * @throws {ApiError} when it names no column
 */
export function readPosition(cursor: string): Position {
  const [columnGeneration, columnPosition, columnId = '', state, cardGeneration, ...cardEntry] = cursor.split(' ')
  // The id becomes part of a key, and the client may have forged the cursor.
  if (!isId('column', columnId)) throw staleCursor()
  return {
    columnGeneration: Number(columnGeneration),
    columnEntry: `${columnPosition} ${columnId}`,
    columnId,
    state: state === 'archived' ? 'archived' : 'active',
    cardGeneration: Number(cardGeneration),
    cardEntry: cardEntry.join(' '),
  }
}
