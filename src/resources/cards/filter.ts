import { blockersOf, type Card } from '../../model/card.ts'
import { fold, searchedWords, wordFinder } from './words.ts'
import { NONE, type CardSearchQuery } from './schema.ts'
import type { WorkStates } from './work-states.ts'

/** The filters of a list of cards, as cards.search takes them. All that are given must match. */
export interface CardFilter extends Omit<CardSearchQuery, 'limit' | 'cursor' | 'fields' | 'include' | 'sort' | 'order'> {
  /** the states of the cards of the board. Only with `ready` or `work_state` */
  readonly states?: WorkStates | undefined
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

/** The filters that no index of a column answers. */
const EXAMINED = [
  'work_state',
  'external_ref',
  'q',
  'blocker_id',
  'due_before',
  'due_after',
  'completed_before',
  'completed_after',
  'completed_by',
] as const

/** Whether no index of a column has exactly the cards that match a filter, so that cards are examined one by one. */
export function needsScan(filter: CardFilter): boolean {
  const { assignee_id, label_id, completed, ready, states } = filter
  // No index of ready cards has those that are ready again.
  if (ready === true && states?.hasDueCards === true) return true
  const isAnyOf = [assignee_id, label_id].some((given) => given !== undefined && onlyId(given) === undefined)
  if (isAnyOf || ready === false || EXAMINED.some((name) => filter[name] !== undefined)) return true
  return [assignee_id, label_id, completed, ready].filter((given) => given !== undefined).length > 1
}

/** Returns a predicate for the filters that the card itself decides. */
export function matcher(filter: CardFilter): (card: Card) => boolean {
  const { board_id, column_id, assignee_id, label_id, completed, completed_by, blocker_id, external_ref, q } = filter
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
    if (external_ref !== undefined && card.external_ref !== external_ref) return false
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
