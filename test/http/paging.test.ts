import { describe, expect, test } from 'vitest'
import { encodeCursor } from '../../src/listing/pages.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { withOwnDecisions, load, shippedFiles } from '../support/policy.ts'
import { Service, type Person } from '../support/service.ts'

// Boards that change between two pages: access-search.test.ts.
describe.each(drivers)('pages of boards, on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const workspaceId = await service.workspace()
  const ann = await service.person(workspaceId, 'member', 'Ann')
  const bob = await service.person(workspaceId, 'member', 'Bob')
  for (let i = 0; i < 25; i++) {
    service.now += 10
    const creator: Person = i % 2 ? ann : bob
    const board = await TestBoard.create(service, creator, creator === bob && i % 3 !== 0 ? 'private' : 'workspace')
    if (creator === bob && i % 3 === 1) await board.add(ann)
    await board.patch(`/boards/${board.id}`, { name: `Board ${i}` })
  }
  // Ann cannot see every third board of Bob.
  const visibleToAnn = Array.from({ length: 25 }, (_, i) => i)
    .filter((i) => i % 2 === 1 || i % 3 !== 2)
    .map((i) => `Board ${i}`)

  test.each([1, 2, 3, 7, 100])('pages of %i are filled although items are hidden, and return each item once in order', async (limit) => {
    const names: string[] = []
    const sizes: number[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await service.send(ann!.read, 'GET', `/boards?limit=${limit}${cursor && `&cursor=${cursor}`}`)
      names.push(...body.data.map(({ name }: any) => name))
      sizes.push(body.data.length)
      cursor = body.page.next_cursor
    }
    expect(names).toEqual(visibleToAnn)
    expect(sizes.slice(0, -1).every((size) => size === limit)).toBe(true)
    expect(sizes.at(-1)).toBeGreaterThan(0)
  })

  test('the creator of hidden boards gets all of them', async () => {
    expect(await TestBoard.all(service, bob!.read, '/boards', 4)).toHaveLength(25)
  })

  test('the cost of a page does not depend on the number of boards that other people hide', async () => {
    const workspaceId = await service.workspace()
    const owner = await service.person(workspaceId, 'owner')
    const guest = await service.person(workspaceId, 'member')
    for (let i = 0; i < 60; i++) await TestBoard.create(service, owner, 'private')
    await TestBoard.create(service, guest)
    service.store.touched.length = 0
    const { body } = await service.send(guest.read, 'GET', '/boards')
    expect(body.data).toHaveLength(1)
    expect(service.store.touched.length).toBeLessThan(10)
  })
})

test('an index only gives candidates: items that the permission table denies are left out, and pages are filled', async () => {
  // With this table only owners of the workspace, and its creator, can see a workspace board. The index still offers the board to everyone.
  const permissions = {
    ...shippedFiles.permissions,
    text: shippedFiles.permissions.text.replace(
      'conditions: { caller.membership: active, board.visibility: workspace }',
      'conditions: { caller.membership: active, board.visibility: workspace, caller.role: owner }',
    ),
  }
  const service = await Service.start(drivers[0]!, { engine: withOwnDecisions(load({ ...shippedFiles, permissions })) })
  const workspaceId = await service.workspace()
  const ann = await service.person(workspaceId)
  const bob = await service.person(workspaceId)
  for (let i = 0; i < 12; i++, service.now++) await service.send((i % 4 === 3 ? bob : ann).write, 'POST', '/boards', { name: `Board ${i}` })
  const { body } = await service.send(bob.read, 'GET', '/boards?limit=2')
  expect(body.data.map(({ name }: any) => name)).toEqual(['Board 3', 'Board 7'])
  const rest = await service.send(bob.read, 'GET', `/boards?limit=2&cursor=${body.page.next_cursor}`)
  expect(rest.body).toMatchObject({ data: [{ name: 'Board 11' }], page: { next_cursor: null } })
  // The same holds for the cards on them; some are assigned to them.
  for (const { id, creator_id } of (await service.send(ann.read, 'GET', '/boards')).body.data.concat(body.data)) {
    const creator = creator_id === ann.id ? ann : bob
    const column = (await service.send(creator.write, 'POST', `/boards/${id}/columns`, { name: 'x' })).body.data.id
    const assignee_ids = [creator_id]
    await service.send(creator.write, 'POST', `/boards/${id}/cards`, { column_id: column, title: creator.name, assignee_ids })
  }
  await service.write(workspaceId, async (tx) => {
    const { values } = await tx.range(indexes.assignmentsOf(ann.id), { limit: 1 })
    tx.put(keys.card(values[0]!.id), { ...values[0]!, assignee_ids: [bob.id] })
  })
  for (const query of ['sort=position', 'sort=created_at', 'assignee_id=me'])
    expect((await service.send(bob.read, 'GET', `/cards?${query}`)).body.data.map((card: any) => card.creator_id)).toEqual([bob.id, bob.id])
  await service.stop()
})

