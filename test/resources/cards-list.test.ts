import { describe, expect, test } from 'vitest'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'

// The filters are in cards-search.test.ts, which has a list of each board, too.
describe.each(drivers)('the list of cards, on $name', (driver) => {
  const setup = setUpBoard(driver)

  test('a search finds the cards that have all words in titles or descriptions, without regard to case, accents and ß', async () => {
    const { board, columnId } = setup
    await board.card(columnId, 'Apples', { description: 'Green ones' })
    await board.card(columnId, 'Cheese', { description: 'from the STRASSE market' })
    await board.card(columnId, 'Eggs', { description: 'straße' })
    for (const [q, titles] of [
      ['e', ['Apples', 'Cheese', 'Eggs']],
      ['GREEN', ['Apples']],
      ['straße', ['Cheese', 'Eggs']],
      ['strasse', ['Cheese', 'Eggs']],
      ['market cheese', ['Cheese']],
      ['ones apples green', ['Apples']],
      ['"strasse market"', ['Cheese']],
      ['"market strasse"', []],
      ['cheese nothing', []],
    ] as const)
      expect([q, ...(await board.titles(`?q=${encodeURIComponent(q)}`, 1))]).toEqual([q, ...titles])
  })

  test('the counts of each card are returned on request', async () => {
    const { board, columnId, cardId } = setup
    await board.card(columnId, 'Other')
    await board.comment(cardId)
    await board.subtask(cardId)
    const { body } = await board.get(`/boards/${board.id}/cards?include=counts`)
    expect(body.data.map(({ title, counts }: any) => [title, counts])).toEqual([
      ['Card', { subtasks: 1, comments: 1, attachments: 0 }],
      ['Other', { subtasks: 0, comments: 0, attachments: 0 }],
    ])
  })

  test('a search finds each card once while other requests move the cards', async () => {
    const busy = await TestBoard.create(setup.service, setup.ann)
    const columns = await Promise.all(Array.from({ length: 10 }, (_, i) => busy.column(`${i}`)))
    const titles = Array.from({ length: 20 }, (_, i) => `needle ${i}`)
    const ids: string[] = []
    for (const [i, title] of titles.entries()) ids.push(await busy.card(columns[i % 10]!, title))
    let searching = true
    const move = async (): Promise<void> => {
      for (let i = 0; searching; i++) {
        await busy.post(`/cards/${ids[i % 20]}/move`, { column_id: columns[(i * 7) % 10], to: i % 2 ? 'first' : 'last' })
        // In memory a request never waits for input or output, so it has to let others run.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const moving = move()
    for (let i = 0; i < 15; i++) {
      const reply = await busy.get(`/boards/${busy.id}/cards?q=needle&limit=100`)
      if (reply.status !== 503) expect(reply.body.data.map(({ title }: any) => title).toSorted()).toEqual(titles.toSorted())
    }
    searching = false
    await moving
  })

  test('a list is up to date although the columns have changed since the last one', async () => {
    const other = await TestBoard.create(setup.service, setup.ann)
    const ids = [await other.column('1'), await other.column('2'), await other.column('3')]
    for (const [i, id] of ids.entries()) await other.card(id, `Card ${i + 1}`)
    const titles = async (query = '') => (await other.all(`/boards/${other.id}/cards${query}`, 2)).map(({ title }) => title)
    expect(await titles()).toEqual(['Card 1', 'Card 2', 'Card 3'])
    await other.post(`/columns/${ids[0]}/move`, { to: 'last' })
    expect(await titles()).toEqual(['Card 2', 'Card 3', 'Card 1'])
    await other.post(`/columns/${ids[1]}/archive`)
    expect([await titles(), await titles('?archived=true')]).toEqual([['Card 3', 'Card 1'], ['Card 2']])
    await other.card(await other.column('New', { before: ids[2] }), 'Card 0')
    expect(await titles()).toEqual(['Card 0', 'Card 3', 'Card 1'])
    await other.post(`/columns/${ids[1]}/restore`)
    expect([await titles(), await titles('?archived=true')]).toEqual([['Card 2', 'Card 0', 'Card 3', 'Card 1'], []])
  })
})
