import type { Card } from '../../model/card.ts'
import { conflict } from '../../model/errors.ts'
import { entriesOfWord, indexes, lastWord } from '../../store/indexes.ts'
import type { Transaction } from '../../store/transaction.ts'

/** The message of the 409 for a reference that another card of the board has. */
export const REF_TAKEN = 'Another card of the board has this external_ref.'

/**
 * Checks that no other card of a board has a reference, archived cards included. The commit requires that this is still true. Whoever may
 * write a card can read all cards of its board, so the answer may name the other one.
 * @param ownId of the card that gets it; undefined: it is created
 * @throws {ApiError} `conflict`, with `card_id`
 */
export async function requireFreeRef(tx: Transaction, boardId: string, ref: string | null | undefined, ownId?: string): Promise<void> {
  if (ref == null) return
  const other = (await idsWithRef(tx, boardId, ref)).find((id) => id !== ownId)
  if (other !== undefined) throw conflict(REF_TAKEN, { card_id: other })
}

/** The ids of the cards of a board that have a reference: at most one. */
export async function idsWithRef(tx: Transaction, boardId: string, ref: string): Promise<string[]> {
  const options = { ...entriesOfWord(boardId), limit: 2, entriesOnly: true }
  return (await tx.range(indexes.cardsWithRef(ref), options)).entries.map(lastWord)
}

/** The boards that have a card with a reference. */
export async function boardsWithRef<Item extends { readonly board: Pick<Card, 'id'> }>(
  tx: Transaction,
  boards: readonly Item[],
  ref: string,
): Promise<Item[]> {
  // What hidden boards have in the index has no effect: not even on what the request costs.
  const { entries } = await tx.all(indexes.cardsWithRef(ref), { weak: true, entriesOnly: true })
  const ids = new Set(entries.map((entry) => entry.split(' ')[0]))
  return boards.filter(({ board }) => ids.has(board.id))
}
