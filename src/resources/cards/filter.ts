import type { Card } from '../../model/card.ts'
import { isId } from '../../model/ids.ts'

/** What a list of cards can be narrowed by. */
export interface CardFilter {
  readonly column_id?: string | undefined
  readonly assignee_id?: string | undefined
  readonly label_id?: string | undefined
  readonly completed?: boolean | undefined
  readonly archived: boolean
  /** looked for in title and description, whatever the case */
  readonly q?: string | undefined
  readonly updated_since?: string | undefined
}

/** Some cards, in the order of their list. */
export interface CardPage {
  readonly cards: readonly Card[]
  /** where the list goes on after the last of them */
  readonly position: string | undefined
  readonly more: boolean
}

/** Whether a filter names something that cannot be: the list is then empty, as for something foreign. */
export function isVoid({ column_id, assignee_id, label_id }: CardFilter): boolean {
  const wrong = (kind: 'column' | 'user' | 'label', id: string | undefined) => id !== undefined && !isId(kind, id)
  return wrong('column', column_id) || wrong('user', assignee_id) || wrong('label', label_id)
}

/** Tells whether a card is one that a filter wants, as far as the card itself tells. */
export function matcher({ column_id, assignee_id, label_id, completed, q }: CardFilter): (card: Card) => boolean {
  const text = q === undefined ? undefined : folded(q)
  return (card) => {
    if (column_id !== undefined && card.column_id !== column_id) return false
    if (assignee_id !== undefined && !card.assignee_ids.includes(assignee_id)) return false
    if (label_id !== undefined && !card.label_ids.includes(label_id)) return false
    if (completed !== undefined && (card.completed_at !== null) !== completed) return false
    return text === undefined || folded(card.title).includes(text) || folded(card.description).includes(text)
  }
}

// Composed (NFC), so that the same letters are the same however they were typed. Not NFKC: there one character
// can become eighteen, and whoever writes such a description would make every search slow.
function folded(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
