import type { VNode } from 'preact'
import { MINUTE } from '../../model/time.ts'
import { html, renderMessage } from '../html.ts'
import { createProse } from '../markdown.ts'
import { offeredOnTiles, readControls, renderBoardMenu } from './board-controls.ts'
import { readBoard } from './board-data.ts'
import { renderFilters, renderLanes, tilesOf, type BoardView } from './board-view.ts'
import { foundText } from './counts.ts'
import { renderCrumbs } from './crumbs.ts'
import { isFiltered } from './filters.ts'
import { icon, swatch } from './icons.ts'
import { renderLive, renderLiveSign } from './live-view.ts'
import { renderElsewhere } from './questions-view.ts'
import { BOARD_SCRIPTS, workspacePage } from '../reader.ts'

/** A board as columns of cards. */
export const boardPage = workspacePage('boards/{board}', 'boards.read', async (reader) => {
  const data = await readBoard(reader)
  const cards = data.lanes.flatMap((lane) => lane.cards)
  const body = renderBoard({ reader, data, controls: await readControls(reader, data.board, cards) })
  return { title: data.board.name, body, parts: tilesOf(data), layout: 'wide', scripts: BOARD_SCRIPTS }
})

function renderBoard(view: BoardView): VNode {
  const { reader, data, controls } = view
  const { board, lanes, filters, isPart } = data
  const path = `${reader.base}/boards/${board.id}`
  const cards = lanes.flatMap((lane) => lane.cards)
  const isMore = lanes.some(({ cursor }) => cursor !== undefined)
  const offered = offeredOnTiles(controls)
  // A card becomes ready when its blocker is done, or when a time has passed: no change of the card says so.
  const hasWork = filters.work !== ''
  return renderLive(
    reader,
    {
      board,
      className: 'board',
      data: {
        'data-may': offered.join(' '),
        // Updates do not say which cards such a page shows.
        'data-whole': reader.context.query.has('cursor') || data.isPartial || hasWork ? '' : undefined,
        // Time alone changes which cards match: it is fetched again from time to time.
        'data-until': hasWork ? new Date(reader.context.web.clock() + MINUTE).toISOString() : undefined,
        // Nobody could be asked yet what may be done with a card.
        'data-unsampled': cards.length === 0 ? '' : undefined,
      },
    },
    html`<div class="board-head" id="board-head" data-merge>
        ${renderCrumbs([['Boards', '/app'], ...(isPart ? [[board.name, path] as const] : [])])}
        <h1 id="board-name" dir="auto">
          ${board.cover_color !== null && swatch(board.cover_color, 'dot')}${isPart ? (lanes[0]?.column.name ?? board.name) : board.name}
          ${board.visibility === 'private' && html`<span class="private" title="Private board">${icon('private')}<span class="unseen"> (private)</span></span>`}
        </h1>
        ${renderBoardMenu(controls, board.id, path)}
        ${
          board.description !== '' &&
          !isPart &&
          html`<details class="about" id="about" data-menu>
            <summary>About</summary>
            <div class="prose">${createProse({ nameOf: data.people.memberName })(board.description)}</div>
          </details>`
        }
        ${renderLiveSign()} ${renderFilters(data, path)} ${renderElsewhere(reader.base, data.waiting)}
      </div>
      <p class="hint found" id="found" role="status">
        ${isFiltered(filters) && html`<span data-found>${foundText(cards.length, isMore)}</span><a href=${path}>Show all cards</a>`}
      </p>
      ${data.isPartial && html`<div id="partial">${renderMessage('warning', 'The board has too many cards to examine all of them for this filter. Choose a label or an assignee too.')}</div>`}
      ${board.columns?.length === 0 && html`<p class="empty" id="empty">This board has no columns yet. ${controls.may.has('columns.create') ? 'Add the first one, such as “To do”.' : 'They appear here as soon as they are created.'}</p>`}
      ${renderLanes(view)} ${isPart && html`<p class="hint" id="back"><a href=${path}>Back to the whole board</a></p>`}
      <dialog class="keys" id="keys" aria-labelledby="keys-title" data-keys data-keep>
        <h2 id="keys-title">Keys</h2>
        <dl>
          ${KEYS.filter(([, , operation]) => operation === undefined || controls.may.has(operation)).map(
            ([keys, text]) =>
              html`<dt>${keys.map((key, i) => html`${i > 0 && ' '}<kbd>${key}</kbd>`)}</dt>
                <dd>${text}</dd>`,
          )}
        </dl>
        <label class="keep-keys js"><input type="checkbox" data-single-keys />Use keys of one letter or sign</label>
        <form method="dialog"><button class="primary">Close</button></form>
      </dialog>`,
  )
}

/** The keys of a board, with the operation of those that change something. */
const KEYS: readonly (readonly [keys: readonly string[], text: string, operation?: string])[] = [
  [['←', '→', '↓', '↑', 'J', 'K'], 'Go from card to card'],
  [['Enter'], 'Open the card'],
  [['C'], 'Add a card to the column', 'cards.create'],
  [['Space'], 'Pick up the card; arrows move it, Space drops it, Esc puts it back', 'cards.move'],
  [['E'], 'Rename the card', 'cards.update'],
  [['A'], 'Assign the card, first to yourself', 'cards.assign'],
  [['L'], 'Put labels on the card, also new ones', 'cards.apply_label'],
  [['D'], 'Choose when the card is due', 'cards.update'],
  [['M'], 'Move the card to a column', 'cards.move'],
  [['X'], 'Complete the card, or open it again', 'cards.complete'],
  [['U', 'Ctrl+Z'], 'Undo the last move, completion or archiving', 'cards.move'],
  [['/'], 'Search this board'],
  [['Ctrl+K'], 'Search all boards and cards'],
  [['Esc'], 'Leave the search, or go back'],
  [['?'], 'Show these keys'],
]
