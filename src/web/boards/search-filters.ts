import { OWN_ID } from '../../model/fields.ts'
import { DAY } from '../../model/time.ts'
import { searchedText } from './filters.ts'
import { isWorkChoice, type WorkChoice } from './work.ts'

/** The lists of cards of all boards: value → name. */
export const cardViews = {
  mine: 'Assigned to me',
  overdue: 'Overdue',
  week: 'Due in 7 days',
  recent: 'Recently changed',
} as const
export type CardView = keyof typeof cardViews

/** Which cards of all boards a person wants to see. */
export interface CardSearch {
  readonly view: CardView
  readonly q: string
  /** `me`, or empty: everybody. In one of the views it is always the person. */
  readonly assignee: string
  readonly state: 'open' | 'done' | 'all'
  readonly work: WorkChoice | ''
}

/** Whether a view has open cards only: what is done is not due. */
export function isAboutDue({ view }: CardSearch): boolean {
  return view === 'overdue' || view === 'week'
}

/** The state of the cards of a view, unless the person chooses another one. */
export function usualState(view: CardView): CardSearch['state'] {
  return view === 'recent' ? 'all' : 'open'
}

/** Whether a search is all that is the person's and open: what waits for them is shown first. */
export function isAllOfMine({ view, q, state, work }: CardSearch): boolean {
  return view === 'mine' && q === '' && state === usualState(view) && work === ''
}

/** Reads the search of an address. What makes no sense filters nothing. */
export function cardSearchOf(query: URLSearchParams): CardSearch {
  const text = (name: string) => (query.get(name) ?? '').trim()
  const q = searchedText(text('q'))
  const view = Object.hasOwn(cardViews, text('view')) ? (text('view') as CardView) : q === '' ? 'mine' : 'recent'
  const [state, work] = [text('state'), text('work')]
  return {
    view,
    q,
    assignee: text('assignee') === OWN_ID ? OWN_ID : '',
    state: state === 'open' || state === 'done' || state === 'all' ? state : usualState(view),
    work: isWorkChoice(work) ? work : '',
  }
}

/** The search as an address has it. */
export function addressOf({ view, q, assignee, state, work }: CardSearch, cursor = ''): string {
  return `?${new URLSearchParams(Object.entries({ view, q, assignee, state, work, cursor }).filter(([, value]) => value !== ''))}`
}

/** The search as the operation `cards.search` has it. */
export function searchQuery(search: CardSearch, now: number): Record<string, string | undefined> {
  const { view, q, assignee, state, work } = search
  const shown = isAboutDue(search) ? 'open' : state
  const time = (at: number) => new Date(at).toISOString()
  return {
    q: q === '' ? undefined : q,
    assignee_id: view === 'mine' || assignee !== '' ? OWN_ID : undefined,
    work_state: work === '' ? undefined : work,
    completed: shown === 'all' ? undefined : String(shown === 'done'),
    due_before: view === 'overdue' ? time(now) : view === 'week' ? time(now + 7 * DAY) : undefined,
    due_after: view === 'week' ? time(now) : undefined,
    sort: view === 'recent' ? 'updated_at' : 'due_at',
  }
}
