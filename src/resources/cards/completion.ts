import { timestamp } from '../../model/time.ts'
import type { Card, Outcome } from '../../model/card.ts'
import type { Column } from '../../model/column.ts'
import { endInSuccess } from '../claims/changes.ts'
import type { OperationRequest } from '../operation.ts'

type Completion = Pick<Card, 'completed_at' | 'completed_by_id' | 'outcome'>

/** The completion of a card that is not completed. */
export const NOT_COMPLETED: Completion = { completed_at: null, completed_by_id: null, outcome: null }

/** The completion of a card that the caller completes now. */
export function completedNow({ clock, caller }: Pick<OperationRequest, 'clock' | 'caller'>, outcome: Outcome): Completion {
  return { completed_at: timestamp(clock), completed_by_id: caller.userId, outcome }
}

/**
 * What a move to a column makes of the completion of a card: a column that completes gives `succeeded` to a card that comes from one that
 * does not, and a card that leaves it for such a column is open again. Between two of the same kind, nothing changes.
 * @returns null: it is open again; undefined: nothing changes
 */
export function outcomeOfMove(
  { outcome }: Pick<Card, 'outcome'>,
  from: Pick<Column, 'completes'>,
  to: Pick<Column, 'completes'>,
): Outcome | null | undefined {
  if (from.completes === to.completes) return undefined
  const becomes = to.completes ? 'succeeded' : null
  return outcome === becomes ? undefined : becomes
}

/**
 * Completes a card, opens it again, or corrects its outcome: every change of a card's completion is made here. A card that is completed
 * keeps the time and the person of its completion, whatever becomes of the outcome. Its claim ends, and its attempts are forgotten. The
 * target of the operation has read the claim.
 * @param outcome null: the card is open again
 * @returns what changes of the card
 */
export async function changeCompletion(
  request: Pick<OperationRequest, 'tx' | 'clock' | 'caller'>,
  card: Card,
  outcome: Outcome | null,
): Promise<Partial<Completion>> {
  if (card.outcome === outcome) return {}
  if (outcome === null) return NOT_COMPLETED
  if (card.outcome !== null) return { outcome }
  await endInSuccess(request, card.id)
  return completedNow(request, outcome)
}
