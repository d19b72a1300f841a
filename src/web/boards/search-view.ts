import type { VNode } from 'preact'
import { OWN_ID } from '../../model/fields.ts'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { html } from '../html.ts'
import { renderDay, renderDistance } from '../times.ts'
import type { ListedCard } from './board-data.ts'
import { renderCrumbs } from './crumbs.ts'
import { doneSign } from './icons.ts'
import { renderPerson, type People } from './people.ts'
import { addressOf, cardViews, isAboutDue, type CardSearch, type CardView, usualState } from './search-filters.ts'
import { renderSearchForm } from './search-form.ts'
import { renderDue } from './tile.ts'

/** A page of the cards that a search has found. */
export interface FoundCards {
  readonly cards: readonly ListedCard[]
  /** the board of each card, with its columns */
  readonly boards: ReadonlyMap<string, BoardSnapshot>
  readonly people: People
  /** the cursor of the cards after these; undefined: there are none */
  readonly next: string | undefined
  readonly isContinued: boolean
}

const EMPTY: Readonly<Record<CardView, string>> = {
  mine: 'No card that is assigned to you matches.',
  overdue: 'Nothing is overdue.',
  week: 'Nothing is due in the next 7 days.',
  recent: 'No cards yet.',
}

/** @param base the path of the workspace */
export function renderSearch(search: CardSearch, found: FoundCards, workspace: string, base: string, now: number): VNode {
  const { view, q, assignee } = search
  const { cards, next, isContinued } = found
  return html`
    ${renderCrumbs([['Boards', '/app'], [workspace]])}
    <h1>Cards of all boards</h1>
    <nav class="tabs" aria-label="Lists of cards">
      ${Object.entries(cardViews).map(([name, label]) => {
        // What a tab is about is its own: only the words of the search go with it.
        const address = name === view ? addressOf(search) : `?${new URLSearchParams({ view: name, ...(q !== '' && { q }) })}`
        return html`<a href=${address} aria-current=${name === view ? 'page' : undefined}>${label}</a>`
      })}
    </nav>
    ${renderSearchForm({ action: `${base}/cards`, view, q, filters: filtersOf(search) })}
    ${
      cards.length === 0
        ? html`<p class="empty">
            ${isContinued ? 'There are no further cards.' : q !== '' ? `No card here has “${q}” in its title or description.` : assignee !== '' ? 'No card that is assigned to you is here.' : EMPTY[view]}
            ${q !== '' && view !== 'recent' && html` <a href=${addressOf({ view: 'recent', q, assignee: '', state: 'all' })}>Search all cards</a>`}
          </p>`
        : html`<ul class="found-cards">
            ${cards.map((card) => renderRow(card, found, base, now, view))}
          </ul>`
    }
    ${(next !== undefined || isContinued) && html`<p class="actions">${isContinued && html`<a href=${addressOf(search)}>First cards</a>`}${next !== undefined && html` <a class="button" href=${addressOf(search, next)}>More cards</a>`}</p>`}
  `
}

function filtersOf(search: CardSearch) {
  const { view, assignee, state } = search
  const ofAssignee = [
    ['', 'Everyone'],
    [OWN_ID, 'Me'],
  ] as const
  const ofState = [
    ['open', 'Open'],
    ['done', 'Done'],
    ['all', 'Open and done'],
  ] as const
  return [
    ...(view === 'mine' ? [] : [{ name: 'assignee', label: 'Assignee', chosen: assignee, choices: ofAssignee }]),
    ...(isAboutDue(search) ? [] : [{ name: 'state', label: 'State', chosen: state, unset: usualState(view), choices: ofState }]),
  ]
}

function renderRow(card: ListedCard, { boards, people }: FoundCards, base: string, now: number, view: CardView): VNode {
  const { id, title, board_id, column_id, due_at, completed_at, assignee_ids, updated_at } = card
  const board = boards.get(board_id)!
  const column = board.columns?.find((one) => one.id === column_id)
  return html`<li class=${completed_at === null ? '' : 'completed'}>
    <a class="found-title" href="${base}/cards/${id}">${title}</a>
    <p class="hint">
      <a href="${base}/boards/${board_id}">${board.name}</a
      >${column && html` · ${column.name}`}${view === 'recent' && html` · changed ${renderDistance(updated_at, now)}`}
    </p>
    <p class="facts">
      ${completed_at !== null && doneSign()} ${due_at !== null && renderDue({ due_at, completed_at }, renderDay(due_at, now), now)}
      ${assignee_ids.map((userId) => renderPerson(userId, people.nameOf(userId)))}
    </p>
  </li>`
}
