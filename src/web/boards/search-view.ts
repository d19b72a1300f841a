import type { VNode } from 'preact'
import { limits } from '../../model/limits.ts'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { html } from '../html.ts'
import { renderDay, renderDistance } from '../times.ts'
import type { ListedCard } from './board-data.ts'
import { renderDue } from './board-view.ts'
import { icon } from './icons.ts'
import { renderPerson, type People } from './people.ts'
import { addressOf, cardViews, isAboutDue, type CardSearch, type CardView } from './search-filters.ts'

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
    <nav class="crumbs" aria-label="Breadcrumb"><a href="/app">Boards</a> <span aria-hidden="true">/</span> ${workspace}</nav>
    <h1>Cards of all boards</h1>
    <nav class="tabs" aria-label="Lists of cards">
      ${Object.entries(cardViews).map(([name, label]) => {
        // What a tab is about is its own: only the words of the search go with it.
        const address = name === view ? addressOf(search) : `?${new URLSearchParams({ view: name, ...(q !== '' && { q }) })}`
        return html`<a href=${address} aria-current=${name === view ? 'page' : undefined}>${label}</a>`
      })}
    </nav>
    ${renderForm(search, `${base}/cards`)}
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

function renderForm(search: CardSearch, path: string): VNode {
  const { view, q, assignee, state } = search
  const option = (value: string, chosen: string, label: string) =>
    html`<option value=${value} selected=${value === chosen}>${label}</option>`
  return html`<search>
    <form class="board-filters" method="get" action=${path}>
      <input type="hidden" name="view" value=${view} />
      <label class="board-filter name"
        ><span class="unseen">Search in title and description</span>
        <input type="search" name="q" value=${q} placeholder="Search cards" maxlength=${limits.searchText} autocomplete="off" data-search />
      </label>
      ${
        view !== 'mine' &&
        html`<label class="board-filter"
          ><span class="unseen">Assignee</span>
          <select name="assignee">
            ${option('', assignee, 'Everyone')} ${option('me', assignee, 'Me')}
          </select></label
        >`
      }
      ${
        !isAboutDue(search) &&
        html`<label class="board-filter"
          ><span class="unseen">State</span>
          <select name="state">
            ${option('open', state, 'Open')} ${option('done', state, 'Done')} ${option('all', state, 'Open and done')}
          </select></label
        >`
      }
      <button>Search</button>
    </form>
  </search>`
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
      ${completed_at !== null && html`<span class="fact done">${icon('done')}Done</span>`}
      ${due_at !== null && renderDue({ due_at, completed_at }, renderDay(due_at, now), now)}
      ${assignee_ids.map((userId) => renderPerson(userId, people.nameOf(userId)))}
    </p>
  </li>`
}

/** Links to the cards of a workspace, with a field to search them. @param base the path of the workspace */
export function renderCardLinks(base: string, workspace: string): VNode {
  return html`<div class="card-links">
    <search>
      <form class="board-filters" method="get" action="${base}/cards">
        <label class="board-filter name"
          ><span class="unseen">Search the cards of ${workspace}</span>
          <input type="search" name="q" placeholder="Search cards" maxlength=${limits.searchText} autocomplete="off" data-search />
        </label>
        <button>Search</button>
      </form>
    </search>
    <a href="${base}/cards?view=mine">My cards</a> <a href="${base}/cards?view=overdue">Overdue</a>
  </div>`
}
