import type { VNode } from 'preact'
import { OWN_ID } from '../../model/fields.ts'
import type { Label } from '../../model/label.ts'
import { html } from '../html.ts'
import { renderDay, renderDistance, renderTime } from '../times.ts'
import type { Claimed } from './authors.ts'
import { offeredOnTiles, renderAddCard, renderAddColumn, renderLaneMenu } from './board-controls.ts'
import type { BoardData, Lane, ListedCard } from './board-data.ts'
import type { Controls } from './controls.ts'
import { dueChoices, dueState, searchOf, type BoardFilters, type DueState } from './filters.ts'
import { doneSign, icon, swatch } from './icons.ts'
import { renderPerson } from './people.ts'
import type { Reader } from './reader.ts'
import { renderSearchForm } from './search-form.ts'

/** Labels and people that a card on a board shows; the others are counted. */
const SHOWN = { labels: 4, people: 3 }

/** What the parts of a board are rendered with. */
export interface BoardView {
  readonly reader: Reader
  readonly data: BoardData
  readonly controls: Controls
}

/** The columns of a board. */
export function renderLanes(view: BoardView): VNode {
  const { reader, data, controls } = view
  const { board, lanes, filters } = data
  return html`<div class="lanes" id="lanes" data-merge>
    ${lanes.map(({ column, cards, cursor }) => {
      const { id, name } = column
      return html`<section class="lane" id=${id} data-merge aria-labelledby="${id}-name">
        <div class="lane-head" id="${id}-head" data-merge>
          <h2 class="lane-name" id="${id}-name">
            <span data-name>${name}</span> ${renderCount(cards.length, column, cursor !== undefined)}
          </h2>
          ${renderLaneMenu(controls, column)}
        </div>
        <ol class="tiles" id="${id}-cards" data-merge>
          ${cards.map((card) => renderTile(card, view))}
        </ol>
        ${
          cursor !== undefined &&
          html`<p class="more" id="${id}-more">
            <a href="${reader.base}/boards/${board.id}${searchOf(filters, { column: id, cursor })}"
              >More cards<span class="unseen"> of ${name}</span></a
            >
          </p>`
        }
        ${renderAddCard(controls, column)}
      </section>`
    })}
    ${!data.isPart && renderAddColumn(controls, board.id)}
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

function renderTile(card: ListedCard, { reader: { base }, data, controls }: BoardView): VNode {
  const { id, title, label_ids, assignee_ids, cover_attachment_id, completed_at } = card
  const { people, now } = data
  return html`<li class=${completed_at === null ? 'tile' : 'tile completed'} id=${id}>
    ${cover_attachment_id !== null && html`<img class="cover" src="${base}/attachments/${cover_attachment_id}" alt="" loading="lazy" decoding="async" />`}
    ${renderLabels(label_ids, data.board.labels ?? [])}
    <a class="tile-title" href="${base}/cards/${id}">${title}</a>
    ${
      // The menu is made by the script; without it, the page of the card has the same actions.
      offeredOnTiles(controls).length > 0 &&
      html`<button type="button" class="tile-menu" aria-haspopup="menu" aria-label="Actions: ${title}">⋯</button>`
    }
    ${renderFacts(card, now)} ${renderHolder(card, data)}
    ${
      assignee_ids.length > 0 &&
      html`<p class="people">
        ${assignee_ids.slice(0, SHOWN.people).map((userId) => renderPerson(userId, people.nameOf(userId)))}
        ${assignee_ids.length > SHOWN.people && html`<span class="hint">+${assignee_ids.length - SHOWN.people}</span>`}
      </p>`
    }
  </li>`
}

function renderLabels(ids: readonly string[], labels: readonly Label[]): VNode | undefined {
  const known = ids.flatMap((id) => labels.find((label) => label.id === id) ?? [])
  if (known.length === 0) return undefined
  return html`<p class="labels">
    <span class="unseen">Labels: </span>
    ${known.slice(0, SHOWN.labels).map(({ color, name }) => html`<span class="label">${swatch(color, 'dot')}${name}</span>`)}
    ${known.length > SHOWN.labels && html`<span class="label">+${known.length - SHOWN.labels}</span>`}
  </p>`
}

const DUE_WORDS: Readonly<Record<DueState, string>> = { done: '', overdue: 'overdue since ', soon: 'due soon: ', later: 'due ' }

/** The due time of a card: a colored sign and the time, as a page shows it. */
export function renderDue(card: { due_at: string; completed_at: string | null }, time: VNode, now: number): VNode {
  const state = dueState(card, now)
  return html`<span class="fact due ${state}">${icon('due')}<span class="unseen">${DUE_WORDS[state]}</span>${time}</span>`
}

function renderFacts({ due_at, completed_at, description, counts }: ListedCard, now: number): VNode | undefined {
  const facts = [
    completed_at !== null && doneSign(),
    due_at !== null && renderDue({ due_at, completed_at }, renderDay(due_at, now), now),
    description !== '' && html`<span class="fact">${icon('description')}<span class="unseen">has a description</span></span>`,
    ...(['subtasks', 'comments', 'attachments'] as const).map((name) => {
      const count = counts?.[name] ?? 0
      return (
        count > 0 &&
        html`<span class="fact">${icon(name)}${count}<span class="unseen"> ${count === 1 ? name.slice(0, -1) : name}</span></span>`
      )
    }),
  ].filter((fact) => fact !== false)
  return facts.length === 0 ? undefined : html`<p class="facts">${facts}</p>`
}

/** Who holds a card on a board, and for how long. */
function renderHolder({ claim }: Claimed, { holders, now }: BoardData): VNode | undefined {
  if (claim == null) return undefined
  const { token_id, expires_at } = claim
  return html`<p class="holder">
    ${icon('claim')}<span>Claimed by ${holders.get(token_id)}, until ${renderTime(expires_at)} (${renderDistance(expires_at, now)})</span>
  </p>`
}

/** The form of the filters. With JavaScript, a choice applies at once. */
export function renderFilters({ board, people, filters }: BoardData, action: string): VNode {
  const byName = people.members.toSorted((a, b) => a.display_name.localeCompare(b.display_name, 'en'))
  const choose = (name: keyof BoardFilters, label: string, all: string, choices: readonly (readonly [string, string])[]) => ({
    name,
    label,
    chosen: filters[name],
    choices: [['', all], ...choices] as const,
  })
  return renderSearchForm({
    action,
    q: filters.q,
    isLive: true,
    filters: [
      choose(
        'label',
        'Label',
        'All labels',
        (board.labels ?? []).map(({ id, name }) => [id, name] as const),
      ),
      choose('assignee', 'Assignee', 'Everyone', [
        [OWN_ID, 'Me'],
        ...byName.map(({ user_id, display_name }) => [user_id, display_name] as const),
      ]),
      choose('due', 'Due', 'Any time', Object.entries(dueChoices)),
      choose('state', 'State', 'Open and done', [
        ['open', 'Open'],
        ['done', 'Done'],
      ]),
    ],
  })
}
