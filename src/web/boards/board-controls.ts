import type { VNode } from 'preact'
import type { Column } from '../../model/column.ts'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { html } from '../html.ts'
import type { ListedCard } from '../listed-card.ts'
import { adder, doForm, doLink, menu, type Controls } from './controls.ts'
import type { Reader } from '../reader.ts'

/**
 * Reads what a person may do on a board. Columns and cards are decided by facts about their board, so one of each stands for all of them.
 * Where a policy of one's own says more, a refusal says so.
 */
export async function readControls(
  reader: Reader,
  board: Pick<BoardSnapshot, 'id' | 'columns'>,
  cards: readonly ListedCard[],
): Promise<Controls> {
  const sets = await Promise.all([
    reader.allowed('board', board.id),
    reader.allowed('column', board.columns?.[0]?.id),
    reader.allowed('card', (cards.find(({ claim }) => claim == null) ?? cards[0])?.id),
  ])
  return { context: reader.context, may: new Set(sets.flatMap((set) => [...set])) }
}

/** What the keys and the menu of a card do. */
const ON_TILES = ['cards.move', 'cards.complete', 'cards.archive', 'cards.update', 'cards.assign', 'cards.apply_label']

/** The controls that the script offers on each card. */
export function offeredOnTiles({ may }: Controls): readonly string[] {
  return ON_TILES.filter((operation) => may.has(operation))
}

/** The line at the end of a column that creates cards. */
export function renderAddCard(controls: Controls, { id, board_id, name }: Column): VNode | undefined {
  const attributes = { 'aria-label': `Title of a new card in ${name}`, placeholder: 'Title', enterkeyhint: 'done' }
  const part = { fields: ['title'], button: ADD, attributes, isLine: true, className: '' }
  return adder(
    `${id}-add`,
    html`Add card<span class="unseen"> to <bdi>${name}</bdi></span>`,
    doForm(controls, 'cards.create', { board_id, column_id: id }, part),
  )
}
const ADD = html`<button class="primary">Add</button>`

/** What can be done with a column. */
export function renderLaneMenu(controls: Controls, column: Column): VNode | undefined {
  const of = { column_id: column.id }
  return menu(`${column.id}-menu`, `the column ${column.name}`, [
    doForm(controls, 'columns.rename', of, {
      fields: ['name', 'wip_limit', 'max_attempts', 'completes'],
      record: column,
      button: html`<button>Save</button>`,
    }),
    doLink(controls, 'columns.move', of, 'Move column'),
    doLink(controls, 'columns.archive', of, 'Archive column'),
  ])
}

/** The last place on a board, where a column is added. */
export function renderAddColumn(controls: Controls, board_id: string): VNode | undefined {
  return adder(
    'add-column',
    'Add column',
    doForm(controls, 'columns.create', { board_id }, { fields: ['name'], button: ADD, className: '' }),
  )
}

/** What can be done with a board. Its members and its archive are pages that everyone may see who sees the board. */
export function renderBoardMenu(controls: Controls, board_id: string, path: string): VNode | undefined {
  const of = { board_id }
  return menu('board-menu', 'the board', [
    doLink(controls, 'boards.update', of, 'Edit board'),
    doLink(controls, 'boards.set_visibility', of, 'Visibility'),
    html`<a href="${path}/members">Members</a>`,
    controls.may.has('labels.create') && html`<a href="${path}/labels">Labels</a>`,
    controls.may.has('webhooks.list') && html`<a href="${path}/webhooks">Webhooks</a>`,
    html`<a href="${path}/archive">Archive</a>`,
    html`<button type="button" class="js" data-show-keys>Keys</button>`,
    doLink(controls, 'boards.delete', of, 'Delete board'),
  ])
}
