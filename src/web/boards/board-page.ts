import type { VNode } from 'preact'
import { html, notice, toast } from '../html.ts'
import type { Page } from '../page-context.ts'
import { readBoard, type BoardData } from './board-data.ts'
import { offeredOnTiles, readControls, renderBoardMenu, type BoardControls } from './board-controls.ts'
import { renderFilters, renderLanes } from './board-view.ts'
import { dueChoices, filtersOf, isFiltered } from './filters.ts'
import { nextExpiry, readHolders, type Holders } from './holders.ts'
import { icon, swatch } from './icons.ts'
import { renderDone } from '../operations/undo.ts'
import { createProse } from '../markdown.ts'
import { BOARD_SCRIPTS, ifFound, readerOf } from './reader.ts'

/** A board as columns of cards. */
export const boardPage: Page = {
  path: '/app/{workspace}/boards/{board}',
  anonymous: false,
  get: (context) =>
    ifFound(context, 'boards.read', async () => {
      const { web, params, query } = context
      const reader = readerOf(context, params['workspace']!)
      const filters = filtersOf(query)
      const place = { column: query.get('column') ?? undefined, cursor: query.get('cursor') ?? undefined }
      const data = await readBoard(reader, params['board']!, filters, place, web.clock())
      const cards = data.lanes.flatMap((lane) => lane.cards)
      const holders = await readHolders(context, reader.caller(), data.people, cards)
      const controls = await readControls(context, reader, data)
      const body = renderBoard(controls, data, holders, nextExpiry(cards, web.clock()))
      return { title: data.board.name, body, layout: 'wide', scripts: BOARD_SCRIPTS }
    }),
}

function renderBoard(controls: BoardControls, data: BoardData, holders: Holders, expiry: number | undefined): VNode {
  const { context } = controls
  const { web, params, query } = context
  const { board, lanes, people, labels, changes, isPartial } = data
  const base = `/app/${params['workspace']}`
  const path = `${base}/boards/${board.id}`
  const filters = filtersOf(query)
  const isPart = query.has('column')
  const ofLabels = new Map(labels.map((label) => [label.id, label]))
  const view = { people, labels: ofLabels, base, now: web.clock(), holders, controls, isPart }
  const found = lanes.reduce((sum, { cards }) => sum + cards.length, 0)
  const isMore = lanes.some(({ cursor }) => cursor !== undefined)
  return html`<div
    class="board"
    id="board"
    data-merge
    data-board=${path}
    data-events="${path}/events?after=${encodeURIComponent(changes)}"
    data-expiry=${expiry}
    data-forms="${base}/do"
    data-token=${context.session.form_token}
    data-may=${offeredOnTiles(controls).join(' ')}
  >
    ${renderDone(context)}
    <div class="board-head" id="board-head" data-merge>
      <nav class="crumbs" id="crumbs" aria-label="Breadcrumb">
        <a href="/app">Boards</a>${isPart && html` <span aria-hidden="true">/</span> <a href=${path}>${board.name}</a>`}
      </nav>
      <h1 id="board-name">
        ${board.cover_color !== null && swatch(board.cover_color, 'dot')}${isPart ? (lanes[0]?.column.name ?? board.name) : board.name}
        ${board.visibility === 'private' && html`<span class="private" title="Private board">${icon('private')}<span class="unseen"> (private)</span></span>`}
      </h1>
      <p class="elsewhere" id="elsewhere">
        <a href="${base}/cards?view=mine">My cards</a> <a href="${base}/cards?view=overdue">Overdue</a>
      </p>
      ${renderBoardMenu(controls)}
      <p class="live" id="live" data-live data-keep hidden><span data-live-text>Connecting</span></p>
    </div>
    ${
      board.description !== '' &&
      !isPart &&
      html`<details class="about" id="about">
        <summary>About this board</summary>
        <div class="prose">${createProse()(board.description)}</div>
      </details>`
    }
    ${renderFilters(data, filters, path, dueChoices)}
    <p class="hint found" id="found" role="status">
      ${isFiltered(filters) && html`${found}${isMore ? ' or more' : ''} ${found === 1 ? 'card matches' : 'cards match'}. <a href=${path}>Show all cards</a>`}
    </p>
    ${isPartial && html`<div id="partial">${notice('warning', 'The board has too many cards to examine all of them for this filter. Choose a label or an assignee too.')}</div>`}
    ${board.columns?.length === 0 && html`<p class="empty" id="empty">This board has no columns yet. ${controls.allowed.has('columns.create') ? 'Add the first one, such as “To do”.' : 'They appear here as soon as they are created.'}</p>`}
    ${renderLanes(lanes, view, path, filters)} ${isPart && html`<p class="hint" id="back"><a href=${path}>Back to the whole board</a></p>`}
    ${toast()}
    <dialog class="keys" id="keys" aria-labelledby="keys-title" data-keys data-keep>
      <h2 id="keys-title">Keys</h2>
      <dl>
        <dt><kbd>←</kbd> <kbd>→</kbd> <kbd>↑</kbd> <kbd>↓</kbd></dt>
        <dd>Go from card to card</dd>
        <dt><kbd>Enter</kbd></dt>
        <dd>Open the card</dd>
        ${renderTileKeys(offeredOnTiles(controls))}
        <dt><kbd>/</kbd></dt>
        <dd>Search</dd>
        <dt><kbd>Esc</kbd></dt>
        <dd>Leave the search, or go back</dd>
        <dt><kbd>?</kbd></dt>
        <dd>Show these keys</dd>
      </dl>
      <form method="dialog"><button class="primary">Close</button></form>
    </dialog>
  </div>`
}

/** The keys that change the card that has the focus. */
const TILE_KEYS = [
  ['cards.move', ['Space', 'M'], 'Pick up the card; arrows move it, Space drops it, Esc puts it back'],
  ['cards.complete', ['C'], 'Complete the card, or open it again'],
  ['cards.update', ['E'], 'Edit the card'],
  ['cards.move', ['U', 'Ctrl+Z'], 'Undo the last move, completion or archiving'],
] as const

function renderTileKeys(offered: readonly string[]): unknown {
  return TILE_KEYS.filter(([operation]) => offered.includes(operation)).map(
    ([, keys, text]) =>
      html`<dt>${keys.map((key, i) => html`${i > 0 && ' '}<kbd>${key}</kbd>`)}</dt>
        <dd>${text}</dd>`,
  )
}
