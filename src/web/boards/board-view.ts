import type { VNode } from 'preact'
import type { Label } from '../../model/label.ts'
import { html } from '../html.ts'
import { renderAddCard, renderAddColumn, renderLaneMenu, renderTileButton, type BoardControls } from './board-controls.ts'
import type { BoardData, Lane, ListedCard } from './board-data.ts'
import { renderDay } from '../times.ts'
import { dueState, searchOf, type BoardFilters, type DueState } from './filters.ts'
import { renderHolder, type Holders } from './holders.ts'
import { icon, swatch } from './icons.ts'
import { renderPerson, type People } from './people.ts'

/** Labels and people that a card on a board shows; the others are counted. */
const SHOWN = { labels: 4, people: 3 }

/** What the parts of a board are rendered with. */
export interface BoardView extends Pick<BoardData, 'people'> {
  readonly labels: ReadonlyMap<string, Label>
  /** the path of the workspace */
  readonly base: string
  readonly now: number
  readonly holders: Holders
  readonly controls: BoardControls
  /** whether only one of its columns is shown */
  readonly isPart: boolean
}

/** The columns of a board. @param boardPath the path of the board, for links to the rest of a column */
export function renderLanes(lanes: readonly Lane[], view: BoardView, boardPath: string, filters: BoardFilters): VNode {
  return html`<div class="lanes" id="lanes" data-merge>
    ${lanes.map(({ column, cards, cursor }) => {
      const more = searchOf(filters, { column: column.id, ...(cursor === undefined ? {} : { cursor }) })
      return html`<section class="lane" id=${column.id} data-merge aria-labelledby="${column.id}-name">
        <div class="lane-head" id="${column.id}-head" data-merge>
          <h2 class="lane-name" id="${column.id}-name">
            <span data-name>${column.name}</span> ${renderCount(cards.length, column, cursor !== undefined)}
          </h2>
          ${renderLaneMenu(view.controls, column)}
        </div>
        <ol class="tiles" id="${column.id}-cards" data-merge>
          ${cards.map((card) => renderTile(card, view))}
        </ol>
        ${
          cursor !== undefined &&
          html`<p class="more" id="${column.id}-more">
            <a href=${boardPath + more}>More cards<span class="unseen"> of ${column.name}</span></a>
          </p>`
        }
        ${renderAddCard(view.controls, column)}
      </section>`
    })}
    ${!view.isPart && renderAddColumn(view.controls)}
  </div>`
}

/** How many cards a column shows, and how many it may have. */
function renderCount(count: number, { wip_limit }: Lane['column'], hasMore: boolean): VNode {
  const isOver = wip_limit !== null && count > wip_limit
  return html`<span class="count ${isOver ? 'over' : ''}"
    >${count}${hasMore && '+'}<span class="unseen"> cards</span>${wip_limit !== null && html` · limit ${wip_limit}`}${
      isOver && html`<span class="unseen">, which is exceeded</span>`
    }</span
  >`
}

function renderTile(card: ListedCard, { labels, people, base, now, holders, controls }: BoardView): VNode {
  const { id, title, label_ids, assignee_ids, cover_attachment_id, completed_at } = card
  return html`<li class=${completed_at === null ? 'tile' : 'tile completed'} id=${id}>
    ${cover_attachment_id !== null && html`<img class="cover" src="${base}/attachments/${cover_attachment_id}" alt="" loading="lazy" decoding="async" />`}
    ${renderLabels(label_ids, labels, SHOWN.labels)}
    <a class="tile-title" href="${base}/cards/${id}">${title}</a>
    ${renderTileButton(controls, title)} ${renderFacts(card, now)} ${renderHolder(card, holders, now)}
    ${
      assignee_ids.length > 0 &&
      html`<p class="people">
        ${assignee_ids.slice(0, SHOWN.people).map((userId) => renderPerson(userId, people.nameOf(userId)))}
        ${assignee_ids.length > SHOWN.people && html`<span class="hint">+${assignee_ids.length - SHOWN.people}</span>`}
      </p>`
    }
  </li>`
}

