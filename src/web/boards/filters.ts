import type { Card } from '../../model/card.ts'
import { OWN_ID } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { DAY } from '../../model/time.ts'
import { MAX_IDS, NONE } from '../../resources/cards/schema.ts'
import { hasWords } from '../../resources/cards/words.ts'
import { isWorkChoice, type WorkChoice } from './work.ts'

/** The choices of the filter for due times: value → label. */
export const dueChoices = {
  overdue: 'Overdue',
  week: 'Due in 7 days',
  any: 'With a due date',
  none: 'Without a due date',
} as const
export type DueChoice = keyof typeof dueChoices

/** What a person wants to see of a board. */
export interface BoardFilters {
  readonly q: string
  /** ids of labels, and `none`: cards with one of them */
  readonly label: readonly string[]
  /** ids of users, `me` and `none`: cards that one of them is assigned to */
  readonly assignee: readonly string[]
  readonly due: DueChoice | ''
  readonly state: 'open' | 'done' | ''
  readonly work: WorkChoice | ''
}

/** Reads the filters of an address. What makes no sense filters nothing. */
export function filtersOf(query: URLSearchParams): BoardFilters {
  const text = (name: string) => (query.get(name) ?? '').trim()
  const all = (name: string) => [...new Set(query.getAll(name).flatMap((value) => value.split(',')))].filter((value) => value.trim() !== '')
  const [state, work] = [text('state'), text('work')]
  return {
    q: searchedText(text('q')),
    label: all('label'),
    assignee: all('assignee'),
    due: Object.hasOwn(dueChoices, text('due')) ? (text('due') as DueChoice) : '',
    state: state === 'open' || state === 'done' ? state : '',
    work: isWorkChoice(work) ? work : '',
  }
}

/** The words of a search field, as the operations take them; '' if there are none. */
export function searchedText(text: string): string {
  const q = [...text].slice(0, limits.searchText).join('')
  return hasWords(q) ? q : ''
}

export function isFiltered(filters: BoardFilters): boolean {
  return Object.values(filters).some((value) => value.length > 0)
}

/** The filters as an address has them, with further parameters. */
export function searchOf(filters: BoardFilters, further: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries<string | readonly string[]>({ ...filters, ...further })
    .flatMap(([name, value]) => [value].flat().map((one) => [name, one]))
    .filter(([, value]) => value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

/**
 * The filters that the operation `cards.list` knows. What an old address names and is not there any more filters nothing.
 * @param labels the board's
 * @param users the workspace's members
 */
export function cardQuery(
  { q, label, assignee, state, work }: BoardFilters,
  labels: readonly { readonly id: string }[],
  users: readonly { readonly user_id: string }[],
): Record<string, string | undefined> {
  return {
    q: q === '' ? undefined : q,
    label_id: listOf(label.filter((one) => one === NONE || labels.some(({ id }) => id === one))),
    assignee_id: listOf(assignee.filter((one) => one === OWN_ID || one === NONE || users.some(({ user_id }) => user_id === one))),
    completed: state === '' ? undefined : String(state === 'done'),
    work_state: work === '' ? undefined : work,
  }
}

function listOf(values: readonly string[]): string | undefined {
  return values.length === 0 ? undefined : values.slice(0, MAX_IDS).join(',')
}

/** Whether a card matches the filter that the operation does not know. */
export function matchesDue({ due }: BoardFilters, { due_at, completed_at }: Card, now: number): boolean {
  if (due === '') return true
  if (due_at === null || due === 'none') return (due_at === null) === (due === 'none')
  if (due === 'any') return true
  if (completed_at !== null) return false
  const isOverdue = dueState({ due_at, completed_at }, now) === 'overdue'
  return due === 'overdue' ? isOverdue : !isOverdue && Date.parse(due_at) - now <= 7 * DAY
}

export type DueState = 'done' | 'overdue' | 'soon' | 'later'

/** How near the due time of a card is. */
export function dueState({ due_at, completed_at }: { due_at: string; completed_at: string | null }, now: number): DueState {
  if (completed_at !== null) return 'done'
  const remaining = Date.parse(due_at) - now
  return remaining <= 0 ? 'overdue' : remaining <= 2 * DAY ? 'soon' : 'later'
}
