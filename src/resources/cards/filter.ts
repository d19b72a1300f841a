import type { Card } from '../../model/card.ts'
import { isId } from '../../model/ids.ts'

/** The filters of a list of cards. All that are given must match. */
export interface CardFilter {
  readonly column_id?: string | undefined
  readonly assignee_id?: string | undefined
  readonly label_id?: string | undefined
  readonly completed?: boolean | undefined
  /** only cards that are archived, by themselves or with their column; otherwise only active ones */
  readonly archived: boolean
  /** searched in title and description, without regard to case */
  readonly q?: string | undefined
  /** only cards that are due before this time */
  readonly due_before?: string | undefined
  /** only cards that are due at this time or later */
  readonly due_after?: string | undefined
}

/** The filter of a query. `me` stands for the caller. */
export function filterOf<Query extends CardFilter>(query: Query, { userId }: { readonly userId: string }): Query {
  return query.assignee_id === 'me' ? { ...query, assignee_id: userId } : query
}

/** Whether a filter holds a malformed id. The list is then empty, as it is for an id of another board. */
export function isEmpty({ column_id, assignee_id, label_id }: CardFilter): boolean {
  const malformed = (kind: 'column' | 'user' | 'label', id: string | undefined) => id !== undefined && !isId(kind, id)
  return malformed('column', column_id) || malformed('user', assignee_id) || malformed('label', label_id)
}

/** Whether no index of a column has exactly the cards that match a filter, so that cards are examined one by one. */
export function needsScan({ assignee_id, label_id, completed, q, due_before, due_after }: CardFilter): boolean {
  if (q !== undefined || due_before !== undefined || due_after !== undefined) return true
  return [assignee_id, label_id, completed].filter((given) => given !== undefined).length > 1
}

/** Returns a predicate for the filters that the card itself decides. */
export function matcher(filter: CardFilter): (card: Card) => boolean {
  const { column_id, assignee_id, label_id, completed, q, due_before, due_after } = filter
  const text = q === undefined ? undefined : fold(q)
  return (card) => {
    if (column_id !== undefined && card.column_id !== column_id) return false
    if (assignee_id !== undefined && !card.assignee_ids.includes(assignee_id)) return false
    if (label_id !== undefined && !card.label_ids.includes(label_id)) return false
    if (completed !== undefined && (card.completed_at !== null) !== completed) return false
    if (due_before !== undefined && (card.due_at === null || card.due_at >= due_before)) return false
    if (due_after !== undefined && (card.due_at === null || card.due_at < due_after)) return false
    return text === undefined || fold(card.title).includes(text) || fold(card.description).includes(text)
  }
}

// NFC makes equal letters equal, however they were typed. NFKC would expand one character to up to eighteen, so that a
// long description could slow down every search.
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
