import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'

describe.each(drivers)('the list of cards, on $name', (driver) => {
  let service: Service
  let [ann, bob]: Person[] = []
  let board: TestBoard
  const columnIds: Record<string, string> = {}
  const cardIds: Record<string, string> = {}
  let [red, blue]: string[] = []
  beforeAll(async () => {
    service = await Service.start(driver)
    const workspaceId = await service.workspace()
    ann = await service.person(workspaceId, 'member', 'Ann')
    bob = await service.person(workspaceId, 'member', 'Bob')
    board = await TestBoard.create(service, ann)
    for (const name of ['todo', 'doing', 'archived']) columnIds[name] = await board.column(name)
    red = await board.label('red')
    blue = await board.label('blue')
    const create = async (title: string, column: string, members: object = {}) => {
      board.tick()
      cardIds[title] = await board.card(columnIds[column]!, title, members)
    }
    await create('Apples', 'todo', { description: 'Green ones' })
    await create('Bread', 'todo')
    await create('Cheese', 'todo', { description: 'from the STRASSE market' })
    await create('Dates', 'doing')
    await create('Eggs', 'doing', { description: 'straße' })
    await create('Figs', 'archived')
    await create('Grapes', 'todo')
    for (const [title, person] of [
      ['Apples', ann],
      ['Bread', bob],
      ['Dates', ann],
      ['Dates', bob],
      ['Grapes', ann],
    ] as const)
      await board.put(`/cards/${cardIds[title]}/assignees/${person.id}`)
    for (const [title, label] of [
      ['Apples', red],
      ['Cheese', red],
      ['Dates', blue],
      ['Dates', red],
      ['Figs', red],
    ] as const)
      await board.put(`/cards/${cardIds[title]}/labels/${label}`)
    board.tick()
    for (const title of ['Bread', 'Dates']) await board.put(`/cards/${cardIds[title]}/completion`, { completed: true })
    await board.post(`/cards/${cardIds['Grapes']}/archive`)
    await board.post(`/columns/${columnIds['archived']}/archive`)
  })
  afterAll(() => service.stop())

  const withIds = (query: string) =>
    query.replace(/\$(\w+)/g, (_match, name: string) => ({ ...columnIds, ann: ann!.id, bob: bob!.id, red: red!, blue: blue! })[name]!)

  test.each([
    ['', ['Apples', 'Bread', 'Cheese', 'Dates', 'Eggs']],
    ['archived=false', ['Apples', 'Bread', 'Cheese', 'Dates', 'Eggs']],
    ['archived=true', ['Grapes', 'Figs']],
    ['column_id=$doing', ['Dates', 'Eggs']],
    ['column_id=$archived', []],
    ['column_id=$archived&archived=true', ['Figs']],
    ['assignee_id=$ann', ['Apples', 'Dates']],
    ['assignee_id=$ann&archived=true', ['Grapes']],
    ['assignee_id=$bob&completed=true', ['Bread', 'Dates']],
    ['label_id=$red', ['Apples', 'Cheese', 'Dates']],
    ['label_id=$red&assignee_id=$ann', ['Apples', 'Dates']],
    ['label_id=$red&archived=true', ['Figs']],
    ['completed=true', ['Bread', 'Dates']],
    ['completed=false', ['Apples', 'Cheese', 'Eggs']],
    ['completed=false&label_id=$blue', []],
    ['q=e', ['Apples', 'Bread', 'Cheese', 'Dates', 'Eggs']],
    ['q=GREEN', ['Apples']],
    ['q=straße', ['Eggs']],
    ['q=strasse', ['Cheese']],
    ['q=s&column_id=$todo&completed=false', ['Apples', 'Cheese']],
    ['q=nothing', []],
    ['assignee_id=none', ['Cheese', 'Eggs']],
    ['assignee_id=none&archived=true', ['Figs']],
    ['assignee_id=none&label_id=$red&column_id=$todo', ['Cheese']],
    ['assignee_id=none&completed=true', []],
    ['assignee_id=me', ['Apples', 'Dates']],
  ])('cards that match "%s" are listed column by column, on pages of any size', async (query, titles) => {
    for (const limit of [1, 2, 100]) expect(await board.titles(`?${encodeURI(withIds(query))}`, limit)).toEqual(titles)
  })

  test('the counts of each card are returned on request', async () => {
    await board.comment(cardIds['Eggs']!)
    await board.subtask(cardIds['Eggs']!)
    const { body } = await board.get(`/boards/${board.id}/cards?column_id=${columnIds['doing']}&include=counts`)
    expect(body.data.map(({ title, counts }: any) => [title, counts])).toEqual([
      ['Dates', { subtasks: 0, comments: 0, attachments: 0 }],
      ['Eggs', { subtasks: 1, comments: 1, attachments: 0 }],
    ])
  })

  test('a search finds each card once while other requests move the cards', async () => {
    const busy = await TestBoard.create(service, ann!)
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
    const other = await TestBoard.create(service, ann!)
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
