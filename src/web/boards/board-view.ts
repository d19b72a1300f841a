import type { VNode } from 'preact'
import { OWN_ID } from '../../model/fields.ts'
import { NONE } from '../../resources/cards/schema.ts'
import { HOLE } from '../document.ts'
import { html } from '../html.ts'
import { renderAddCard, renderAddColumn, renderLaneMenu } from './board-controls.ts'
import type { BoardData, Lane } from './board-data.ts'
import type { Controls } from './controls.ts'
import { countTexts, isOver } from './counts.ts'
import { icon } from './icons.ts'
import { dueChoices, searchOf, type BoardFilters } from './filters.ts'
import type { Reader } from '../reader.ts'
import { renderSearchForm } from './search-form.ts'
import { tileHtml } from './tile.ts'
import { workWords } from './work.ts'

/** What the parts of a board are rendered with. */
export interface BoardView {
  readonly reader: Reader
  readonly data: BoardData
  readonly controls: Controls
}

/** The columns of a board. Each has a hole for its tiles. */
export function renderLanes({ reader, data, controls }: BoardView): VNode {
  const { board, lanes, filters, isPart } = data
  return html`<div class="lanes" id="lanes" data-merge>
    ${lanes.map((lane) => {
      const { column, cursor } = lane
      const address = cursor && `${reader.base}/boards/${board.id}${searchOf(filters, { column: column.id, cursor })}`
      return renderLane(controls, lane, HOLE, address)
    })}
    ${!isPart && renderAddColumn(controls, board.id)}
  </div>`
}

/** What is in the holes of the columns: the tiles of each. */
export function tilesOf({ lanes, tiles }: BoardData): Buffer[][] {
  return lanes.map(({ cards }) => cards.map((card) => tileHtml(card, tiles)))
}

/**
 * A column.
 * @param tiles their HTML
 * @param more the address of the cards that it does not show
 */
export function renderLane(controls: Controls, { column, cards }: Pick<Lane, 'column' | 'cards'>, tiles: string, more?: string): VNode {
  const { id, name, position, completes } = column
  return html`<section class="lane" id=${id} data-merge data-position=${position} aria-labelledby="${id}-name">
    <div class="lane-head" id="${id}-head" data-merge>
      <h2 class="lane-name" id="${id}-name"><bdi data-name>${name}</bdi> ${renderCount(cards.length, column, more !== undefined)}</h2>
      ${completes && html`<span class="fact done" id="${id}-completes" title="Cards that come here are done">${icon('done')}<span class="unseen">Cards that come here are done</span></span>`}
      ${renderLaneMenu(controls, column)}
    </div>
    <ol class="tiles" id="${id}-cards" data-merge dangerouslySetInnerHTML=${{ __html: tiles }}></ol>
    ${
      more !== undefined &&
      html`<p class="more" id="${id}-more" data-last="${cards.at(-1)?.position} ${cards.at(-1)?.id}">
        <a href=${more}
          >More cards<span class="unseen"> of <bdi>${name}</bdi></span></a
        >
      </p>`
    }
    ${renderAddCard(controls, column)}
  </section>`
}

/** How many cards a column shows, and how many it may have. The script writes it anew when cards come and go. */
function renderCount(count: number, { wip_limit }: Lane['column'], hasMore: boolean): VNode {
  return html`<span class="count ${isOver(count, wip_limit) ? 'over' : ''}" data-count data-limit=${wip_limit}
    >${countTexts(count, wip_limit, hasMore).map(([text, isUnseen]) => (isUnseen ? html`<span class="unseen">${text}</span>` : text))}</span
  >`
}

/** The form of the filters. With JavaScript, a choice applies at once. */
export function renderFilters({ board, people, filters }: BoardData, action: string): VNode {
  const byName = people.members.toSorted((a, b) => a.display_name.localeCompare(b.display_name, 'en'))
  const choose = (name: keyof BoardFilters, label: string, choices: readonly (readonly [string, string])[]) => ({
    name,
    label,
    chosen: filters[name],
    choices,
  })
  return renderSearchForm({
    action,
    q: filters.q,
    isLive: true,
    filters: [
      choose('label', 'Labels', [...(board.labels ?? []).map(({ id, name }) => [id, name] as const), [NONE, 'Without a label'] as const]),
      choose('assignee', 'Assignees', [
        [OWN_ID, 'Me'],
        [NONE, 'Nobody'],
        ...byName.map(({ user_id, display_name }) => [user_id, display_name] as const),
      ]),
      choose('due', 'Due', [['', 'Any time'], ...Object.entries(dueChoices)]),
      choose('state', 'State', [
        ['', 'Open and done'],
        ['open', 'Open'],
        ['done', 'Done'],
      ]),
      choose('work', 'Work', [['', 'Any work'], ...Object.entries(workWords)]),
    ],
  })
}
