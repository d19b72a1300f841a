import { blockersOf, type Card } from '../../model/card.ts'
import type { WorkFilter, WorkStates } from './work-states.ts'

/** In place of the id of an assignee: cards without one. */
export const UNASSIGNED = 'none'

/** The filters of a list of cards. All that are given must match. */
export interface CardFilter extends WorkFilter {
  readonly column_id?: string | undefined
  readonly board_id?: string | undefined
  /** a user, or {@link UNASSIGNED} */
  readonly assignee_id?: string | undefined
  readonly label_id?: string | undefined
  readonly completed?: boolean | undefined
  /** the states of the cards of the board. Only with `ready` or `work_state` */
  readonly states?: WorkStates | undefined
  /** only cards that are archived, by themselves or with their column; otherwise only active ones */
  readonly archived: boolean
  /** searched in title and description, without regard to case */
  readonly q?: string | undefined
  /** only cards that have this card as a blocker */
  readonly blocker_id?: string | undefined
  /** only cards that are due before this time */
  readonly due_before?: string | undefined
  /** only cards that are due at this time or later */
  readonly due_after?: string | undefined
  /** only cards that were completed before this time */
  readonly completed_before?: string | undefined
  /** only cards that were completed at this time or later */
  readonly completed_after?: string | undefined
  /** only cards that this user has completed */
  readonly completed_by?: string | undefined
}

/** The user of a filter whose assignments have an index. Cards without an assignee have none: an assignment can end before it is removed. */
export function assigneeOf({ assignee_id }: Pick<CardFilter, 'assignee_id'>): string | undefined {
  return assignee_id === UNASSIGNED ? undefined : assignee_id
}

/** Whether no index of a column has exactly the cards that match a filter, so that cards are examined one by one. */
export function needsScan(filter: CardFilter): boolean {
  const {
    assignee_id,
    label_id,
    completed,
    ready,
    work_state,
    states,
    q,
    due_before,
    due_after,
    completed_before,
    completed_after,
    completed_by,
    blocker_id,
  } = filter
  const examined = [work_state, q, blocker_id, due_before, due_after, completed_before, completed_after, completed_by]
  // No index of ready cards has those that are ready again.
  if (ready === true && states?.hasDueCards === true) return true
  if (assignee_id === UNASSIGNED || ready === false || examined.some((given) => given !== undefined)) return true
  return [assignee_id, label_id, completed, ready].filter((given) => given !== undefined).length > 1
}

/** Returns a predicate for the filters that the card itself decides. */
export function matcher(filter: CardFilter): (card: Card) => boolean {
  const { board_id, column_id, assignee_id, label_id, completed, completed_by, blocker_id, q } = filter
  const text = q === undefined ? undefined : fold(q)
  const isDue = between(filter.due_after, filter.due_before)
  const isCompletedThen = between(filter.completed_after, filter.completed_before)
  const unready = filter.ready === true ? filter.states?.claimed : undefined
  return (card) => {
    if (unready?.has(card.id) === true) return false
    if (board_id !== undefined && card.board_id !== board_id) return false
    if (column_id !== undefined && card.column_id !== column_id) return false
    if (assignee_id === UNASSIGNED && card.assignee_ids.length > 0) return false
    if (assignee_id !== undefined && assignee_id !== UNASSIGNED && !card.assignee_ids.includes(assignee_id)) return false
    if (label_id !== undefined && !card.label_ids.includes(label_id)) return false
    if (completed !== undefined && (card.completed_at !== null) !== completed) return false
    if (blocker_id !== undefined && !blockersOf(card).includes(blocker_id)) return false
    if (completed_by !== undefined && card.completed_by_id !== completed_by) return false
    if (!isDue(card.due_at) || !isCompletedThen(card.completed_at)) return false
    return text === undefined || fold(card.title).includes(text) || fold(card.description).includes(text)
  }
}

/** Returns a predicate for a time that is not before the first one, and before the second one. No time is between two. */
function between(after: string | undefined, before: string | undefined): (time: string | null) => boolean {
  if (after === undefined && before === undefined) return () => true
  return (time) => time !== null && (before === undefined || time < before) && (after === undefined || time >= after)
}

// NFC makes equal letters equal, however they were typed. NFKC would expand one character to up to eighteen, so that a
// long description could slow down every search.
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
