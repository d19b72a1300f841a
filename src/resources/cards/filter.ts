import { blockersOf, type Card } from '../../model/card.ts'
import { fold, searchedWords, wordFinder } from './words.ts'
import type { WorkFilter, WorkStates } from './work-states.ts'

/** In place of the id of a label or an assignee: cards without one. */
export const NONE = 'none'

/** The filters of a list of cards. All that are given must match. */
export interface CardFilter extends WorkFilter {
  /** the card must be in one of these columns */
  readonly column_id?: readonly string[] | undefined
  readonly board_id?: string | undefined
  /** users, one of whom must be assigned, or {@link NONE} */
  readonly assignee_id?: readonly string[] | undefined
  /** the card must have one of these labels, or {@link NONE} */
  readonly label_id?: readonly string[] | undefined
  readonly completed?: boolean | undefined
  /** the states of the cards of the board. Only with `ready` or `work_state` */
  readonly states?: WorkStates | undefined
  /** only cards that are archived, by themselves or with their column; otherwise only active ones */
  readonly archived: boolean
  /** words that title and description must have, see {@link searchedWords} */
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

/**
 * The ids that a filter names, if the cards of each have an index. Cards without an assignee or a label have none: an assignment can end
 * before it is removed.
 * @returns undefined if any card can match
 */
export function indexedIds(given: readonly string[] | undefined): readonly string[] | undefined {
  return given === undefined || given.includes(NONE) ? undefined : given
}

/** The id that a filter names alone, if its cards have an index. */
export function onlyId(given: readonly string[] | undefined): string | undefined {
  return given?.length === 1 ? indexedIds(given)?.[0] : undefined
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
  const isAnyOf = [assignee_id, label_id].some((given) => given !== undefined && onlyId(given) === undefined)
  if (isAnyOf || ready === false || examined.some((given) => given !== undefined)) return true
  return [assignee_id, label_id, completed, ready].filter((given) => given !== undefined).length > 1
}

/** Returns a predicate for the filters that the card itself decides. */
export function matcher(filter: CardFilter): (card: Card) => boolean {
  const { board_id, column_id, assignee_id, label_id, completed, completed_by, blocker_id, q } = filter
  const hasText = q === undefined ? undefined : textMatcher(searchedWords(q))
  const isDue = between(filter.due_after, filter.due_before)
  const isCompletedThen = between(filter.completed_after, filter.completed_before)
  const unready = filter.ready === true ? filter.states?.claimed : undefined
  return (card) => {
    if (unready?.has(card.id) === true) return false
    if (board_id !== undefined && card.board_id !== board_id) return false
    if (column_id !== undefined && !column_id.includes(card.column_id)) return false
    if (assignee_id !== undefined && !hasAny(card.assignee_ids, assignee_id)) return false
    if (label_id !== undefined && !hasAny(card.label_ids, label_id)) return false
    if (completed !== undefined && (card.completed_at !== null) !== completed) return false
    if (blocker_id !== undefined && !blockersOf(card).includes(blocker_id)) return false
    if (completed_by !== undefined && card.completed_by_id !== completed_by) return false
    if (!isDue(card.due_at) || !isCompletedThen(card.completed_at)) return false
    return hasText === undefined || hasText(card)
  }
}

/** Whether a card has one of the wanted ids, or none where that is wanted. */
function hasAny(ids: readonly string[], wanted: readonly string[]): boolean {
  return wanted.some((id) => (id === NONE ? ids.length === 0 : ids.includes(id)))
}

/** Returns a predicate for cards that have all words, each in the title or the description. */
function textMatcher(words: readonly string[]): (card: Card) => boolean {
  const finders = words.map(wordFinder)
  return ({ title, description }) => {
    const folded = fold(title)
    const others = finders.filter((isIn) => !isIn(folded))
    if (others.length === 0) return words.length > 0
    const text = fold(description)
    return others.every((isIn) => isIn(text))
  }
}

/** Returns a predicate for a time that is not before the first one, and before the second one. No time is between two. */
function between(after: string | undefined, before: string | undefined): (time: string | null) => boolean {
  if (after === undefined && before === undefined) return () => true
  return (time) => time !== null && (before === undefined || time < before) && (after === undefined || time >= after)
}
