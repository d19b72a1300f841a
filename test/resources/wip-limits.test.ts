import { describe, expect, test } from 'vitest'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { invalid } from './refusals.ts'

const refusal = { status: 409, body: { error: { code: 'conflict', limit: 'wip_limit' } } }

describe.each(drivers)('WIP limits of columns, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const limited = (wip_limit: number | null) => setup.board.column('Doing', { wip_limit })
  const create = (column_id: string) => setup.board.send('POST', `/boards/${setup.board.id}/cards`, { column_id, title: 'New' })
  /** Moves a card into a column. */
  const moveTo = (column_id: string, id = setup.cardId) => move(id, { column_id })
  const move = (id: string, body: object) => setup.board.send('POST', `/cards/${id}/move`, body)

  test('the limit in the body of a column can be changed and removed', async () => {
    const { board } = setup
    const id = await limited(2)
    const path = `/columns/${id}`
    const before = (await board.get(path)).body.data
    expect(before.wip_limit).toBe(2)
    for (const wip_limit of [3, 1000, 1, null]) {
      const { body } = await board.patch(path, { wip_limit })
      expect(body.data).toEqual({ ...before, wip_limit, updated_at: board.now })
    }
    for (const wip_limit of [0, 1001, 1.5, '2']) expect(await board.send('PATCH', path, { wip_limit })).toMatchObject(invalid('wip_limit'))
    expect(await board.send('PATCH', path, {})).toMatchObject(invalid(''))
    expect((await board.patch(path, { name: 'Now' })).body.data).toMatchObject({ name: 'Now', wip_limit: null })
  })

  test('cards are created in a column, moved and restored into it up to its limit', async () => {
    const { board, cardId } = setup
    const id = await limited(2)
    const [a, b] = [await board.card(id, 'A'), await board.card(id, 'B')]
    expect(await create(id)).toMatchObject(refusal)
    expect(await moveTo(id)).toMatchObject(refusal)
    expect(await move(cardId, { before: a })).toMatchObject(refusal)
    // Completed cards count, and archived ones do not.
    await board.put(`/cards/${a}/completion`, { completed: true })
    expect(await moveTo(id)).toMatchObject(refusal)
    await board.post(`/cards/${a}/archive`)
    expect((await moveTo(id)).status).toBe(200)
    expect(await board.send('POST', `/cards/${a}/restore`)).toMatchObject(refusal)
    await board.delete(`/cards/${b}`)
    await board.post(`/cards/${a}/restore`)
    expect(await board.titles(`?column_id=${id}`)).toEqual(['A', 'Card'])
  })

  test('a card is moved within its column, and out of it, whatever the limit is', async () => {
    const { board, columnId } = setup
    const id = await limited(null)
    const cards = [await board.card(id, 'A'), await board.card(id, 'B'), await board.card(id, 'C')]
    await board.patch(`/columns/${id}`, { wip_limit: 1 })
    expect((await move(cards[2]!, { to: 'first' })).status).toBe(200)
    expect((await move(cards[0]!, { column_id: id, after: cards[1] })).status).toBe(200)
    expect(await create(id)).toMatchObject(refusal)
    for (const card of cards.slice(1)) expect((await moveTo(columnId, card)).status).toBe(200)
    expect(await create(id)).toMatchObject(refusal)
    expect((await moveTo(columnId, cards[0])).status).toBe(200)
    expect((await create(id)).status).toBe(201)
  })

  test('an archived card takes no room where it is moved to, until it is restored', async () => {
    const { board, cardId } = setup
    const id = await limited(1)
    await board.card(id)
    await board.post(`/cards/${cardId}/archive`)
    expect((await moveTo(id)).status).toBe(200)
    expect(await board.send('POST', `/cards/${cardId}/restore`)).toMatchObject(refusal)
  })

  test('a column is restored with all of its cards, and in an archived one the limit is the same', async () => {
    const { board } = setup
    const id = await limited(1)
    const a = await board.card(id, 'A')
    await board.post(`/cards/${a}/archive`)
    await board.card(id, 'B')
    await board.post(`/columns/${id}/archive`)
    expect(await board.send('POST', `/cards/${a}/restore`)).toMatchObject(refusal)
    await board.post(`/columns/${id}/restore`)
    expect(await board.titles(`?column_id=${id}`)).toEqual(['B'])
  })

  test('a batch is judged after each of its operations', async () => {
    const { board, columnId, cardId } = setup
    const id = await limited(1)
    const inside = await board.card(id)
    const into = { operation: 'cards.move', params: { card_id: cardId }, body: { column_id: id } }
    const out = { operation: 'cards.move', params: { card_id: inside }, body: { column_id: columnId } }
    const batch = (...operations: object[]) => board.send('POST', `/boards/${board.id}/batch`, { operations })
    expect(await batch(into, out)).toMatchObject({ ...refusal, body: { error: { ...refusal.body.error, index: 0 } } })
    expect((await batch(out, into)).status).toBe(200)
    const create = (title: string) => ({ operation: 'cards.create', body: { column_id: '$0', title } })
    const column = { operation: 'columns.create', body: { name: 'New', wip_limit: 1 } }
    expect(await batch(column, create('A'), create('B'))).toMatchObject({ status: 409, body: { error: { index: 2 } } })
  })

  test('concurrent requests do not exceed the limit', async () => {
    const { board, columnId } = setup
    const id = await limited(3)
    const cards = await Promise.all(Array.from({ length: 6 }, (_, i) => board.card(columnId, `${i}`)))
    const requests = cards.flatMap((card) => [move(card, { column_id: id, to: 'first' }), create(id)])
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    expect(statuses.filter((status) => status < 300).length).toBe(3)
    expect(statuses.filter((status) => status === 409).length).toBe(9)
    expect((await board.titles(`?column_id=${id}`)).length).toBe(3)
  })
})
