import type { Card } from '../../model/card.ts'
import { timestamp } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { loadCard } from '../targets.ts'
import type { Addressed, OperationRequest } from '../operation.ts'
import type { OrderedList } from '../../listing/ranks.ts'

/** What the operations on a card share. */

/** The record whose revision is the ETag of a card, and of all below its path. */
export const cardEntity = (params: Readonly<Record<string, string>>) => keys.card(params['card_id']!)

/** Finds the card that a path names. */
export const loadTheCard = ({ tx, caller, params }: Addressed) => loadCard(tx, caller, params['card_id']!)

/** The cards of a column, those put away too. */
export function columnList(columnId: string): OrderedList<Card> {
  return { id: columnId, indexes: [indexes.cards('active', columnId), indexes.cards('archived', columnId)], keyOf: keys.card }
}

/** Writes a changed card and answers with it. */
export function saveCard({ tx, clock }: Pick<OperationRequest, 'tx' | 'clock'>, changed: Card): { data: Card } {
  const data = { ...changed, updated_at: timestamp(clock) }
  tx.put(keys.card(data.id), data)
  return { data }
}
