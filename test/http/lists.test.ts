import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'

describe.each(drivers)('lists of cards, on $name', (driver) => {
  let service: Service
  let [ann, bob]: Person[] = []
  let board: TestBoard
  const column: Record<string, string> = {}
  const card: Record<string, string> = {}
  let [red, blue]: string[] = []
  beforeAll(async () => {
    service = await Service.start(driver)
    const workspaceId = await service.workspace()
    ann = await service.person(workspaceId, 'member', 'Ann')
    bob = await service.person(workspaceId, 'member', 'Bob')
    board = await TestBoard.create(service, ann)
    for (const name of ['todo', 'doing', 'parked']) column[name] = await board.column(name)
    red = await board.label('red')
    blue = await board.label('blue')
    const make = async (title: string, where: string, more: object = {}) => {
      service.now += 1000
      card[title] = await board.card(column[where]!, title, more)
    }
    await make('Apples', 'todo', { description: 'Green ones' })
    await make('Bread', 'todo')
    await make('Cheese', 'todo', { description: 'from the STRASSE market' })
    await make('Dates', 'doing')
    await make('Eggs', 'doing', { description: 'straße' })
    await make('Figs', 'parked')
    await make('Grapes', 'todo')
    for (const [title, person] of [
      ['Apples', ann],
      ['Bread', bob],
      ['Dates', ann],
      ['Dates', bob],
      ['Grapes', ann],
    ] as const)
      await board.put(`/cards/${card[title]}/assignees/${person.id}`)
    for (const [title, label] of [
      ['Apples', red],
      ['Cheese', red],
      ['Dates', blue],
      ['Dates', red],
      ['Figs', red],
    ] as const)
      await board.put(`/cards/${card[title]}/labels/${label}`)
    service.now += 1000
    for (const title of ['Bread', 'Dates']) await board.put(`/cards/${card[title]}/completion`, { completed: true })
    await board.post(`/cards/${card['Grapes']}/archive`)
    await board.post(`/columns/${column['parked']}/archive`)
  })
  afterAll(() => service.stop())

  const filters: [query: string, titles: string[]][] = [
    ['', ['Apples', 'Bread', 'Cheese', 'Dates', 'Eggs']],
    ['archived=false', ['Apples', 'Bread', 'Cheese', 'Dates', 'Eggs']],
    ['archived=true', ['Grapes', 'Figs']],
    ['column_id=$doing', ['Dates', 'Eggs']],
    ['column_id=$parked', []],
    ['column_id=$parked&archived=true', ['Figs']],
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
    ['assignee_id=nonsense', []],
    ['label_id=lbl_00000000000000000000', []],
  ]
  const fill = (query: string) =>
    query.replace(/\$(\w+)/g, (_all, name: string) => ({ ...column, ann: ann!.id, bob: bob!.id, red: red!, blue: blue! })[name]!)

  test.each(filters)('?%s', async (query, titles) => {
    for (const limit of [1, 2, 100]) expect(await board.titles(`?${encodeURI(fill(query))}`, limit)).toEqual(titles)
  })

  test('a program that keeps a copy asks for what was updated since', async () => {
    const since = async (query: string) => (await board.all(`/boards/${board.id}/cards?${fill(query)}`, 1)).map(({ title }) => title)
    const { updated_at } = await board.read(card['Eggs']!)
    const all = await since('updated_since=2020-01-01T00:00:00Z')
    expect(all.toSorted()).toEqual(['Apples', 'Bread', 'Cheese', 'Dates', 'Eggs'])
    const recent = await since(`updated_since=${updated_at}`)
    expect(recent).toEqual(all.slice(all.indexOf('Eggs')))
    const later = `updated_since=${new Date(service.now).toISOString()}`
    expect((await since(later)).toSorted()).toEqual(['Bread', 'Dates'])
    expect((await since(`${later}&assignee_id=$ann`)).toSorted()).toEqual(['Dates'])
    expect(await since(`${later}&archived=true`)).toEqual(['Grapes'])
  })

  test('counts, where they are asked for', async () => {
    await board.post(`/cards/${card['Eggs']}/comments`, { body: 'Hello' })
    await board.post(`/cards/${card['Eggs']}/subtasks`, { title: 'Boil' })
    const [, eggs] = (await board.get(`/boards/${board.id}/cards?column_id=${column['doing']}&include=counts`)).body.data
    expect(eggs.counts).toEqual({ subtasks: 1, comments: 1, attachments: 0 })
    const single = await board.get(`/cards/${card['Eggs']}?include=counts`)
    expect([single.body.data.counts, single.headers.get('etag')]).toEqual([eggs.counts, null])
    expect((await board.get(`/boards/${board.id}?include=counts`)).body.data.counts).toEqual({ columns: 3, cards: 7, labels: 2 })
  })

  test('what goes on with a cursor goes on in its own order', async () => {
    const since = 'updated_since=2020-01-01T00:00:00Z'
    const byPlace = (await board.get(`/boards/${board.id}/cards?limit=1`)).body.page.next_cursor
    const byUpdate = (await board.get(`/boards/${board.id}/cards?limit=1&${since}`)).body.page.next_cursor
    for (const query of [`${since}&cursor=${byPlace}`, `cursor=${byUpdate}`]) {
      const { status, body } = await board.get(`/boards/${board.id}/cards?${query}`)
      expect([status, body.error.issues[0].path]).toEqual([422, 'cursor'])
    }
    expect((await board.get(`/boards/${board.id}/cards?updated_since=2099-01-01T00:00:00Z&cursor=${byUpdate}`)).body.data).toEqual([])
  })

  test('a column that moves while its cards are paged takes none away, and gives none twice', async () => {
    const moving = await TestBoard.create(service, ann!)
    const [a, b, c] = [await moving.column('a'), await moving.column('b'), await moving.column('c')]
    for (const [name, id] of [
      ['a', a],
      ['b', b],
      ['c', c],
    ] as const)
      for (let i = 0; i < 4; i++) await moving.card(id, `${name}${i}`)
    const page = async (query: string) => {
      const { body } = await moving.get(`/boards/${moving.id}/cards?${query}`)
      return [body.data.map(({ title }: any) => title), body.page.next_cursor] as const
    }
    for (const to of ['first', 'last']) {
      const [, own] = await page(`limit=2&column_id=${b}`)
      await moving.post(`/columns/${b}/move`, { to })
      expect((await page(`limit=9&column_id=${b}&cursor=${own}`))[0]).toEqual(['b2', 'b3'])
      await moving.post(`/columns/${b}/move`, { after: a })
    }
    const [, whole] = await page('limit=6')
    await moving.post(`/columns/${b}/move`, { to: 'first' })
    expect((await page(`limit=99&cursor=${whole}`))[0]).toEqual(['b2', 'b3', 'c0', 'c1', 'c2', 'c3'])
  })

  test('a search that takes several readings finds each card once, while others move them', async () => {
    const busy = await TestBoard.create(service, ann!)
    const columns = await Promise.all(Array.from({ length: 10 }, (_, i) => busy.column(`${i}`)))
    const ids: string[] = []
    for (let i = 0; i < 20; i++) ids.push(await busy.card(columns[i % 10]!, `needle ${i}`))
    let going = true
    const move = async (): Promise<void> => {
      for (let i = 0; going; i++) {
        await busy.post(`/cards/${ids[i % 20]}/move`, { column_id: columns[(i * 7) % 10], to: i % 2 ? 'first' : 'last' })
        // In memory a request never waits for anything: others must have their turn.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const movers = [move()]
    for (let i = 0; i < 15; i++) {
      const reply = await busy.get(`/boards/${busy.id}/cards?q=needle&limit=100`)
      if (reply.status !== 503)
        expect(reply.body.data.map(({ title }: any) => title).toSorted()).toEqual(ids.map((_id, n) => `needle ${n}`).toSorted())
    }
    going = false
    await Promise.all(movers)
  })

  test.each(['9999-12-31T23:59:59-10:00', '0000-01-01T00:00:00+10:00', '2026-02-30T00:00:00Z', '2026-11-20', '2026-11-20T12:00:00'])(
    '%s is no time',
    async (due_at) => {
      const { status, body } = await board.send('PATCH', `/cards/${card['Eggs']}`, { due_at })
      expect([status, body.error.issues[0]]).toMatchObject([422, { path: 'due_at', message: expect.stringContaining('RFC 3339') }])
    },
  )

  test('a time is kept in UTC', async () => {
    expect((await board.ok(board.send('PATCH', `/cards/${card['Eggs']}`, { due_at: '2027-01-01T00:30:00+02:00' }))).body.data.due_at).toBe(
      '2026-12-31T22:30:00.000Z',
    )
  })

  test.each([
    ['archived=maybe', 'archived'],
    ['completed=1', 'completed'],
    ['updated_since=yesterday', 'updated_since'],
    ['q=', 'q'],
    [`q=${'x'.repeat(201)}`, 'q'],
    ['include=all', 'include'],
    ['cursor=eA', 'cursor'],
  ])('?%s is refused', async (query, path) => {
    const { status, body } = await board.get(`/boards/${board.id}/cards?${query}`)
    expect([status, body.error.issues[0].path]).toEqual([422, path])
  })

  test('a cursor that somebody wrote himself leads nowhere he may not go', async () => {
    for (const position of [
      '0 a0 {0.user_id} active 0 a0 x',
      '0 a0 ../../x active 0 a0 x',
      'x',
      '9 9 9',
      `0 a0 ${column['todo']} active x y`,
    ]) {
      const cursor = Buffer.from(`cards.list\n${position}`).toString('base64url')
      expect([200, 422]).toContain((await board.get(`/boards/${board.id}/cards?cursor=${cursor}`)).status)
    }
  })

  test('a list that changes while it is paged neither repeats nor skips what did not change', async () => {
    const moving = await TestBoard.create(service, ann!)
    const [left, right] = [await moving.column('left'), await moving.column('right')]
    const ids: string[] = []
    for (let i = 0; i < 20; i++) ids.push(await moving.card(i < 10 ? left : right, `${i}`))
    const seen: string[] = []
    let cursor: string | null = ''
    for (let page = 0; cursor !== null; page++) {
      const { body } = await moving.get(`/boards/${moving.id}/cards?limit=3${cursor && `&cursor=${cursor}`}`)
      seen.push(...body.data.map(({ title }: any) => title))
      cursor = body.page.next_cursor
      // The very last item that was returned goes away, another one is moved, a third one comes.
      if (page === 0) await moving.delete(`/cards/${ids[2]}`)
      if (page === 1) await moving.post(`/cards/${ids[5]}/move`, { to: 'last', column_id: right })
      if (page === 2) await moving.card(left, 'new', { before: ids[0] })
      if (page === 3) await moving.post(`/cards/${ids[11]}/archive`)
    }
    const touched = new Set(['2', '5', '11', 'new'])
    expect(seen.filter((title) => !touched.has(title))).toEqual(ids.map((_id, i) => `${i}`).filter((title) => !touched.has(title)))
  })

  test('the cost of a page is that of the page, whatever else is stored', async () => {
    const cost = async (other: TestBoard, query: string) => {
      await other.get(`/boards/${other.id}/cards?limit=5`)
      service.store.touched.length = 0
      await other.get(`/boards/${other.id}/cards?limit=5${query}`)
      return service.store.touched.length
    }
    const build = async (cards: number) => {
      const made = await TestBoard.create(service, ann!)
      const [one, two] = [await made.column('one'), await made.column('two')]
      for (let i = 0; i < cards; i++) await made.card(i % 2 ? one : two, `${i}`)
      const [first] = await made.all(`/boards/${made.id}/cards`)
      await made.put(`/cards/${first.id}/assignees/${bob!.id}`)
      return made
    }
    const [small, large] = [await build(20), await build(200)]
    for (const query of ['', `&assignee_id=${bob!.id}`, '&completed=true', '&archived=true'])
      expect([query, await cost(large, query)]).toEqual([query, await cost(small, query)])
    expect(await cost(large, '&q=nothing')).toBeGreaterThanOrEqual(2)
  })
})
