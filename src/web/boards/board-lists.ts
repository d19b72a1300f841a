import type { VNode } from 'preact'
import type { Board } from '../../model/board.ts'
import type { Card } from '../../model/card.ts'
import type { Column } from '../../model/column.ts'
import type { Label } from '../../model/label.ts'
import { limits } from '../../model/limits.ts'
import type { BoardMemberEntry } from '../../resources/board-members/people.ts'
import { html } from '../html.ts'
import { formAddress, operationForm } from '../operations/form.ts'
import { renderDone } from '../operations/undo.ts'
import type { Page, SignedInContext } from '../page-context.ts'
import { renderDistance } from '../times.ts'
import { swatch } from './icons.ts'
import { readPeople, renderPerson } from './people.ts'
import { ifFound, readAll, readerOf, type Reader } from './reader.ts'

// What a board has besides its active cards: the people, the labels, and the archive. Their forms work without JavaScript only.

/** What a list of a board is made from. */
interface Part {
  readonly context: SignedInContext
  readonly reader: Reader
  readonly board: Board
  /** what the person may do on the board */
  readonly allowed: ReadonlySet<string>
}

/** A page about a board. @param path below that of the board */
function boardPart(path: string, operation: string, title: string, render: (part: Part) => Promise<VNode>): Page {
  return {
    path: `/app/{workspace}/boards/{board}/${path}`,
    anonymous: false,
    get: (context) =>
      ifFound(context, operation, async () => {
        const { params } = context
        const reader = readerOf(context, params['workspace']!)
        const board = (await reader.read('boards.read', { board_id: params['board']! })).data as Board
        const allowed = await reader.allowed('board', board.id)
        const boardPath = `/app/${params['workspace']}/boards/${board.id}`
        const body = html`<nav class="crumbs" aria-label="Breadcrumb">
            <a href="/app">Boards</a> <span aria-hidden="true">/</span> <a href=${boardPath}>${board.name}</a>
          </nav>
          <h1>${title}</h1>
          ${renderDone(context)} ${await render({ context, reader, board, allowed })}`
        return { title: `${title} · ${board.name}`, body }
      }),
  }
}

/** Who has access to a board, and who was added to it. */
export const boardMembersPage = boardPart('members', 'board_members.list', 'People', async ({ context, reader, board, allowed }) => {
  const of = { board_id: board.id }
  const { items } = await readAll<BoardMemberEntry>(reader, ['board_members.list', of], 5)
  const known = new Set(items.map(({ user_id }) => user_id))
  const others = (await readPeople(reader)).members.filter(({ user_id }) => !known.has(user_id))
  return html`
    <p class="hint">
      ${board.visibility === 'private' ? 'The board is private: only the people of this list have access to it.' : 'All members of the workspace have access to the board.'}
    </p>
    <ul class="entries">
      ${items.map(
        ({ user_id, display_name, creator, added_at }) =>
          html`<li>
            <div class="person">
              ${renderPerson(user_id, display_name)} <span>${display_name}</span>
              <span class="hint">${creator ? 'created the board' : html`added ${renderDistance(added_at, context.web.clock())}`}</span>
            </div>
            ${!creator && allowed.has('board_members.remove') && operationForm(context, 'board_members.remove', { ...of, user_id }, html`<button class="danger">Remove<span class="unseen"> ${display_name}</span></button>`)}
          </li>`,
      )}
    </ul>
    ${
      allowed.has('board_members.add') &&
      others.length > 0 &&
      operationForm(
        context,
        'board_members.add',
        of,
        html`<label for="user_id">Add a member of the workspace</label>
          <select id="user_id" name="user_id" required>
            <option value="">Choose</option>
            ${others.map(({ user_id, display_name }) => html`<option value=${user_id}>${display_name}</option>`)}
          </select>
          <button class="primary">Add</button>`,
        'row-form',
      )
    }
  `
})

