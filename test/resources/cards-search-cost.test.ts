import { describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { watchCards } from '../support/card-reads.ts'
import { Service } from '../support/service.ts'

const BOARDS = 14
const ROUNDS = 3
const PAGE = 5

/** Each board has as many cards as there are rounds. Each round changes every board, so neighbors in the list are of different boards. */
describe('a search of many boards', async () => {
  let read = 0
  /** the titles in the order in which the cards were created, and last changed */
  const created: string[] = []
  const updated: string[] = []
  /** those that are completed, in the order in which they were */
  const completed: string[] = []
  const service = await Service.forSuite()
  const workspaceId = await service.workspace()
  const ann = await service.person(workspaceId, 'member', 'Ann')
  const bob = await service.person(workspaceId, 'member', 'Bob')
  const boards: TestBoard[] = []
  const columns: string[] = []
  for (let i = 0; i < BOARDS; i++) {
    service.now += 1000
    boards.push(await TestBoard.create(service, ann))
    columns.push(await boards[i]!.column())
  }
  const ids: string[] = []
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, board] of boards.entries()) {
      board.tick()
      const title = `${round} ${i}`
      const due_at = new Date(Date.parse('2027-01-01') + (BOARDS * round - i) * 1000).toISOString()
      ids.push(await board.card(columns[i]!, title, { due_at, assignee_ids: [round === 0 ? ann.id : bob.id] }))
      created.push(title)
    }
  for (const [i, id] of ids.toReversed().entries()) {
    boards[0]!.tick()
    await boards[0]!.put(`/cards/${id}/completion`, { completed: i % 2 === 0 })
    await boards[0]!.patch(`/cards/${id}`, { description: 'changed' })
    updated.push(created.at(-1 - i)!)
    if (i % 2 === 0) completed.push(created.at(-1 - i)!)
  }
  watchCards(service, (cards) => (read += cards))

  const byDue = () => Array.from({ length: ROUNDS }, (_, round) => boards.map((_board, i) => `${round} ${BOARDS - 1 - i}`)).flat()
  const orders: readonly [query: string, expected: () => string[]][] = [
    ['sort=created_at&order=asc', () => created],
    ['sort=created_at', () => created.toReversed()],
    ['sort=updated_at&order=asc', () => updated],
    ['sort=updated_at', () => updated.toReversed()],
    ['sort=due_at', byDue],
    ['sort=completed_at', () => completed.toReversed()],
    ['sort=completed_at&order=asc', () => completed],
    ['sort=due_at&order=desc', () => byDue().toReversed()],
    ['sort=position', () => created.toSorted((a, b) => Number(a.split(' ')[1]) - Number(b.split(' ')[1]))],
  ]
  test.each(orders)('finds all cards in their order, and reads few more than a page has, on each page: ?%s', async (query, expected) => {
    for (const limit of [PAGE, 2 * PAGE, 100]) {
      const titles: string[] = []
      for (let cursor: string | null = ''; cursor !== null;) {
        read = 0
        const { body } = await service.send(ann.read, 'GET', `/cards?limit=${limit}&${query}${cursor && `&cursor=${cursor}`}`)
        // The cards of the eight boards that are read first.
        if (limit === PAGE) expect(read).toBeLessThanOrEqual(8 * ROUNDS)
        titles.push(...body.data.map(({ title }: any) => title))
        cursor = body.page.next_cursor
      }
      expect(titles).toEqual(expected())
    }
  })

  test("reads no card of others for the caller's own cards", async () => {
    for (const query of ['', '&sort=due_at', '&sort=created_at&order=asc', '&completed=true']) {
      read = 0
      const { body } = await service.send(ann.read, 'GET', `/cards?assignee_id=me&limit=100${query}`)
      expect(body.data.length).toBeGreaterThan(5)
      expect(read).toBe(body.data.length)
    }
  })

  test('reads only the cards that were completed in a time by a person, in their order', async () => {
    const at = async (title: string) => {
      const { data } = (await service.send(ann.read, 'GET', `/cards?q=${encodeURIComponent(title)}&sort=completed_at`)).body
      return data.find((card: any) => card.title === title).completed_at as string
    }
    const [from, to] = [await at(completed[5]!), await at(completed[9]!)]
    const wanted = completed.slice(5, 9).toReversed()
    for (const query of ['', '&completed_by=me', `&completed_by=${ann.id}`]) {
      read = 0
      const { body } = await service.send(
        ann.read,
        'GET',
        `/cards?sort=completed_at&completed_after=${from}&completed_before=${to}${query}`,
      )
      expect({ query, titles: body.data.map(({ title }: any) => title), read }).toEqual({ query, titles: wanted, read: wanted.length })
    }
    // Ann has completed all of them: none is read to find that.
    read = 0
    const { body } = await service.send(ann.read, 'GET', `/cards?sort=completed_at&completed_by=${bob.id}`)
    expect({ data: body.data, read }).toEqual({ data: [], read: 0 })
  })

  test('reads only cards with due times within the bounds of the query, in their order', async () => {
    const [from, to] = [10, 14].map((seconds) => new Date(Date.parse('2027-01-01') + seconds * 1000).toISOString())
    read = 0
    const { body } = await service.send(ann.read, 'GET', `/cards?sort=due_at&due_after=${from}&due_before=${to}`)
    expect(body.data.map(({ title }: any) => title)).toEqual(['1 4', '1 3', '1 2', '1 1'])
    expect(read).toBe(4)
  })
})
