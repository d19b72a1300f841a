import { describe, expect, test } from 'vitest'
import { checkIndexes } from '../../src/store/index-check.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { invalid } from './refusals.ts'

/** What a card says of its completion. */
const completionOf = ({ completed_at, completed_by_id, outcome }: any) => ({ completed_at, completed_by_id, outcome })
const OPEN = { completed_at: null, completed_by_id: null, outcome: null }

describe.each(drivers)('the completion of cards, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const doneColumn = (members: object = {}) => setup.board.column('Done', { completes: true, ...members })
  const complete = (id: string, body: object) => setup.board.put(`/cards/${id}/completion`, body)
  const move = (id: string, body: object) => setup.board.post(`/cards/${id}/move`, body)
  const ready = () => setup.board.titles('?ready=true')
  const byAnn = (outcome = 'succeeded') => ({ completed_at: setup.board.now, completed_by_id: setup.ann.id, outcome })

  test('a column says whether it completes its cards: by default, it does not', async () => {
    const { board, columnId } = setup
    const path = `/columns/${columnId}`
    const before = (await board.get(path)).body.data
    expect(before.completes).toBe(false)
    for (const completes of [true, false])
      expect((await board.patch(path, { completes })).body.data).toEqual({ ...before, completes, updated_at: board.now })
    for (const completes of [null, 'true', 1]) expect(await board.send('PATCH', path, { completes })).toMatchObject(invalid('completes'))
  })

  /** Every path by which a card comes into a column that completes. `card`: one that is open. */
  const entries: Record<string, (done: string, card: string) => Promise<string>> = {
    'it is created there': (done) => setup.board.card(done, 'New'),
    'it is created there, before another card': async (done) =>
      setup.board.card(done, 'New', { before: await setup.board.card(done, 'Other') }),
    'it is moved there': async (done, card) => (await move(card, { column_id: done }), card),
    'it is moved beside a card there': async (done, card) => (await move(card, { after: await setup.board.card(done, 'Other') }), card),
    'it is moved there after it was archived': async (done, card) => {
      await setup.board.post(`/cards/${card}/archive`)
      await move(card, { column_id: done })
      await setup.board.post(`/cards/${card}/restore`)
      return card
    },
    'a batch moves it there': async (done, card_id) => {
      const operations = [
        { operation: 'cards.update', params: { card_id }, body: { title: 'In a batch' } },
        { operation: 'cards.move', params: { card_id }, body: { column_id: done } },
      ]
      await setup.board.post(`/boards/${setup.board.id}/batch`, { operations })
      return card_id
    },
    'a batch creates it in a column of the batch': async () => {
      const operations = [
        { operation: 'columns.create', body: { name: 'Shipped', completes: true } },
        { operation: 'cards.create', body: { column_id: '$0', title: 'New' } },
      ]
      const { body } = await setup.board.post(`/boards/${setup.board.id}/batch`, { operations })
      // In a batch, what is created later has a later time.
      setup.service.now += 1
      return body.data.results[1].data.id
    },
    'it comes back after it has left': async (done, card) => {
      await move(card, { column_id: done })
      setup.board.tick()
      await move(card, { column_id: setup.columnId })
      await move(card, { column_id: done })
      return card
    },
    'it was completed as failed before': async (done, card) => {
      await complete(card, { completed: true, outcome: 'failed' })
      await move(card, { column_id: done })
      return card
    },
  }

  test.each(Object.entries(entries))('a card is completed in a column that completes: %s', async (_title, enter) => {
    const { board, columnId, cardId, ann } = setup
    const blocked = await board.card(columnId, 'Blocked', { blocker_ids: [cardId] })
    const id = await enter(await doneColumn(), cardId)
    expect(completionOf(await board.read(id))).toEqual(byAnn())
    // What a completion causes, it causes here.
    expect((await board.get(`/cards/${id}?include=work`)).body.data.work.state).toBe('done')
    expect((await board.read(blocked)).blocker_ids).toEqual([cardId])
    expect(await ready()).toEqual(id === cardId ? ['Blocked'] : ['Card'])
    expect((await board.all(`/cards?completed_by=${ann.id}&board_id=${board.id}`)).map((card) => card.id)).toContain(id)
    for await (const damage of checkIndexes(setup.service.store, setup.workspaceId)) expect(damage).toEqual([])
  })

  test('a card that leaves such a column is open again, and blocks again', async () => {
    const { board, columnId, cardId } = setup
    await board.card(columnId, 'Blocked', { blocker_ids: [cardId] })
    const done = await doneColumn()
    for (const way of ['alone', 'in a batch']) {
      await move(cardId, { column_id: done })
      expect([way, await ready()]).toEqual([way, ['Blocked']])
      const operations = [{ operation: 'cards.move', params: { card_id: cardId }, body: { column_id: columnId, to: 'first' } }]
      if (way === 'alone') await move(cardId, { column_id: columnId, to: 'first' })
      else await board.post(`/boards/${board.id}/batch`, { operations })
      expect([way, completionOf(await board.read(cardId)), await ready()]).toEqual([way, OPEN, ['Card']])
    }
  })

  test('between two columns that complete, within one, and between two that do not, the completion stays as it is', async () => {
    const { board, columnId, cardId } = setup
    const [done, shipped, doing] = [await doneColumn(), await doneColumn(), await board.column('Doing')]
    await move(cardId, { column_id: done })
    const first = completionOf(await board.read(cardId))
    board.tick()
    for (const body of [{ to: 'first' }, { column_id: shipped }, { column_id: shipped, to: 'first' }]) {
      await move(cardId, body)
      expect(completionOf(await board.read(cardId))).toEqual(first)
    }
    await complete(cardId, { completed: true, outcome: 'failed' })
    await move(cardId, { column_id: done })
    expect(completionOf(await board.read(cardId))).toEqual({ ...first, outcome: 'failed' })
    // Whoever opens a card in such a column wants that.
    await complete(cardId, { completed: false })
    await move(cardId, { column_id: shipped })
    expect(completionOf(await board.read(cardId))).toEqual(OPEN)
    await move(cardId, { column_id: columnId })
    await complete(cardId, { completed: true })
    const second = completionOf(await board.read(cardId))
    await move(cardId, { column_id: doing })
    expect([completionOf(await board.read(cardId)), second]).toEqual([byAnn(), byAnn()])
  })

  test('the cards of a column stay as they are when it begins or ceases to complete', async () => {
    const { board, columnId, cardId } = setup
    const before = await board.get(`/cards/${cardId}`)
    await board.patch(`/columns/${columnId}`, { completes: true })
    const after = await board.get(`/cards/${cardId}`)
    expect([after.text, after.headers.get('etag')]).toEqual([before.text, before.headers.get('etag')])
    const card = await board.card(columnId, 'New')
    await board.patch(`/columns/${columnId}`, { completes: false })
    expect(completionOf(await board.read(card))).toEqual(byAnn())
    // It leaves a column that does not complete for one that does not.
    await move(card, { column_id: await board.column('Doing') })
    expect(completionOf(await board.read(card))).toEqual(byAnn())
  })

  test('a claim ends with a move that completes its card, and its attempts are forgotten', async () => {
    const { service, board, ann, cardId } = setup
    const path = `/cards/${cardId}`
    const take = async () => (await service.send(ann.write, 'PUT', `${path}/claim`, {})).body.data
    const { epoch } = await take()
    await service.send(ann.write, 'POST', `${path}/claim/failure`, { reason: 'x', retry_after: 0 }, { 'if-claim': `${epoch}` })
    const second = await take()
    const done = await doneColumn({ wip_limit: 1 })
    const moved = await service.send(ann.write, 'POST', `${path}/move`, { column_id: done }, { 'if-claim': `${second.epoch}` })
    expect(completionOf(moved.body.data)).toEqual(byAnn())
    expect((await board.get(`${path}?include=claim,work`)).body.data).toMatchObject({
      claim: null,
      work: { state: 'done', attempts: 0, reason: null },
    })
    // It counts, as each completed card of a column.
    const refused = await board.send('POST', `/boards/${board.id}/cards`, { column_id: done, title: 'New' })
    expect(refused).toMatchObject({ status: 409, body: { error: { limit: 'wip_limit' } } })
    expect((await service.send(ann.write, 'POST', `/boards/${board.id}/claims`, {})).body.data).toBe(null)
  })

  test('a completion has an outcome: succeeded by default', async () => {
    const { board, cardId } = setup
    const first = board.now
    const outcomes: [body: object, outcome: string | null][] = [
      [{ completed: true }, 'succeeded'],
      [{ completed: true, outcome: 'failed' }, 'failed'],
      [{ completed: true, outcome: 'failed' }, 'failed'],
      [{ completed: true, outcome: null }, 'succeeded'],
      [{ completed: true, outcome: 'succeeded' }, 'succeeded'],
    ]
    for (const [body, outcome] of outcomes) {
      // A correction of the outcome leaves the time and the person of the completion.
      expect([body, completionOf((await complete(cardId, body)).body.data)]).toEqual([body, { ...byAnn(), completed_at: first, outcome }])
      board.tick()
    }
    expect(completionOf((await complete(cardId, { completed: false, outcome: null })).body.data)).toEqual(OPEN)
    const path = `/cards/${cardId}/completion`
    expect(await board.send('PUT', path, { completed: false, outcome: 'failed' })).toMatchObject(invalid('outcome'))
    for (const outcome of ['cancelled', '', 1])
      expect(await board.send('PUT', path, { completed: true, outcome })).toMatchObject(invalid('outcome'))
    expect(await board.send('PUT', path, { outcome: 'failed' })).toMatchObject(invalid('completed'))
  })

  test('a blocker that has failed goes on blocking, until it succeeds, is archived, or is removed', async () => {
    const { service, board, ann, columnId, cardId } = setup
    const blocked = await board.card(columnId, 'Blocked', { blocker_ids: [cardId] })
    const state = async () => ({
      state: (await board.get(`/cards/${blocked}?include=work`)).body.data.work.state,
      ready: await ready(),
      blocked: await board.titles('?work_state=blocked'),
      next: (await service.send(ann.write, 'POST', `/boards/${board.id}/claims?dry_run=true`, {})).body.data?.title,
    })
    const blocking = { state: 'blocked', ready: [], blocked: ['Blocked'], next: undefined }
    const free = { state: 'ready', ready: ['Blocked'], blocked: [], next: 'Blocked' }
    const steps: [what: string, does: () => Promise<unknown>, expected: object][] = [
      ['it fails', () => complete(cardId, { completed: true, outcome: 'failed' }), blocking],
      ['it succeeds after all', () => complete(cardId, { completed: true }), free],
      ['it fails after all', () => complete(cardId, { completed: true, outcome: 'failed' }), blocking],
      ['it is archived', () => board.post(`/cards/${cardId}/archive`), free],
      ['it is restored', () => board.post(`/cards/${cardId}/restore`), blocking],
      ['it is removed', () => board.delete(`/cards/${blocked}/blockers/${cardId}`), free],
      ['it is added again', () => board.put(`/cards/${blocked}/blockers/${cardId}`), blocking],
      ['it is deleted', () => board.delete(`/cards/${cardId}`), free],
    ]
    for (const [what, does, expected] of steps) {
      await does()
      expect([what, await state()]).toEqual([what, expected])
    }
    for await (const damage of checkIndexes(setup.service.store, setup.workspaceId)) expect(damage).toEqual([])
  })
})
