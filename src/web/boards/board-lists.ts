import type { VNode } from 'preact'
import type { Board } from '../../model/board.ts'
import type { Card } from '../../model/card.ts'
import type { Column } from '../../model/column.ts'
import type { Label } from '../../model/label.ts'
import type { BoardMemberEntry } from '../../resources/board-members/people.ts'
import { html } from '../html.ts'
import { renderDone } from '../operations/undo.ts'
import type { Page } from '../page-context.ts'
import { renderDistance } from '../times.ts'
import { doButton, doForm, doLink, type Controls } from './controls.ts'
import { renderCrumbs } from './crumbs.ts'
import { swatch } from './icons.ts'
import { readPeople, renderPerson } from './people.ts'
import { readAll, workspacePage, type Reader } from '../reader.ts'

// The other parts of a board than its active cards: the people, the labels, and the archive. Their forms work without JavaScript only.

/**
 * A page about a board.
 * @param path below the board's path
 */
export function boardPart(
  path: string,
  operation: string,
  title: string,
  render: (reader: Reader, board: Board, controls: Controls) => Promise<VNode>,
): Page {
  return workspacePage(`boards/{board}/${path}`, operation, async (reader) => {
    const { context, base } = reader
    const board = (await reader.read('boards.read', { board_id: context.params['board']! })).data as Board
    const controls = { context, may: await reader.allowed('board', board.id) }
    const body = html`${renderCrumbs([
        ['Boards', '/app'],
        [board.name, `${base}/boards/${board.id}`],
      ])}
      <h1>${title}</h1>
      ${renderDone(context)} ${await render(reader, board, controls)}`
    return { title: `${title} · ${board.name}`, body }
  })
}

/** A list of things, each with its controls. */
export function renderEntries<Item>(
  items: readonly Item[],
  render: (item: Item) => readonly [shown: VNode, ...actions: (VNode | false | undefined)[]],
): VNode {
  return html`<ul class="entries">
    ${items.map((item) => {
      const [shown, ...actions] = render(item)
      return html`<li>
        <div>${shown}</div>
        <div class="actions">${actions}</div>
      </li>`
    })}
  </ul>`
}

/** Who has access to a board, and who was added to it. */
export const boardMembersPage = boardPart('members', 'board_members.list', 'Members', async (reader, board, controls) => {
  const of = { board_id: board.id }
  const { items } = await readAll<BoardMemberEntry>(reader, ['board_members.list', of], 5)
  const known = new Set(items.map(({ user_id }) => user_id))
  const others = (await readPeople(reader)).members.filter(({ user_id }) => !known.has(user_id))
  return html`
    <p class="hint">
      ${board.visibility === 'private' ? 'The board is private: only its members have access to it.' : 'All members of the workspace have access to the board.'}
    </p>
    ${renderEntries(items, ({ user_id, display_name: about, creator, added_at }) => [
      html`<span class="person">${renderPerson(user_id, about)} <bdi>${about}</bdi></span
        >${' '}
        <span class="hint">${creator ? 'created the board' : html`added ${renderDistance(added_at, reader.context.web.clock())}`}</span>`,
      creator ? undefined : doButton(controls, 'board_members.remove', { ...of, user_id }, 'Remove', { about, className: 'danger' }),
    ])}
    ${doForm(controls, 'board_members.add', of, {
      fields: ['user_id'],
      choices: others.map(({ user_id, display_name }) => [user_id, display_name]),
      button: html`<button class="primary">Add a member of the workspace</button>`,
      attributes: { 'aria-label': 'Member of the workspace' },
      isLine: true,
    })}
  `
})

/** The labels of a board. */
export const boardLabelsPage = boardPart('labels', 'labels.list', 'Labels', async (reader, board, controls) => {
  const of = { board_id: board.id }
  const { items } = await readAll<Label>(reader, ['labels.list', of], 5)
  const ofLabel = { ...controls, may: await reader.allowed('label', items[0]?.id) }
  return html`
    ${items.length === 0 && html`<p class="empty">This board has no labels yet.</p>`}
    ${renderEntries(items, ({ id: label_id, name: about, color }) => [
      html`<span class="label">${swatch(color, 'dot')}<bdi>${about}</bdi></span>`,
      doLink(ofLabel, 'labels.update', { label_id }, 'Edit', { about, className: 'button' }),
      doLink(ofLabel, 'labels.delete', { label_id }, 'Delete', { about, className: 'button danger' }),
    ])}
    ${doForm(controls, 'labels.create', of, { fields: ['name', 'color'], button: html`<button class="primary">Create label</button>`, className: 'row-form' })}
  `
})

/** A card or a column in the archive. */
interface Archived extends Pick<Column, 'id' | 'name' | 'archived_at'> {
  readonly shown: unknown
}

/** The archived cards and columns of a board. */
export const boardArchivePage = boardPart('archive', 'cards.list', 'Archive', async (reader, board, controls) => {
  const of = { board_id: board.id }
  const cursor = reader.context.query.get('cursor') ?? undefined
  const [columns, cards] = await Promise.all([
    readAll<Column>(reader, ['columns.list', of, { archived: 'true' }], 5),
    readAll<Card>(reader, ['cards.list', of, { archived: 'true', cursor }], 1),
  ])
  const [ofColumn, ofCard] = await Promise.all([
    reader.allowed('column', columns.items[0]?.id),
    reader.allowed('card', cards.items.find(({ archived_at }) => archived_at !== null)?.id),
  ])
  const list = (title: string, kind: 'column' | 'card', may: ReadonlySet<string>, items: readonly Archived[]) =>
    items.length > 0 &&
    html`<h2>${title}</h2>
      ${renderEntries(items, ({ id, name: about, shown, archived_at }) => [
        html`${shown}${' '}
          <span class="hint"
            >${archived_at === null ? 'in an archived column' : html`archived ${renderDistance(archived_at, reader.context.web.clock())}`}</span
          >`,
        archived_at === null
          ? undefined
          : doButton({ ...controls, may }, `${kind}s.restore`, { [`${kind}_id`]: id }, 'Restore', { about, className: '' }),
      ])}`
  const ofCards = cards.items.map((one) => ({
    ...one,
    name: one.title,
    shown: html`<a href="${reader.base}/cards/${one.id}" dir="auto">${one.title}</a>`,
  }))
  return html`
    ${columns.items.length + cards.items.length === 0 && html`<p class="empty">Nothing of this board is archived.</p>`}
    ${list(
      'Columns',
      'column',
      ofColumn,
      columns.items.map((one) => ({ ...one, shown: html`<bdi>${one.name}</bdi>` })),
    )}
    ${list('Cards', 'card', ofCard, ofCards)}
    ${cards.cursor !== undefined && html`<p class="more"><a href="?cursor=${encodeURIComponent(cards.cursor)}">More cards</a></p>`}
  `
})
