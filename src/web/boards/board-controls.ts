import type { VNode } from 'preact'
import type { Column } from '../../model/column.ts'
import { limits } from '../../model/limits.ts'
import { html } from '../html.ts'
import { formAddress, operationForm } from '../operations/form.ts'
import type { SignedInContext } from '../page-context.ts'
import type { BoardData } from './board-data.ts'
import type { Reader } from './reader.ts'

/** What the controls of a board are rendered with. */
export interface BoardControls {
  readonly context: SignedInContext
  readonly boardId: string
  /** the operations that the person may perform on the board, its columns and its cards */
  readonly allowed: ReadonlySet<string>
}

/**
 * Reads what a person may do on a board. Columns and cards are decided by facts about their board, so one of each stands for all of them. Where
 * a policy of one's own says more, a refusal says so.
 */
export async function readControls(context: SignedInContext, reader: Reader, { board, lanes }: BoardData): Promise<BoardControls> {
  const cards = lanes.flatMap((lane) => lane.cards)
  const asked = [
    ['board', board.id],
    ['column', board.columns?.[0]?.id],
    ['card', (cards.find(({ claim }) => claim == null) ?? cards[0])?.id],
  ] as const
  const sets = await Promise.all(asked.map(async ([type, id]) => (id === undefined ? [] : [...(await reader.allowed(type, id))])))
  return { context, boardId: board.id, allowed: new Set(sets.flat()) }
}

/** What the keys and the menu of a card do. */
const ON_TILES = ['cards.move', 'cards.complete', 'cards.archive', 'cards.update']

/** Those that the script offers on each card. */
export function offeredOnTiles({ allowed }: BoardControls): readonly string[] {
  return ON_TILES.filter((operation) => allowed.has(operation))
}

/** The button of the menu of a card. The menu is made by the script; without it, the page of the card has the same actions. */
export function renderTileButton(controls: BoardControls, title: string): VNode | undefined {
  if (offeredOnTiles(controls).length === 0) return undefined
  return html`<button type="button" class="tile-menu" aria-haspopup="menu" aria-label="Actions: ${title}">⋯</button>`
}

function doLink(
  { context, allowed }: BoardControls,
  operation: string,
  id: Readonly<Record<string, string>>,
  text: string,
): VNode | undefined {
  if (!allowed.has(operation)) return undefined
  return html`<a href=${formAddress(context, operation, id)}>${text}</a>`
}

/** The line at the end of a column with which cards are created. */
export function renderAddCard({ context, boardId, allowed }: BoardControls, { id, name }: Column): VNode | undefined {
  if (!allowed.has('cards.create')) return undefined
  const content = html`<label
      ><span class="unseen">Title of a new card in ${name}</span
      ><input name="title" required maxlength=${limits.cardTitle} autocomplete="off" placeholder="Title" enterkeyhint="done"
    /></label>
    <button class="primary">Add</button>`
  return html`<details class="pop add" id="${id}-add" data-draft>
    <summary>Add card<span class="unseen"> to ${name}</span></summary>
    ${operationForm(context, 'cards.create', { board_id: boardId, column_id: id }, content, 'add-card')}
  </details>`
}

/** What can be done with a column. */
export function renderLaneMenu(controls: BoardControls, { id, name, wip_limit }: Column): VNode | undefined {
  const { context, allowed } = controls
  const links = [
    doLink(controls, 'columns.move', { column_id: id }, 'Move column'),
    doLink(controls, 'columns.archive', { column_id: id }, 'Archive column'),
  ].filter((link) => link !== undefined)
  if (links.length === 0 && !allowed.has('columns.rename')) return undefined
  const was = { column_id: id, 'was.name': name, 'was.wip_limit': String(wip_limit ?? '') }
  const fields = html`<label>Name<input name="name" required maxlength=${limits.columnName} value=${name} autocomplete="off" /></label>
    <label
      >Limit of cards<input name="wip_limit" type="number" min="1" max=${limits.wipLimit} value=${wip_limit} placeholder="None"
    /></label>
    <button>Save</button>`
  return html`<details class="pop floating" id="${id}-menu" data-draft data-popup>
    <summary aria-label="Menu of the column ${name}">⋯</summary>
    <div>${allowed.has('columns.rename') && operationForm(context, 'columns.rename', was, fields, 'pop-form')} ${links}</div>
  </details>`
}

/** The last place on a board, where a column is added. */
export function renderAddColumn({ context, boardId, allowed }: BoardControls): VNode | undefined {
  if (!allowed.has('columns.create')) return undefined
  const content = html`<label>Name<input name="name" required maxlength=${limits.columnName} autocomplete="off" /></label>
    <button class="primary">Add</button>`
  return html`<details class="pop add add-column" id="add-column" data-draft>
    <summary>Add column</summary>
    ${operationForm(context, 'columns.create', { board_id: boardId }, content, 'pop-form')}
  </details>`
}

/** What can be done with a board. Its members and its archive are pages that everyone may see who sees the board. */
export function renderBoardMenu(controls: BoardControls): VNode {
  const { context, boardId, allowed } = controls
  const path = `/app/${context.params['workspace']}/boards/${boardId}`
  const of = { board_id: boardId }
  return html`<details class="pop floating" id="board-menu" data-popup>
    <summary aria-label="Menu of the board">⋯</summary>
    <div>
      ${doLink(controls, 'boards.update', of, 'Edit board')} ${doLink(controls, 'boards.set_visibility', of, 'Visibility')}
      <a href="${path}/members">Members</a>
      ${allowed.has('labels.create') && html`<a href="${path}/labels">Labels</a>`}
      <a href="${path}/archive">Archive</a>
      ${doLink(controls, 'boards.delete', of, 'Delete board')}
    </div>
  </details>`
}
