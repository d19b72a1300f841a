import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'

describe.each(drivers)('order, on $name', (driver) => {
  let service: Service
  let [ann, bob]: Person[] = []
  let board: TestBoard
  beforeAll(async () => {
    service = await Service.start(driver)
    const workspaceId = await service.workspace()
    ann = await service.person(workspaceId, 'member', 'Ann')
    bob = await service.person(workspaceId, 'member', 'Bob')
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    board = await TestBoard.create(service, ann!)
  })
  const columns = async () => (await board.all(`/boards/${board.id}/columns`)).map(({ name }) => name)

  test('columns stand where they are put', async () => {
    const b = await board.column('b')
    const d = await board.column('d')
    await board.column('c', { after: b })
    await board.column('a', { before: b })
    expect(await columns()).toEqual(['a', 'b', 'c', 'd'])
    await board.post(`/columns/${d}/move`, { to: 'first' })
    await board.post(`/columns/${b}/move`, { to: 'last' })
    expect(await columns()).toEqual(['d', 'a', 'c', 'b'])
    await board.post(`/columns/${d}/move`, { before: b })
    expect(await columns()).toEqual(['a', 'c', 'd', 'b'])
    await board.post(`/columns/${b}/move`, { after: d })
    expect(await columns()).toEqual(['a', 'c', 'd', 'b'])
  })

  test('cards stand where they are put, and a move writes one card', async () => {
    const [todo, done] = [await board.column('todo'), await board.column('done')]
    const ids: Record<string, string> = {}
    for (const title of ['a', 'b', 'c']) ids[title] = await board.card(todo, title)
    ids['x'] = await board.card(done, 'x')
    ids['y'] = await board.card(todo, 'y', { before: ids['b'] })
    expect(await board.titles()).toEqual(['a', 'y', 'b', 'c', 'x'])
    const etags = async () =>
      Object.fromEntries(
        await Promise.all(Object.entries(ids).map(async ([title, id]) => [title, (await board.get(`/cards/${id}`)).headers.get('etag')])),
      )
    const before = await etags()
    await board.post(`/cards/${ids['a']}/move`, { after: ids['b'] })
    const after = await etags()
    expect(Object.keys(ids).filter((title) => before[title] !== after[title])).toEqual(['a'])
    expect(await board.titles()).toEqual(['y', 'b', 'a', 'c', 'x'])
    await board.post(`/cards/${ids['b']}/move`, { column_id: done })
    await board.post(`/cards/${ids['c']}/move`, { before: ids['x'] })
    await board.post(`/cards/${ids['x']}/move`, { to: 'first' })
    expect(await board.titles()).toEqual(['y', 'a', 'x', 'c', 'b'])
    expect(await board.titles(`?column_id=${done}`)).toEqual(['x', 'c', 'b'])
  })

  test('the order is the same for every reader', async () => {
    const column = await board.column()
    for (let i = 0; i < 5; i++) await board.card(column, `${i}`)
    expect((await board.all(`/boards/${board.id}/cards`, 2, bob!.read)).map(({ title }) => title)).toEqual(await board.titles())
  })

  test('many who move at once lose none, double none, and end with one order', async () => {
    const [left, right] = [await board.column('left'), await board.column('right')]
    const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => board.card(left, `${i}`)))
    await Promise.all(
      ids.flatMap((id, i) => [
        board.post(`/cards/${id}/move`, { column_id: right, to: 'first' }),
        board.post(`/cards/${id}/move`, { before: ids[(i + 5) % 12] }),
        board.post(`/cards/${ids[0]}/move`, { to: i % 2 ? 'first' : 'last' }),
      ]),
    )
    const titles = await board.titles()
    expect(titles.toSorted()).toEqual(Array.from({ length: 12 }, (_, i) => `${i}`).toSorted())
    expect(await board.titles('', 1)).toEqual(titles)
    expect((await board.all(`/boards/${board.id}/cards`)).map(({ position, column_id }) => `${column_id} ${position}`)).toHaveLength(12)
  })

  test('positions do not grow without bound, and a cursor survives the rebalancing', async () => {
    const column = await board.column()
    const [a, z] = [await board.card(column, 'a'), await board.card(column, 'z')]
    const early = await board.get(`/boards/${board.id}/cards?limit=1`)
    // Always into the same gap: the worst that one can do to positions.
    const between: string[] = []
    let last = a
    for (let i = 0; i < 300; i++) {
      service.now += 1
      last = await board.card(column, `${i}`, i % 2 ? { before: last } : { after: last })
      between.push(last)
    }
    const cards = await board.all(`/boards/${board.id}/cards`)
    expect(Math.max(...cards.map(({ position }) => position.length))).toBeLessThanOrEqual(40)
    // Whoever keeps a copy hears of it by what was updated.
    expect(cards.filter(({ updated_at, created_at }) => updated_at !== created_at).length).toBeGreaterThan(0)
    expect(cards).toHaveLength(302)
    expect([cards[0].title, cards.at(-1).title]).toEqual(['a', 'z'])
    const order = (await service.write(ann!.workspaceId, (tx) => tx.get(`order:${column}`))) as any
    expect(order.generation).toBeGreaterThan(0)
    const rest = await board.get(`/boards/${board.id}/cards?limit=100&cursor=${early.body.page.next_cursor}`)
    expect(rest.body.data.map(({ id }: any) => id)).toEqual(cards.slice(1, 101).map(({ id }) => id))
    expect(z).toBe(cards.at(-1).id)
  })

  test('a rebalancing leaves alone what keeps its place, and a cursor survives several', async () => {
    const column = await board.column()
    const [x, y, z] = [await board.card(column, 'x'), await board.card(column, 'y'), await board.card(column, 'z')]
    const etag = async () => (await board.get(`/cards/${x}`)).headers.get('etag')
    const first = await etag()
    const cursor = (await board.get(`/boards/${board.id}/cards?limit=1`)).body.page.next_cursor
    for (let i = 0; i < 1000; i++) await board.post(`/cards/${i % 2 ? y : z}/move`, { after: x })
    const order = (await service.write(ann!.workspaceId, (tx) => tx.get(`order:${column}`))) as any
    expect(order.generation).toBeGreaterThan(3)
    expect(await etag()).toBe(first)
    expect((await board.get(`/boards/${board.id}/cards?cursor=${cursor}`)).body.data.map(({ id }: any) => id)).toEqual([y, z])
  })

  test('whoever comes last while a list is rebalanced is last', async () => {
    const column = await board.column()
    const anchor = await board.card(column, 'anchor')
    for (let i = 0; i < 5; i++) await board.card(column, `${i}`)
    service.store.beforeCommit = async () => {
      for (let i = 0; i < 250; i++) await board.post(`/boards/${board.id}/cards`, { column_id: column, title: 'between', after: anchor })
    }
    await board.card(column, 'last')
    expect((await board.titles()).at(-1)).toBe('last')
  })

  test('two that came to the same place at the same moment can be told apart by a third', async () => {
    const column = await board.column()
    const [one, two] = [await board.card(column, 'one'), await board.card(column, 'two')]
    await service.write(ann!.workspaceId, async (tx) => {
      const [first, second] = (await tx.read([`card:${one}`, `card:${two}`])) as unknown as any[]
      tx.put(`card:${two}`, { ...second, position: first.position })
    })
    const tied = await board.titles()
    const id = tied[0] === 'one' ? one : two
    await board.card(column, 'between', { after: id })
    expect(await board.titles()).toEqual([tied[0], 'between', tied[1]])
  })

  test('subtasks have an order too', async () => {
    const card = await board.card(await board.column())
    const add = async (title: string, where: object = {}) => (await board.post(`/cards/${card}/subtasks`, { title, ...where })).body.data.id
    const b = await add('b')
    await add('c')
    const a = await add('a', { before: b })
    await board.ok(board.send('PATCH', `/subtasks/${a}`, { after: b, completed: true }))
    expect((await board.all(`/cards/${card}/subtasks`, 1)).map(({ title, completed_at }) => [title, completed_at !== null])).toEqual([
      ['b', false],
      ['a', true],
      ['c', false],
    ])
  })

  describe('what cannot be', () => {
    test('two places at once, no place, a place of its own', async () => {
      const column = await board.column()
      const [a, b] = [await board.card(column, 'a'), await board.card(column, 'b')]
      const statuses = async (path: string, bodies: object[]) =>
        Promise.all(bodies.map(async (body) => (await board.send('POST', path, body)).status))
      expect(await statuses(`/cards/${a}/move`, [{ before: b, after: b }, { before: b, to: 'last' }, {}, { to: 'middle' }])).toEqual([
        422, 422, 422, 422,
      ])
      expect(await statuses(`/cards/${a}/move`, [{ before: a }, { after: a }])).toEqual([422, 422])
      expect(await statuses(`/columns/${column}/move`, [{}, { before: column }, { to: 'first', after: column }])).toEqual([422, 422, 422])
      expect(await statuses(`/boards/${board.id}/cards`, [{ column_id: column, title: 'x', before: a, after: b }])).toEqual([422])
    })

    test('next to a card of another column, or into an archived one', async () => {
      const [left, right] = [await board.column('left'), await board.column('right')]
      const [a, b] = [await board.card(left, 'a'), await board.card(right, 'b')]
      expect((await board.send('POST', `/cards/${a}/move`, { column_id: left, before: b })).status).toBe(409)
      await board.post(`/columns/${right}/archive`)
      expect((await board.send('POST', `/cards/${a}/move`, { column_id: right })).status).toBe(409)
      expect((await board.send('POST', `/cards/${a}/move`, { after: b })).status).toBe(409)
      expect((await board.send('POST', `/boards/${board.id}/cards`, { column_id: right, title: 'x' })).status).toBe(409)
    })
  })
})
