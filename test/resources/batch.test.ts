import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { operations } from '../../src/resources/table.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { memory } from '../support/memory.ts'

interface Item {
  readonly operation: string
  readonly params?: object
  readonly body?: unknown
  readonly if_match?: string
}

const createColumn = (name: string, members: object = {}): Item => ({ operation: 'columns.create', body: { name, ...members } })
const createLabel = (name = 'x'): Item => ({ operation: 'labels.create', body: { name, color: '#000000' } })
const createCard = (column_id: string, title: string, members: object = {}): Item => ({
  operation: 'cards.create',
  body: { column_id, title, ...members },
})
/** An operation on a card. */
const onCard = (operation: string, card_id: string, body?: object): Item => ({ operation, params: { card_id }, body })
const update = (card_id: string, body: object = { title: 'x' }) => onCard('cards.update', card_id, body)

describe.each(drivers)('a batch, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const send = (items: readonly Item[], { token = setup.ann.write, query = '', headers = {} } = {}) =>
    setup.service.send(token, 'POST', `/boards/${setup.board.id}/batch${query}`, { operations: items }, headers)
  const snapshot = async () => {
    const { board } = setup
    return JSON.stringify([
      await board.all(`/boards/${board.id}/columns`),
      await board.all(`/boards/${board.id}/cards`),
      await board.all(`/boards/${board.id}/labels`),
      (await board.get(`/boards/${board.id}/changes?limit=100`)).body.data,
    ])
  }

  test('makes all changes in one commit, and each sees those before it', async () => {
    const { board, bob, service } = setup
    const commits = service.records.length
    const reply = await send([
      createColumn('Next', { to: 'first' }),
      createLabel('Urgent'),
      createCard('$0', 'One', { label_ids: ['$1'] }),
      createCard('$0', 'Two'),
      createCard('$0', 'Three', { before: '$3' }),
      { operation: 'cards.assign', params: { card_id: '$2', user_id: bob.id } },
      onCard('subtasks.create', '$3', { title: 'First' }),
      onCard('subtasks.create', '$3', { title: 'Second' }),
      onCard('comments.create', '$3', { body: '$1 is text here' }),
      onCard('cards.move', setup.cardId, { column_id: '$0', to: 'last' }),
      onCard('cards.archive', '$4'),
    ])
    expect(reply.status, reply.text).toBe(200)
    const { results } = reply.body.data
    const cards = await board.all(`/boards/${board.id}/cards`)
    expect(cards.map(({ title, column_id }) => [title, column_id === results[0].data.id])).toEqual([
      ['One', true],
      ['Two', true],
      ['Card', true],
    ])
    expect(new Set(cards.map(({ position }) => position)).size).toBe(3)
    expect(cards[0]).toMatchObject({ label_ids: [results[1].data.id], assignee_ids: [bob.id] })
    expect((await board.all(`/cards/${cards[1].id}/subtasks`)).map(({ title }) => title)).toEqual(['First', 'Second'])
    expect((await board.all(`/cards/${cards[1].id}/comments`)).map(({ body }) => body)).toEqual(['$1 is text here'])
    // What the batch answers is what is read afterwards.
    expect(results.at(-2)).toEqual({
      operation: 'cards.move',
      data: cards[2],
      etag: (await board.get(`/cards/${cards[2].id}`)).headers.get('etag'),
    })
    expect(service.records[commits]).toMatchObject({ operation: 'boards.batch', attempts: 1 })
    const rows = service.records[commits]!.batch!.map(({ decision }) => decision!.row)
    expect(rows).toEqual(['P8', 'P11', 'P9', 'P9', 'P9', 'P12', 'P12', 'P12', 'P13', 'P9', 'P9'])
  })

  test.each<[name: string, item: (ids: Ids) => Item, status: number, code: string]>([
    ['a resource that is absent', () => update('crd_00000000000000000000'), 404, 'not_found'],
    ['a resource of another board', ({ otherCard }) => update(otherCard), 404, 'not_found'],
    [
      'a comment of someone else',
      ({ comment }) => ({ operation: 'comments.update', params: { comment_id: comment }, body: { body: 'x' } }),
      403,
      'forbidden',
    ],
    ['an ETag that is not current', ({ card }) => ({ ...update(card), if_match: '"old"' }), 412, 'precondition_failed'],
  ])('changes nothing if it fails because of %s, and tells which operation failed', async (_name, item, status, code) => {
    const { bob, cardId, ann, service } = setup
    const other = await TestBoard.create(service, ann)
    const comment = (await service.send(bob.write, 'POST', `/cards/${cardId}/comments`, { body: 'Bob' })).body.data.id
    const ids = { otherCard: await other.card(await other.column()), comment, card: cardId }
    const before = await snapshot()
    const reply = await send([createLabel(), item(ids), onCard('cards.archive', cardId)])
    expect({ status: reply.status, code: reply.body.error.code, index: reply.body.error.index }).toEqual({ status, code, index: 1 })
    expect(await snapshot()).toBe(before)
  })

  test('creates things in the order in which lists by time have them', async () => {
    const { board, cardId } = setup
    const names = Array.from({ length: 20 }, (_, i) => `${i}`)
    const reply = await send(names.map((body) => onCard('comments.create', cardId, { body })))
    expect(reply.status).toBe(200)
    expect((await board.all(`/cards/${cardId}/comments`)).map(({ body }) => body)).toEqual(names)
  })

  test('dates created resources one millisecond after another, and changed ones at its own time', async () => {
    const { service, cardId, columnId } = setup
    const change = (title: string) => update(cardId, { title })
    const { body } = await send([change('a'), createCard(columnId, 'b'), change('c'), createCard(columnId, 'd'), change('e')])
    const offsets = body.data.results.map(({ data }: any) => Date.parse(data.updated_at) - service.now)
    expect(offsets).toEqual([0, 0, 0, 1, 0])
  })

  test('refuses if_match about something that an earlier operation has written, without an ETag that was never there', async () => {
    const one = update(setup.cardId)
    const { status, body, headers } = await send([one, { ...one, if_match: '"0"' }])
    expect({ status, index: body.error.index, hasCurrentEtag: 'current_etag' in body.error, etag: headers.get('etag') }).toEqual({
      status: 412,
      index: 1,
      hasCurrentEtag: false,
      etag: null,
    })
  })

  test('accepts the ETag of the board for several creations, as they do when they are requested alone', async () => {
    const { board } = setup
    const if_match = (await board.get(`/boards/${board.id}`)).headers.get('etag')!
    expect((await send(['One', 'Two'].map((name) => ({ ...createColumn(name), if_match })))).status).toBe(200)
  })

  test('requires the state that if_match names until its commit, even if the operation itself does not depend on it', async () => {
    const { board, cardId } = setup
    const etag = (await board.get(`/cards/${cardId}`)).headers.get('etag')!
    setup.service.store.beforeCommit = async () => void (await board.patch(`/cards/${cardId}`, { description: 'Meanwhile' }))
    const comment = onCard('comments.create', cardId, { body: 'x' })
    const { status, body } = await send([{ ...comment, if_match: etag }])
    expect({ status, index: body.error?.index }).toEqual({ status: 412, index: 0 })
    setup.service.store.beforeCommit = async () => void (await board.patch(`/cards/${cardId}`, { description: 'Again' }))
    expect((await send([comment])).status).toBe(200)
  })

  test('answers a question once: after that, the card has no question', async () => {
    const { board, cardId } = setup
    const { epoch } = (await board.put(`/cards/${cardId}/claim`, {})).body.data
    await board.send('POST', `/cards/${cardId}/claim/question`, { question: 'Which one?' }, { 'if-claim': `${epoch}` })
    const answer = onCard('cards.answer', cardId, { body: 'The blue one.' })
    const reply = await send([answer, answer])
    expect(reply.body.error, reply.text).toMatchObject({ code: 'conflict', index: 1 })
    expect((await send([answer])).status).toBe(200)
  })

  test('answers no ETags in a dry run, and has different ids there, however many it creates', async () => {
    const items = [
      ...Array.from({ length: 99 }, (_, i) => createLabel(`${i}`)),
      onCard('cards.complete', setup.cardId, { completed: true }),
    ]
    const { status, body } = await send(items, { query: '?dry_run=true' })
    const ids = body.data.results.map(({ data }: any) => data.id)
    expect({ status, distinct: new Set(ids).size, firstId: ids[0] }).toEqual({
      status: 200,
      distinct: 100,
      firstId: 'lbl_00000000000000000000',
    })
    for (const id of ids.slice(0, -1)) expect(id).toMatch(/^lbl_0{16}/)
    expect(new Set(body.data.results.map(({ etag }: any) => etag))).toEqual(new Set([null]))
  })

  test('answers no ETag for a resource that a later operation has changed again', async () => {
    const { columnId } = setup
    const { body } = await send([createCard(columnId, 'One'), createCard(columnId, 'Two'), update('$0', { title: 'Changed' })])
    const [first, second, third] = body.data.results
    expect(first.etag).toBeNull()
    expect(second.etag).toBe(third.etag)
    for (const { data, etag } of [second, third])
      expect((await setup.board.send('GET', `/cards/${data.id}`, undefined, { 'if-none-match': etag })).status).toBe(304)
  })

  test('answers the ETag of a resource that an operation leaves unchanged, also if later ones read it again', async () => {
    const { board, cardId, columnId } = setup
    const etag = (await board.get(`/cards/${cardId}`)).headers.get('etag')!
    const other = await board.card(columnId, 'Other')
    const { body } = await send([
      onCard('cards.move', cardId, { column_id: columnId, to: 'first' }),
      onCard('cards.move', other, { column_id: columnId, to: 'last' }),
      onCard('cards.restore', cardId),
      createColumn('Next'),
      onCard('cards.move', other, { column_id: columnId, before: cardId }),
      { operation: 'columns.archive', params: { column_id: columnId } },
    ])
    expect([body.data.results[0].etag, body.data.results[2].etag]).toEqual([etag, etag])
  })

  test('answers each operation as it would be answered alone, without what later ones change', async () => {
    const { board, columnId } = setup
    const { body } = await send([
      createLabel(),
      createCard(columnId, 'Labelled', { label_ids: ['$0'] }),
      { operation: 'labels.delete', params: { label_id: '$0' } },
      onCard('comments.create', '$1', { body: 'Stays' }),
    ])
    const [label, card, deleted, comment] = body.data.results
    expect(card.data.label_ids).toEqual([label.data.id])
    expect([label, card, deleted, comment].map(({ etag }) => etag)).toEqual([null, null, null, expect.any(String)])
    expect((await board.get(`/cards/${card.data.id}`)).body.data.label_ids).toEqual([])
    expect((await board.get(`/comments/${comment.data.id}`)).headers.get('etag')).toBe(comment.etag)
  })

  test('counts the resources that it creates towards a limit', async () => {
    const { board } = setup
    const create = (count: number) => Array.from({ length: count }, (_, i) => createLabel(`${i}`))
    expect((await send(create(100))).status).toBe(200)
    expect((await send(create(99))).status).toBe(200)
    const full = await send(create(2))
    expect({ status: full.status, error: full.body.error }).toMatchObject({
      status: 409,
      error: { code: 'conflict', limit: 200, index: 1 },
    })
    expect(await board.all(`/boards/${board.id}/labels`)).toHaveLength(199)
  })

  interface Ids {
    readonly otherCard: string
    readonly comment: string
    readonly card: string
  }
})