/** The labels of a board. */
export const boardLabelsPage = boardPart('labels', 'labels.list', 'Labels', async ({ context, reader, board, allowed }) => {
  const of = { board_id: board.id }
  const { items } = await readAll<Label>(reader, ['labels.list', of], 5)
  const [first] = items
  const ofLabel = first === undefined ? new Set<string>() : await reader.allowed('label', first.id)
  return html`
    ${items.length === 0 && html`<p class="empty">This board has no labels yet.</p>`}
    <ul class="entries">
      ${items.map(
        ({ id, name, color }) =>
          html`<li>
            <div><span class="label">${swatch(color, 'dot')}${name}</span></div>
            <p class="actions">
              ${ofLabel.has('labels.update') && html`<a class="button" href=${formAddress(context, 'labels.update', { label_id: id })}>Edit<span class="unseen"> ${name}</span></a>`}
              ${ofLabel.has('labels.delete') && html`<a class="button danger" href=${formAddress(context, 'labels.delete', { label_id: id })}>Delete<span class="unseen"> ${name}</span></a>`}
            </p>
          </li>`,
      )}
    </ul>
    ${
      allowed.has('labels.create') &&
      operationForm(
        context,
        'labels.create',
        of,
        html`<label for="name">New label</label>
          <input id="name" name="name" required maxlength=${limits.labelName} autocomplete="off" />
          <label for="color" class="unseen">Color</label>
          <input id="color" type="color" name="color" value="#1f6feb" />
          <button class="primary">Create label</button>`,
        'row-form',
      )
    }
  `
})

/** The archived cards and columns of a board. */
export const boardArchivePage = boardPart('archive', 'cards.list', 'Archive', async ({ context, reader, board }) => {
  const of = { board_id: board.id }
  const cursor = context.query.get('cursor') ?? undefined
  const [columns, cards] = await Promise.all([
    readAll<Column>(reader, ['columns.list', of, { archived: 'true' }], 5),
    readAll<Card>(reader, ['cards.list', of, { archived: 'true', cursor }], 1),
  ])
  const [column, card] = [columns.items[0], cards.items.find(({ archived_at }) => archived_at !== null)]
  const mayRestore = {
    column: column !== undefined && (await reader.allowed('column', column.id)).has('columns.restore'),
    card: card !== undefined && (await reader.allowed('card', card.id)).has('cards.restore'),
  }
  const now = context.web.clock()
  const base = `/app/${context.params['workspace']}`
  const restore = (kind: 'card' | 'column', id: string, name: string) =>
    mayRestore[kind] &&
    operationForm(context, `${kind}s.restore`, { [`${kind}_id`]: id }, html`<button>Restore<span class="unseen"> ${name}</span></button>`)
  return html`
    ${columns.items.length + cards.items.length === 0 && html`<p class="empty">Nothing of this board is archived.</p>`}
    ${columns.items.length > 0 && html`<h2>Columns</h2>`}
    <ul class="entries">
      ${columns.items.map(
        ({ id, name, archived_at }) =>
          html`<li>
            <div>${name} <span class="hint">archived ${renderDistance(archived_at!, now)}</span></div>
            ${restore('column', id, name)}
          </li>`,
      )}
    </ul>
    ${cards.items.length > 0 && html`<h2>Cards</h2>`}
    <ul class="entries">
      ${cards.items.map(
        ({ id, title, archived_at }) =>
          html`<li>
            <div>
              <a href="${base}/cards/${id}">${title}</a>${' '}
              <span class="hint"
                >${archived_at === null ? 'in an archived column' : html`archived ${renderDistance(archived_at, now)}`}</span
              >
            </div>
            ${archived_at !== null && restore('card', id, title)}
          </li>`,
      )}
    </ul>
    ${cards.cursor !== undefined && html`<p class="more"><a href="?cursor=${encodeURIComponent(cards.cursor)}">More cards</a></p>`}
  `
})
