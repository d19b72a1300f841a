import { describe, expect, test } from 'vitest'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { observeCommits, writtenKeys } from './observed-commits.ts'

describe.each(drivers)('the order of cards, on $name', (driver) => {
  const { driver: observed, changes } = observeCommits(driver)
  const setup = setUpBoard(observed)
  const createBoard = () => TestBoard.create(setup.service, setup.ann)
  /** The number of rebalancings of a column. */
  const generationOf = (columnId: string) =>
    setup.service.write(setup.workspaceId, async (tx) => (await tx.get(keys.order(columnId)))!.generation)

  test('concurrent moves neither lose nor duplicate a card, and all pages have the same order', async () => {
    const board = await createBoard()
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

  test('positions stay short when cards are always created in the same gap, and a cursor remains valid', async () => {
    const { service } = setup
    const board = await createBoard()
    const column = await board.column()
    const [a, z] = [await board.card(column, 'a'), await board.card(column, 'z')]
    const cursor = (await board.get(`/boards/${board.id}/cards?limit=1`)).body.page.next_cursor
    let last = a
    for (let i = 0; i < 300; i++) {
      service.now += 1
      last = await board.card(column, `${i}`, i % 2 ? { before: last } : { after: last })
    }
    const cards = await board.all(`/boards/${board.id}/cards`)
    expect(Math.max(...cards.map(({ position }) => position.length))).toBeLessThanOrEqual(40)
    // Rebalancing changes no order.
    expect(cards.filter(({ updated_at, created_at }) => updated_at !== created_at)).toEqual([])
    expect(cards).toHaveLength(302)
    expect([cards[0].title, cards.at(-1).title]).toEqual(['a', 'z'])
    expect(await generationOf(column)).toBeGreaterThan(0)
    const next = await board.get(`/boards/${board.id}/cards?limit=100&cursor=${cursor}`)
    expect(next.body.data.map(({ id }: any) => id)).toEqual(cards.slice(1, 101).map(({ id }) => id))
    expect(z).toBe(cards.at(-1).id)
  })

  test('a rebalancing does not write a card that keeps its position, and a cursor stays valid over several', async () => {
    const board = await createBoard()
    const column = await board.column()
    const [x, y, z] = [await board.card(column, 'x'), await board.card(column, 'y'), await board.card(column, 'z')]
    const etag = async () => (await board.get(`/cards/${x}`)).headers.get('etag')
    const before = await etag()
    const cursor = (await board.get(`/boards/${board.id}/cards?limit=1`)).body.page.next_cursor
    for (let i = 0; i < 1000; i++) await board.post(`/cards/${i % 2 ? y : z}/move`, { after: x })
    expect(await generationOf(column)).toBeGreaterThan(3)
    expect(await etag()).toBe(before)
    expect((await board.get(`/boards/${board.id}/cards?cursor=${cursor}`)).body.data.map(({ id }: any) => id)).toEqual([y, z])
  })

  test('placing an item at either end of a list, or beside another item, writes no other item', async () => {
    const board = await createBoard()
    const column = await board.column()
    const card = await board.card(column)
    const lists: [
      kind: string,
      create: (placement: object) => Promise<string>,
      move?: (id: string, placement: object) => Promise<unknown>,
    ][] = [
      ['column', (placement) => board.column('x', placement), (id, placement) => board.post(`/columns/${id}/move`, placement)],
      ['card', (placement) => board.card(column, 'x', placement), (id, placement) => board.post(`/cards/${id}/move`, placement)],
      ['subtask', (placement) => board.subtask(card, 'x', placement)],
    ]
    for (const [kind, create, move] of lists) {
      let first = await create({})
      const last = await create({})
      const start = changes.length
      for (let i = 0; i < 6; i++) {
        first = await create({ before: first })
        await create({ after: first })
        await create({})
        await move?.(last, { to: 'first' })
        await move?.(last, { to: 'last' })
        await move?.(last, { before: first })
        await move?.(last, { after: first })
      }
      const written = changes.slice(start).map((change) => writtenKeys(change).map((key) => key.split(':')[0]))
      expect(written).toEqual(Array.from({ length: 6 * (move === undefined ? 3 : 7) }, () => [kind]))
    }
  })

  test('a card that is created at the end during a rebalancing is the last one', async () => {
    const { service } = setup
    const board = await createBoard()
    const column = await board.column()
    const first = await board.card(column, 'first')
    for (let i = 0; i < 5; i++) await board.card(column, `${i}`)
    service.store.beforeCommit = async () => {
      for (let i = 0; i < 250; i++) await board.post(`/boards/${board.id}/cards`, { column_id: column, title: 'between', after: first })
    }
    await board.card(column, 'last')
    expect((await board.titles()).at(-1)).toBe('last')
  })
})