describe('a batch', () => {
  const setup = setUpBoard(memory)
  const send = (items: unknown, token = setup.ann.admin) =>
    setup.service.send(token, 'POST', `/boards/${setup.board.id}/batch`, { operations: items })

  const NO_WRITE = 'operation: is not the id of a write on a board'
  const NO_REFERENCE = 'must refer to an earlier operation that creates something:'
  test.each<[name: string, item: object, issue: string]>([
    ['an operation that does not exist', { operation: 'cards.explode' }, NO_WRITE],
    ['a read', onCard('cards.read', 'x'), NO_WRITE],
    ['a write that is not on a board', { operation: 'boards.create', body: { name: 'x' } }, NO_WRITE],
    ['a batch', { operation: 'boards.batch', body: { operations: [] } }, NO_WRITE],
    ['a write of the scope kanban:admin', { operation: 'boards.delete' }, 'operation: requires kanban:admin: a batch cannot have it'],
    ['a missing parameter', { operation: 'cards.archive' }, 'params.card_id: is missing'],
    ['an unknown parameter', { ...createLabel(), params: { card_id: 'x' } }, 'params.card_id: is not a parameter of this operation'],
    ['an invalid body', { operation: 'labels.create', body: { name: 'x', color: 'red' } }, 'body.color: must be a color: "#rrggbb"'],
    ['a body where none is accepted', onCard('cards.archive', 'x', { x: 1 }), 'body: is not accepted by this operation'],
    ['a missing body', { operation: 'columns.create' }, 'body: is missing'],
    ['a reference to itself', onCard('cards.archive', '$0'), `params.card_id: ${NO_REFERENCE} "$0" does not`],
    ['a reference to a later operation', createCard('$1', 'x'), `body.column_id: ${NO_REFERENCE} "$1" does not`],
    ['a reference in a list to nothing', createCard('x', 'x', { label_ids: ['y', '$1'] }), `body.label_ids: ${NO_REFERENCE} "$1" does not`],
    ['an if_match that no header can have', { ...onCard('cards.archive', 'x'), if_match: '\u2603' }, 'if_match: must be an ETag'],
    ['an unknown member', { ...onCard('cards.archive', 'x'), more: 1 }, 'more: is not a known member'],
    [
      'a card that is placed before itself',
      onCard('cards.move', 'crd_x', { before: 'crd_x' }),
      'body.before: must name another item than the one that is moved',
    ],
  ])('refuses %s, and names it', async (_name, item, issue) => {
    const { status, body } = await send([item, createColumn('x')])
    const issues = body.error.issues.map((one: any) => [one.in, `${one.path}: ${one.message}`])
    expect({ status, issues }).toEqual({ status: 422, issues: [['body', `operations.0.${issue}`]] })
  })

  test.each(['x$0', '$0x', '$100', '$00', '$'])('takes the parameter "%s" for an id, not for a reference', async (label_id) => {
    const { status, body } = await send([{ operation: 'labels.delete', params: { label_id } }])
    expect({ status, index: body.error.index }).toEqual({ status: 404, index: 0 })
  })

  test('accepts an empty body where none is needed, and texts that look like references', async () => {
    const reply = await send([onCard('cards.archive', setup.cardId, {}), createCard(setup.columnId, '$7', { description: '$0' })])
    expect({ status: reply.status, data: reply.body.data?.results[1].data }).toMatchObject({
      status: 200,
      data: { title: '$7', description: '$0' },
    })
  })

  test('does not grow without limit: neither its changes nor its response', async () => {
    const { columnId, board, cardId } = setup
    const subtasks = Array.from({ length: 200 }, () => 'x')
    const many = await send(Array.from({ length: 10 }, () => createCard(columnId, 'x', { subtasks })))
    expect({ status: many.status, issues: many.body.error.issues }).toEqual({
      status: 422,
      issues: [{ in: 'body', path: 'operations.5', message: `comes after more than ${limits.batchRecords} changes in this batch` }],
    })
    const titles = Array.from({ length: 40 }, (_, i) => update(cardId, { title: `${i}` }))
    const long = await send([update(cardId, { description: 'x'.repeat(50_000) }), ...titles])
    expect({ status: long.status, issues: long.body.error.issues }).toEqual({
      status: 422,
      issues: [{ in: 'body', path: 'operations.20', message: `makes the response longer than ${limits.pageBytes} bytes` }],
    })
    expect(await board.titles()).toEqual(['Card'])
  })

  test('refuses every operation that requires kanban:admin, also with a token that has it', async () => {
    const needs = new Set(['delete Board', 'set_visibility Board', 'add BoardMember', 'remove BoardMember', 'delete Card'])
    const admin = operations.filter((one) => one.method !== 'GET' && needs.has(one.needs.join(' ')))
    expect(admin.length).toBeGreaterThan(3)
    for (const { id } of admin) {
      const { body } = await send([{ operation: id, params: { user_id: 'x', card_id: 'x' } }])
      expect(body.error.issues.map((issue: any) => issue.path)).toContain('operations.0.operation')
    }
  })

  test.each([[[]], [Array.from({ length: 101 }, () => createColumn('x'))]])('has 1 to 100 operations', async (items) => {
    expect((await send(items)).status).toBe(422)
  })
})

describe.each(drivers)('a batch of a service whose cascades are made in parts, on $name', (driver) => {
  const setup = setUpBoard(driver, { batch: 1 })

  test('answers no ETag for cards whose label a later operation deletes, also if it is removed from them afterwards', async () => {
    const { board, columnId } = setup
    const items = [
      createLabel(),
      ...['One', 'Two', 'Three'].map((title) => createCard(columnId, title, { label_ids: ['$0'] })),
      { operation: 'labels.delete', params: { label_id: '$0' } },
    ]
    const reply = await board.send('POST', `/boards/${board.id}/batch`, { operations: items })
    expect(reply.status, reply.text).toBe(200)
    const [label, ...cards] = reply.body.data.results.slice(0, 4)
    expect(cards.map(({ data, etag }: any) => [data.label_ids, etag])).toEqual(cards.map(() => [[label.data.id], null]))
    for (const { data } of cards) expect((await board.get(`/cards/${data.id}`)).body.data.label_ids).toEqual([])
  })
})
