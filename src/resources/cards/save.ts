import { andThen, type Awaitable } from '../../model/awaitable.ts'
import type { Card } from '../../model/card.ts'
import { keys } from '../../store/keys.ts'
import { countAttempt } from '../claims/changes.ts'
import type { OperationRequest } from '../operation.ts'
import { saveResource } from '../writes.ts'

/**
 * Writes changes of a card as {@link saveResource} does. If the claim of the card has run out, that attempt is counted with it, so that the
 * feed has it (src/http/claims.md, "Work that fails or asks"). The target of the operation has read the claim.
 */
export function saveCard(
  request: Pick<OperationRequest, 'tx' | 'clock'>,
  current: Card,
  changes: { readonly [Member in keyof Card]?: Card[Member] | undefined },
): Awaitable<{ data: Card }> {
  const saved = saveResource(request, keys.card, current, changes)
  return saved.data === current ? saved : andThen(countAttempt(request, current.id), () => saved)
}
