import { describe, expect, test } from 'vitest'
import { setUpBoard, type BoardSetup } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import type { Reply } from '../support/service.ts'
import { notFound } from './refusals.ts'

/** A kind of resource: what it is created with and changed to, by someone who is not the creator of the board, and what is answered. */
interface Kind {
  /** the path of its list, where new ones come last */
  readonly list: (setup: BoardSetup) => string
  readonly prefix: string
  readonly body: (setup: BoardSetup) => object
  readonly created: (setup: BoardSetup) => object
  /** undefined: it cannot be changed */
  readonly update?: readonly [body: object, changes: object]
  /** false: it cannot be deleted */
  readonly isDeletable?: false
  /** default: a POST of the body to the list */
  readonly create?: (setup: BoardSetup) => Promise<Reply>
}

const ofBoard = (name: string) => (setup: BoardSetup) => `/boards/${setup.board.id}/${name}`
const ofCard = (name: string) => (setup: BoardSetup) => `/cards/${setup.cardId}/${name}`
const kinds: Readonly<Record<string, Kind>> = {
  boards: {
    list: () => '/boards',
    prefix: 'brd',
    body: () => ({ name: '  Roadmap ', description: 'What\nnext', cover_color: '#AABBCC' }),
    created: ({ bob }) => ({
      name: 'Roadmap',
      description: 'What\nnext',
      cover_color: '#aabbcc',
      visibility: 'workspace',
      creator_id: bob.id,
    }),
    update: [
      { name: ' New ', cover_color: null },
      { name: 'New', cover_color: null },
    ],
  },
  columns: {
    list: ofBoard('columns'),
    prefix: 'col',
    body: () => ({ name: ' Doing ' }),
    created: ({ board }) => ({
      board_id: board.id,
      name: 'Doing',
      position: expect.any(String),
      wip_limit: null,
      max_attempts: 5,
      completes: false,
      archived_at: null,
    }),
    update: [{ name: 'Done' }, { name: 'Done' }],
    isDeletable: false,
  },
  cards: {
    list: ofBoard('cards'),
    prefix: 'crd',
    body: ({ columnId }) => ({ column_id: columnId, title: ' Write ', due_at: '2027-01-01T00:30:00+02:00' }),
    created: ({ board, columnId, bob }) => ({
      board_id: board.id,
      column_id: columnId,
      title: 'Write',
      description: '',
      external_ref: null,
      position: expect.any(String),
      due_at: '2026-12-31T22:30:00.000Z',
      completed_at: null,
      completed_by_id: null,
      outcome: null,
      archived_at: null,
      assignee_ids: [],
      label_ids: [],
      blocker_ids: [],
      cover_attachment_id: null,
      creator_id: bob.id,
    }),
    update: [
      { title: 'New', description: 'line 1\nline 2', due_at: null },
      { title: 'New', description: 'line 1\nline 2', due_at: null },
    ],
  },
  labels: {
    list: ofBoard('labels'),
    prefix: 'lbl',
    body: () => ({ name: ' Bug ', color: '#D73A4A' }),
    created: ({ board }) => ({ board_id: board.id, name: 'Bug', color: '#d73a4a' }),
    update: [{ color: '#ABCDEF' }, { color: '#abcdef' }],
  },
  subtasks: {
    list: ofCard('subtasks'),
    prefix: 'sub',
    body: () => ({ title: ' Second ' }),
    created: ({ cardId }) => ({ card_id: cardId, title: 'Second', completed_at: null, position: expect.any(String) }),
    update: [{ title: 'New' }, { title: 'New' }],
  },
  comments: {
    list: ofCard('comments'),
    prefix: 'cmt',
    // Multi-line text is not trimmed: indentation can be part of it.
    body: () => ({ body: ' Line 1\n\tLine 2 ' }),
    created: ({ cardId, bob }) => ({
      card_id: cardId,
      author_id: bob.id,
      token_id: expect.stringMatching(/^tok_/),
      token_name: 'test',
      body: ' Line 1\n\tLine 2 ',
      kind: 'comment',
      answers: null,
    }),
    update: [{ body: 'New' }, { body: 'New', edited_by: 'token' }],
  },
  attachments: {
    list: ofCard('attachments'),
    prefix: 'att',
    body: () => ({}),
    create: ({ board, cardId, bob }) => board.attach(cardId, { token: bob.write }),
    created: ({ cardId, bob }) => ({
      card_id: cardId,
      file_id: expect.stringMatching(/^fil_[0-9a-z]{20}$/),
      owner_id: bob.id,
      visibility: 'board',
      name: 'a.txt',
      content_type: 'text/plain',
      size: 5,
      picture: null,
      attached_by_id: bob.id,
    }),
  },
}

describe.each(drivers.flatMap((driver) => Object.entries(kinds).map(([name, kind]) => ({ driver, name, kind, on: driver.name }))))(
  '$name, on $on',
  ({ driver, name, kind }) => {
    const setup = setUpBoard(driver)
    const send = (method: string, path: string, body?: object) => setup.service.send(setup.bob.admin, method, path, body)
    const create = () => {
      setup.board.tick()
      return kind.create?.(setup) ?? send('POST', kind.list(setup), kind.body(setup))
    }
    const list = (limit = 100) => setup.board.all(kind.list(setup), limit)

    test('a new resource can be read at its Location, and is listed behind the others, on pages of any size', async () => {
      const before = await list()
      const all: object[] = []
      for (let i = 0; i < 3; i++) {
        const created = await create()
        const { id } = created.body.data
        expect(created.body.data).toEqual({
          id: expect.stringMatching(new RegExp(`^${kind.prefix}_[0-9a-z]{20}$`)),
          ...kind.created(setup),
          created_at: setup.board.now,
          updated_at: setup.board.now,
        })
        expect({ status: created.status, location: created.headers.get('location') }).toEqual({
          status: 201,
          location: `/v1/${name}/${id}`,
        })
        const read = await setup.board.get(`/${name}/${id}`)
        expect({ body: read.body, etag: read.headers.get('etag') }).toEqual({ body: created.body, etag: created.headers.get('etag') })
        all.push(created.body.data)
      }
      for (const limit of [1, 2, 100]) expect((await list(limit)).slice(before.length)).toEqual(all)
      expect((await send('GET', kind.list(setup))).body.page).toEqual({ next_cursor: null })
    })

    if (kind.update !== undefined)
      test('a change affects the members that it names, and neither other members nor other resources', async () => {
        const { data } = (await create()).body
        const other = (await create()).body.data
        const [body, changes] = kind.update!
        const updated_at = setup.board.tick()
        const updated = await send('PATCH', `/${name}/${data.id}`, body)
        expect({ status: updated.status, body: updated.body }).toEqual({ status: 200, body: { data: { ...data, ...changes, updated_at } } })
        expect((await setup.board.get(`/${name}/${data.id}`)).body).toEqual(updated.body)
        expect((await list()).slice(-2)).toEqual([updated.body.data, other])
      })

    if (kind.isDeletable !== false)
      test('a deleted resource is neither readable nor listed, and a second deletion is 404', async () => {
        const [gone, kept] = [(await create()).body.data.id, (await create()).body.data.id]
        const path = `/${name}/${gone}`
        expect((await send('DELETE', path)).body).toEqual({ data: { id: gone, deleted: true } })
        for (const method of ['DELETE', 'GET']) expect(await send(method, path)).toMatchObject(notFound)
        const ids = new Set((await list()).map(({ id }) => id))
        expect({ gone: ids.has(gone), kept: ids.has(kept) }).toEqual({ gone: false, kept: true })
      })
  },
)