describe.each(drivers)('pages of cards, on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const workspaceId = await service.workspace()
  const ann = await service.person(workspaceId, 'member', 'Ann')
  const bob = await service.person(workspaceId, 'member', 'Bob')

  /** Reads one page of the cards of a board. */
  const page = async (board: TestBoard, query: string): Promise<{ titles: string[]; cursor: string | null }> => {
    const { body } = await board.get(`/boards/${board.id}/cards?${query}`)
    return { titles: body.data.map(({ title }: any) => title), cursor: body.page.next_cursor }
  }

  test('if a column is moved between two pages, no card of it is skipped or repeated', async () => {
    const board = await TestBoard.create(service, ann!)
    const columns = { a: await board.column('a'), b: await board.column('b'), c: await board.column('c') }
    for (const [name, id] of Object.entries(columns)) for (let i = 0; i < 4; i++) await board.card(id, `${name}${i}`)
    for (const to of ['first', 'last']) {
      const { cursor } = await page(board, `limit=2&column_id=${columns.b}`)
      await board.post(`/columns/${columns.b}/move`, { to })
      expect((await page(board, `limit=9&column_id=${columns.b}&cursor=${cursor}`)).titles).toEqual(['b2', 'b3'])
      await board.post(`/columns/${columns.b}/move`, { after: columns.a })
    }
    const { cursor } = await page(board, 'limit=6')
    await board.post(`/columns/${columns.b}/move`, { to: 'first' })
    expect((await page(board, `limit=99&cursor=${cursor}`)).titles).toEqual(['b2', 'b3', 'c0', 'c1', 'c2', 'c3'])
  })

  // Other cursors: listing/pages.test.ts and resources/positions.test.ts.
  test.each(['-1', '1.5', 'x', '1e99'])('a cursor with the forged generation "%s" is refused', async (generation) => {
    const board = await TestBoard.create(service, ann!)
    const column = await board.column()
    const card = await board.card(column)
    await board.subtask(card)
    for (const [path, list, position] of [
      [`/boards/${board.id}/columns`, 'columns.list', `${generation} a0 ${column}`],
      [`/cards/${card}/subtasks`, 'subtasks.list', `${generation} a0 x`],
      [`/boards/${board.id}/cards`, 'cards.list', `${generation} a0 ${column} active 0 a0 x`],
      [`/boards/${board.id}/cards`, 'cards.list', `0 a0 ${column} active ${generation} a0 x`],
    ] as const)
      expect([position, (await board.get(`${path}?cursor=${encodeCursor(list, position)}`)).status]).toEqual([position, 422])
  })

  test('a forged cursor does not tell whether a column of another board exists', async () => {
    const board = await TestBoard.create(service, ann!)
    const hidden = await TestBoard.create(service, bob!)
    const column = await hidden.column()
    await hidden.put(`/boards/${hidden.id}/visibility`, { visibility: 'private' })
    await service.write(bob!.workspaceId, async (tx) => {
      await tx.get(keys.order(column))
      tx.put(keys.order(column), { generation: 3, maps: [] })
    })
    const read = async (id: string) => {
      const cursor = encodeCursor('cards.list', `0 a0 ${id} active 3 a0 x`)
      const { status, body } = await board.get(`/boards/${board.id}/cards?cursor=${cursor}`)
      return [status, body.error.code, body.error.issues]
    }
    expect(await read(column)).toEqual(await read(`col_${'0'.repeat(20)}`))
  })

  test('a list of cards that changes between pages neither repeats nor skips unchanged items', async () => {
    const board = await TestBoard.create(service, ann!)
    const [left, right] = [await board.column('left'), await board.column('right')]
    const ids: string[] = []
    for (let i = 0; i < 20; i++) ids.push(await board.card(i < 10 ? left : right, `${i}`))
    const listed: string[] = []
    let cursor: string | null = ''
    for (let pages = 0; cursor !== null; pages++) {
      const next = await page(board, `limit=3${cursor && `&cursor=${cursor}`}`)
      listed.push(...next.titles)
      cursor = next.cursor
      // Deletes the last item of the first page, moves a second card, creates a third and archives a fourth.
      if (pages === 0) await board.delete(`/cards/${ids[2]}`)
      if (pages === 1) await board.post(`/cards/${ids[5]}/move`, { to: 'last', column_id: right })
      if (pages === 2) await board.card(left, 'new', { before: ids[0] })
      if (pages === 3) await board.post(`/cards/${ids[11]}/archive`)
    }
    const isUnchanged = (title: string) => !['2', '5', '11', 'new'].includes(title)
    expect(listed.filter(isUnchanged)).toEqual(ids.map((_id, i) => `${i}`).filter(isUnchanged))
  })

  test('the cost of a page does not depend on the number of stored cards', async () => {
    const cost = async (board: TestBoard, query: string) => {
      await board.get(`/boards/${board.id}/cards?limit=5`)
      service.store.touched.length = 0
      await board.get(`/boards/${board.id}/cards?limit=5${query}`)
      return service.store.touched.length
    }
    const build = async (cards: number) => {
      const board = await TestBoard.create(service, ann!)
      const [one, two] = [await board.column('one'), await board.column('two')]
      for (let i = 0; i < cards; i++) await board.card(i % 2 ? one : two, `${i}`)
      const [first] = await board.all(`/boards/${board.id}/cards`)
      await board.put(`/cards/${first.id}/assignees/${bob!.id}`)
      return board
    }
    const [small, large] = [await build(20), await build(200)]
    for (const query of ['', `&assignee_id=${bob!.id}`, '&completed=true', '&archived=true'])
      expect([query, await cost(large, query)]).toEqual([query, await cost(small, query)])
    expect(await cost(large, '&q=nothing')).toBeGreaterThanOrEqual(2)
  })
})
