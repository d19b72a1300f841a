import type { BoardAccess } from '../../authz/context.ts'
import { neighborOf, resolvePlacement, type Placement, type ResolvedPlacement } from '../../listing/placement.ts'
import { positionReads, type RankedList } from '../../listing/ranks.ts'
import { andThen, type Awaitable } from '../../model/awaitable.ts'
import type { Card } from '../../model/card.ts'
import type { Column } from '../../model/column.ts'
import { conflict, notFound } from '../../model/errors.ts'
import { isId } from '../../model/ids.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Read } from '../../store/reads.ts'
import type { Transaction } from '../../store/transaction.ts'

const ARCHIVED = 'The column, or the card named by before or after, is archived.'
const OTHER_COLUMN = 'The card named by before or after is in another column than column_id.'
/** The messages of the 409s that {@link requireOpen} throws. */
export const destinationConflicts = [ARCHIVED, OTHER_COLUMN]

/** The place where a card is created or moved to. */
export interface CardDestination {
  readonly column: Column
  readonly placement: ResolvedPlacement<Card> | undefined
}

/** The cards of a column, archived ones included. */
export function cardsOf(columnId: string): RankedList<Card> {
  return { id: columnId, indexes: [indexes.cards('active', columnId), indexes.cards('archived', columnId)], keyOf: keys.card }
}

/**
 * Loads the destination that a body names. The column and the neighbor must be on the card's own board.
 * @param otherwise the column if the body names neither a column nor a neighbor
 * @param further what to read together with it
 * @throws {ApiError} `not_found`
 */
export function loadDestination(
  tx: Transaction,
  board: BoardAccess,
  place: Placement & { readonly column_id?: string | undefined },
  otherwise?: string,
  further: readonly Read[] = [],
): Awaitable<CardDestination> {
  const { column_id } = place
  const isHere = ({ board_id }: Card | Column) => board_id === board.id
  return andThen(prefetchPlace(tx, column_id ?? otherwise, place, further), () =>
    andThen(resolvePlacement(tx, place, 'card', keys.card, isHere), (placement) => {
      const columnId = column_id ?? neighborOf(placement)?.column_id ?? otherwise!
      return andThen(isId('column', columnId) ? tx.get(keys.column(columnId)) : undefined, (column) => {
        if (column === undefined || !isHere(column)) throw notFound('column_id')
        return { column, placement }
      })
    }),
  )
}

/** Reads a column, and with it either the records that its first or last position depends on, or the neighbor. */
function prefetchPlace(tx: Transaction, columnId: string | undefined, place: Placement, further: readonly Read[]): Awaitable<unknown> {
  const { before, after, to = 'last' } = place
  const neighborId = before ?? after
  const column = columnId !== undefined && isId('column', columnId) ? [keys.column(columnId)] : []
  if (neighborId !== undefined) {
    const neighbor = isId('card', neighborId) ? [keys.card(neighborId)] : []
    return further.length > 0 ? tx.prefetch({ records: [...neighbor, ...column, ...further] }) : undefined
  }
  if (column.length === 0) return undefined
  const { records, ranges } = positionReads(cardsOf(columnId!), { to })
  const counts = tx.hasRecalled ? [] : [indexes.cards('active', columnId!)]
  return tx.prefetch({ records: [...column, ...records, ...further], ranges, counts })
}

/**
 * Checks that a card can go to a destination.
 * @throws {ApiError} `conflict`
 */
export function requireOpen({ column, placement }: CardDestination): void {
  const neighbor = neighborOf(placement)
  if (column.archived_at !== null || (neighbor !== undefined && neighbor.archived_at !== null)) throw conflict(ARCHIVED)
  if (neighbor !== undefined && neighbor.column_id !== column.id) throw conflict(OTHER_COLUMN)
}
