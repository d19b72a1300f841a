import { describe, expect, test } from 'vitest'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'

// What a placement writes: updated-at.test.ts. What a rebalancing writes and remembers, and what is placed meanwhile: listing/ranks.test.ts.
describe.each(drivers)('the order of cards, on $name', (driver) => {
  const setup = setUpBoard(driver)
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
})