/** The labels of a card. @param limit how many are named */
function renderLabels(ids: readonly string[], labels: ReadonlyMap<string, Label>, limit = Infinity): VNode | undefined {
  const known = ids.map((id) => labels.get(id)).filter((label) => label !== undefined)
  if (known.length === 0) return undefined
  return html`<p class="labels">
    <span class="unseen">Labels: </span>
    ${known.slice(0, limit).map((label) => html`<span class="label">${swatch(label.color, 'dot')}${label.name}</span>`)}
    ${known.length > limit && html`<span class="label">+${known.length - limit}</span>`}
  </p>`
}

const DUE_WORDS: Readonly<Record<DueState, string>> = { done: '', overdue: 'overdue since ', soon: 'due soon: ', later: 'due ' }

/** The due time of a card: a colored sign and the time, as a page shows it. */
export function renderDue(card: { due_at: string; completed_at: string | null }, time: VNode, now: number): VNode {
  const state = dueState(card, now)
  return html`<span class="fact due ${state}">${icon('due')}<span class="unseen">${DUE_WORDS[state]}</span>${time}</span>`
}

function renderFacts(card: ListedCard, now: number): VNode | undefined {
  const { due_at, completed_at, description, counts } = card
  const count = (name: 'subtasks' | 'comments' | 'attachments') =>
    counts !== undefined &&
    counts[name] > 0 &&
    html`<span class="fact"
      >${icon(name)}${counts[name]}<span class="unseen"> ${counts[name] === 1 ? name.slice(0, -1) : name}</span></span
    >`
  const facts = [
    completed_at !== null && html`<span class="fact done">${icon('done')}Done</span>`,
    due_at !== null && renderDue({ due_at, completed_at }, renderDay(due_at, now), now),
    description !== '' && html`<span class="fact">${icon('description')}<span class="unseen">has a description</span></span>`,
    count('subtasks'),
    count('comments'),
    count('attachments'),
  ].filter((fact) => fact !== false)
  return facts.length === 0 ? undefined : html`<p class="facts">${facts}</p>`
}

/** The form of the filters. It works without JavaScript; with it, a choice applies at once. */
export function renderFilters(
  { labels, people }: BoardData,
  filters: BoardFilters,
  path: string,
  dues: Readonly<Record<string, string>>,
): VNode {
  const select = (name: keyof BoardFilters, label: string, all: string, choices: readonly (readonly [value: string, text: string])[]) =>
    html`<label class="board-filter"
      ><span class="unseen">${label}</span>
      <select name=${name} class=${filters[name] === '' ? '' : 'chosen'}>
        <option value="">${all}</option>
        ${choices.map(([value, text]) => html`<option value=${value} selected=${filters[name] === value}>${text}</option>`)}
      </select></label
    >`
  return html`<search id="filter-box" data-keep>
    <form class="board-filters" id="filters" method="get" action=${path} data-filters>
      <label class="board-filter name"
        ><span class="unseen">Search in title and description</span>
        <input type="search" name="q" value=${filters.q} placeholder="Search cards" maxlength="200" autocomplete="off" data-search />
      </label>
      ${select(
        'label',
        'Label',
        'All labels',
        labels.map(({ id, name }) => [id, name] as const),
      )}
      ${select('assignee', 'Assignee', 'Everyone', [['me', 'Me'], ...byName(people).map(({ user_id, display_name }) => [user_id, display_name] as const)])}
      ${select('due', 'Due', 'Any time', Object.entries(dues))}
      ${select('state', 'State', 'Open and done', [
        ['open', 'Open'],
        ['done', 'Done'],
      ])}
      <button data-apply>Apply</button>
    </form>
  </search>`
}

function byName({ members }: People): People['members'] {
  return members.toSorted((a, b) => a.display_name.localeCompare(b.display_name, 'en'))
}
