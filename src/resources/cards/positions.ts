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

/** The decoded cursor: the places of the last card and of its column, each with the generation of its list. */
export interface Position {
  readonly columnGeneration: number
  readonly columnPosition: string
  readonly columnId: string
  readonly state: CardState
  readonly cardGeneration: number
  readonly cardEntry: string
}

/** Where the page starts: after `after` in the column of the last card, then with the columns behind `columnEntry`. */
export interface Start {
  readonly columnId: string
  readonly state: CardState
  readonly after: string
  readonly columnEntry: string
}

/**
 * Finds where the page behind a cursor starts.
 * @throws {ApiError} when the cursor is stale
 */
export function findStart(at: Position, columnOrder: OrderRecord | undefined, cardOrder: OrderRecord | undefined): Start {
  const columnEntry = currentEntry(columnOrder, at.columnGeneration, `${at.columnPosition} ${at.columnId}`)
  const after = currentEntry(cardOrder, at.cardGeneration, at.cardEntry)
  if (columnEntry === undefined || after === undefined) throw staleCursor()
  return { columnId: at.columnId, state: at.state, after, columnEntry }
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

/** Decodes a cursor. @throws {ApiError} when it names no column */
export function readPosition(cursor: string): Position {
  const [columnGeneration, columnPosition, columnId, state, cardGeneration, ...cardEntry] = cursor.split(' ')
  // The id becomes part of a key, and the client may have forged the cursor.
  if (!isId('column', columnId ?? '')) throw staleCursor()
  return {
    columnGeneration: Number(columnGeneration),
    columnPosition: columnPosition!,
    columnId: columnId!,
    state: state === 'archived' ? 'archived' : 'active',
    cardGeneration: Number(cardGeneration),
    cardEntry: cardEntry.join(' '),
  }
}
