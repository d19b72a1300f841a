import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keys } from '../../src/store/keys.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'
import { invalid } from './refusals.ts'

/** A card as the test has created it. */
interface Known {
  readonly title: string
  readonly board: string
  /** the place of its column on the board */
  readonly column: number
  readonly inArchivedColumn: boolean
  readonly assignees: readonly string[]
  readonly label: boolean
  readonly due: string | null
  /** when it was completed, in milliseconds, and by whom */
  completed: number | null
  completedBy: string | null
  archived: boolean
  readonly created: number
  updated: number
}

type Filter = Readonly<Record<string, string>>
type Sort = 'position' | 'due_at' | 'updated_at' | 'created_at' | 'completed_at'

const DUE = [null, '2027-01-05T00:00:00.000Z', '2027-01-01T00:00:00.000Z', null, '2027-01-03T00:00:00.000Z', '2027-01-02T00:00:00.000Z']
/** The boards in the order of their creation, and who can read them. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  open: ['ann', 'bob', 'cyd'],
  shared: ['ann', 'bob'],
  hidden: ['bob'],
  last: ['ann', 'bob', 'cyd'],
}

/** The filters that name something on a board. */
const NAMING = ['board_id', 'column_id', 'label_id']

/** Who searches, and the size of their pages. */
const CALLERS = [
  ['ann', 3],
  ['bob', 7],
  ['cyd', 100],
] as const

describe.each(drivers)('the cards of all boards, on $name', (driver) => {
  let service: Service
  let people: Record<string, Person>
  const boards: Record<string, TestBoard> = {}
  const labels: Record<string, string> = {}
  /** by the board and the number of the column */
  const columnIds: Record<string, string> = {}
  const cards: Known[] = []
  const ids: Record<string, string> = {}

  beforeAll(async () => {
    service = await Service.start(driver)
    const workspaceId = await service.workspace()
    const person = (name: string) => service.person(workspaceId, 'member', name)
    people = { ann: await person('Ann'), bob: await person('Bob'), cyd: await person('Cyd') }
    const { ann, bob } = people as Record<'ann' | 'bob', Person>
    for (const name of Object.keys(READERS)) {
      const board = await TestBoard.create(service, name === 'open' ? ann : bob)
      if (name === 'shared') await board.add(ann)
      if (name === 'shared' || name === 'hidden') await board.makePrivate()
      boards[name] = board
      labels[name] = await board.label()
      const columns = [await board.column('One'), await board.column('Two')]
      for (const [i, id] of columns.entries()) columnIds[`${name} ${i}`] = id
      for (let i = 0; i < 6; i++) await createCard(name, columns, i)
      board.tick()
      if (name === 'last') await board.post(`/columns/${columns[1]}/archive`)
    }
    for (const [i, card] of cards.entries()) {
      const path = `/cards/${ids[card.title]}`
      if (i % 7 === 5) card.archived = true
      if (i % 5 === 0) await change(card, 'PATCH', path, { description: `Needle ${i}` })
      if (i % 4 === 1 || i % 4 === 2) await complete(card, i % 4 === 1 ? 'bob' : READERS[card.board]![0]!)
      if (card.archived) await change(card, 'POST', `${path}/archive`)
    }
  })
  afterAll(() => service.stop())

  async function createCard(name: string, columns: readonly string[], i: number): Promise<void> {
    const board = boards[name]!
    const assignees = (i % 3 === 0 ? ['ann'] : i % 3 === 1 ? ['bob', 'ann'] : ['bob']).filter((one) => READERS[name]!.includes(one))
    board.tick()
    const card: Known = {
      title: `${name} ${i}`,
      board: name,
      column: i % 2,
      inArchivedColumn: name === 'last' && i % 2 === 1,
      assignees,
      label: i % 2 === 0,
      due: DUE[i]!,
      completed: null,
      completedBy: null,
      archived: false,
      created: service.now,
      updated: service.now,
    }
    const members = { due_at: card.due, assignee_ids: assignees.map((one) => people[one]!.id), label_ids: card.label ? [labels[name]] : [] }
    ids[card.title] = await board.card(columns[i % 2]!, card.title, members)
    cards.push(card)
  }

  async function change(card: Known, method: string, path: string, body?: object): Promise<void> {
    boards[card.board]!.tick()
    card.updated = service.now
    expect((await boards[card.board]!.send(method, path, body)).status).toBe(200)
  }

  async function complete(card: Known, who: string): Promise<void> {
    boards[card.board]!.tick()
    Object.assign(card, { updated: service.now, completed: service.now, completedBy: who })
    const reply = await service.send(people[who]!.write, 'PUT', `/cards/${ids[card.title]}/completion`, { completed: true })
    expect(reply.status).toBe(200)
  }

  /** The boards of the columns and labels that a filter names. */
  const boardsOf = (filter: Filter) => NAMING.flatMap((name) => filter[name]?.split(' ')[0] ?? [])
  /** The time when the n-th card was completed: `@3` */
  const timeOf = (text: string) => cards.filter(({ completed }) => completed !== null)[Number(text.slice(1))]!.completed!

  /** The titles that a caller must get, by what the test knows. */
  function expected(caller: string, filter: Filter, sort: Sort, isDescending: boolean): string[] {
    const found = cards.filter((card, i) => {
      if (!READERS[card.board]!.includes(caller)) return false
      if ((card.archived || card.inArchivedColumn) !== (filter['archived'] === 'true')) return false
      const assignee = filter['assignee_id'] === 'me' ? caller : filter['assignee_id']
      if (assignee !== undefined && assignee !== 'none' && !card.assignees.includes(assignee)) return false
      if (filter['label_id'] !== undefined && !(card.label && card.board === filter['label_id'])) return false
      if (filter['assignee_id'] === 'none' && card.assignees.length > 0) return false
      if (filter['board_id'] !== undefined && card.board !== filter['board_id']) return false
      if (filter['column_id'] !== undefined && `${card.board} ${card.column}` !== filter['column_id']) return false
      if (filter['completed'] !== undefined && String(card.completed !== null) !== filter['completed']) return false
      if (sort === 'completed_at' && card.completed === null) return false
      const completer = filter['completed_by'] === 'me' ? caller : filter['completed_by']
      if (completer !== undefined && card.completedBy !== completer) return false
      const { completed_before: before, completed_after: after } = filter
      if (before !== undefined && !(card.completed !== null && card.completed < timeOf(before))) return false
      if (after !== undefined && !(card.completed !== null && card.completed >= timeOf(after))) return false
      if (filter['q'] !== undefined && !(filter['q'] === 'needle' && i % 5 === 0)) return false
      if (filter['due_before'] !== undefined && !(card.due !== null && card.due < filter['due_before'])) return false
      return filter['due_after'] === undefined || (card.due !== null && card.due >= filter['due_after'])
    })
    const keyOf = (card: Known) =>
      ({
        position: `${Object.keys(READERS).indexOf(card.board)} ${card.column} ${card.archived} ${card.created}`,
        due_at: `${card.due ?? 'never'} ${ids[card.title]}`,
        updated_at: `${card.updated}`,
        created_at: `${card.created}`,
        completed_at: `${card.completed}`,
      })[sort]
    const sorted = found.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).map(({ title }) => title)
    return isDescending ? sorted.toReversed() : sorted
  }

  const queryOf = (filter: Filter) =>
    Object.entries(filter)
      .map(([name, value]) => {
        const isUser = name === 'assignee_id' || name === 'completed_by'
        const named: Record<string, string | undefined> = {
          label_id: labels[value],
          board_id: boards[value]?.id,
          column_id: columnIds[value],
        }
        const id = isUser
          ? (people[value]?.id ?? value)
          : value.startsWith('@')
            ? new Date(timeOf(value)).toISOString()
            : (named[name] ?? value)
        return `&${name}=${encodeURIComponent(id)}`
      })
      .join('')
  const search = async (caller: string, query: string, limit = 100): Promise<any[]> =>
    TestBoard.all(service, people[caller]!.read, `/cards?${query}`, limit)
  const titles = async (caller: string, query: string, limit = 100) => (await search(caller, query, limit)).map(({ title }) => title)

  const filters: readonly Filter[] = [
    {},
    { assignee_id: 'me' },
    { assignee_id: 'me', completed: 'false' },
    { assignee_id: 'bob' },
    { assignee_id: 'bob', q: 'needle' },
    { assignee_id: 'ann', archived: 'true' },
    { label_id: 'open' },
    { label_id: 'hidden' },
    { label_id: 'shared', assignee_id: 'me' },
    { completed: 'true' },
    { archived: 'true' },
    { q: 'needle' },
    { due_before: '2027-01-03T00:00:00.000Z' },
    { due_after: '2027-01-02T00:00:00.000Z', due_before: '2027-01-05T00:00:00.000Z' },
    { due_after: '2027-01-02T00:00:00.000Z', assignee_id: 'me' },
    { assignee_id: 'none' },
    { assignee_id: 'none', board_id: 'open' },
    { board_id: 'shared' },
    { board_id: 'last', archived: 'true' },
    { board_id: 'open', assignee_id: 'me' },
    { board_id: 'open', label_id: 'last' },
    { column_id: 'shared 1' },
    { column_id: 'last 1' },
    { column_id: 'last 1', archived: 'true' },
    { column_id: 'open 0', assignee_id: 'none', completed: 'true' },
    { archived: 'true', assignee_id: 'none' },
    { column_id: 'open 0', label_id: 'open', completed: 'true' },
    { column_id: 'open 0', board_id: 'shared' },
    { column_id: 'shared 1', label_id: 'open' },
    { completed_by: 'me' },
    { completed_by: 'bob', archived: 'true' },
    { completed_by: 'bob', assignee_id: 'me' },
    { completed_by: 'cyd' },
    { completed_after: '@1', completed_before: '@6' },
    { completed_after: '@2', completed_by: 'bob', board_id: 'open' },
  ]
  const sorts: readonly Sort[] = ['position', 'due_at', 'updated_at', 'created_at', 'completed_at']
  test.each(filters.map((filter) => [JSON.stringify(filter), filter] as const))(
    'those that match %s are listed in each order, on pages of any size, to each caller',
    async (_title, filter) => {
      // The order and the filters do not depend on the driver.
      for (const [caller, limit] of driver === drivers[0] ? CALLERS : CALLERS.slice(0, 1))
        for (const sort of sorts)
          for (const order of ['asc', 'desc']) {
            const isContradiction = sort === 'completed_at' && filter['completed'] === 'false'
            const isHidden = boardsOf(filter).some((name) => !READERS[name]!.includes(caller))
            const isOnTwo = new Set(boardsOf(filter)).size > 1
            if (isContradiction || isHidden || isOnTwo) {
              const { status } = await service.send(people[caller]!.read, 'GET', `/cards?sort=${sort}${queryOf(filter)}`)
              expect([caller, sort, status]).toEqual([caller, sort, isContradiction ? 422 : 404])
              continue
            }
            const wanted = expected(caller, filter, sort, order === 'desc')
            const found = await titles(caller, `sort=${sort}&order=${order}${queryOf(filter)}`, limit)
            expect([caller, sort, order, ...found]).toEqual([caller, sort, order, ...wanted])
          }
    },
  )

  const onOneBoard = filters.filter((filter) =>
    ['due_after', 'due_before', 'completed_after', 'completed_by'].every((name) => !(name in filter)),
  )
  test.each(onOneBoard.map((filter) => [JSON.stringify(filter), filter] as const))(
    'those that match %s are listed column by column on each board, on pages of any size',
    async (_title, { board_id: _id, ...filter }) => {
      for (const [name, board] of Object.entries(boards)) {
        if (boardsOf(filter).some((other) => other !== name)) continue
        const path = `/boards/${board.id}/cards?${queryOf(filter)}`
        const wanted = expected('bob', { ...filter, board_id: name }, 'position', false)
        for (const limit of [1, 2, 100])
          expect([name, ...(await TestBoard.all(service, people['bob']!.read, path, limit)).map(({ title }) => title)]).toEqual([
            name,
            ...wanted,
          ])
      }
    },
  )

  test.each([
    ['', 'updated_at', true],
    ['sort=created_at', 'created_at', true],
    ['sort=due_at', 'due_at', false],
    ['sort=position', 'position', false],
    ['sort=completed_at', 'completed_at', true],
    ['order=asc', 'updated_at', false],
  ] as const)('the query "%s" has a default order', async (query, sort, isDescending) => {
    expect(await titles('ann', query)).toEqual(expected('ann', {}, sort, isDescending))
  })

  test('"me" is the user of the token on a board, too', async () => {
    const path = `/boards/${boards['open']!.id}/cards?assignee_id=`
    const all = (caller: string, who: string) => TestBoard.all(service, people[caller]!.read, path + who, 100)
    expect(await all('ann', 'me')).toEqual(await all('bob', people['ann']!.id))
    expect((await all('ann', 'me')).length).toBeGreaterThan(0)
  })

  test('a cursor belongs to one order', async () => {
    const page = (query: string) => service.send(people['ann']!.read, 'GET', `/cards?limit=1&${query}`)
    const cursor = (await page('sort=due_at')).body.page.next_cursor
    for (const query of ['sort=due_at&order=desc', 'sort=position', 'sort=updated_at', ''])
      expect(await page(`${query}&cursor=${cursor}`)).toMatchObject(invalid('cursor'))
    expect((await page(`sort=due_at&order=asc&cursor=${cursor}`)).status).toBe(200)
  })

  describe('of a hidden board', () => {
    const request = async (query: string) => {
      service.store.touched.length = 0
      const { status, body } = await service.send(people['ann']!.read, 'GET', `/cards?limit=3&${query}`)
      const { request_id: _id, ...error } = body.error ?? {}
      return { status, body: body.error === undefined ? body : error, touched: [...service.store.touched] }
    }
    const queries = sorts.flatMap((sort) => [
      `sort=${sort}`,
      `sort=${sort}&order=desc&q=e`,
      `sort=${sort}&assignee_id={bob}`,
      `sort=${sort}&completed_by={bob}`,
      `sort=${sort}&label_id={label}`,
      `sort=${sort}&column_id={column}`,
      `sort=${sort}&board_id={board}`,
    ])
    const fill = (query: string) =>
      query
        .replace('{bob}', people['bob']!.id)
        .replace('{label}', labels['hidden']!)
        .replace('{column}', columnIds['hidden 0']!)
        .replace('{board}', boards['hidden']!.id)

    test.each(queries)('no card is read, and neither their number nor their content changes a response: ?%s', async (query) => {
      const { bob } = people as Record<'bob', Person>
      const before = await request(fill(query))
      const added: string[] = []
      for (let i = 0; i < 3; i++) {
        boards['hidden']!.tick()
        added.push(
          (
            await boards['hidden']!.post(`/boards/${boards['hidden']!.id}/cards`, {
              column_id: (await boards['hidden']!.all(`/boards/${boards['hidden']!.id}/columns`))[0].id,
              title: 'e',
              due_at: '2027-01-01T00:00:00Z',
              assignee_ids: [bob.id],
              label_ids: [labels['hidden']],
            })
          ).body.data.id,
        )
      }
      expect(await request(fill(query))).toEqual(before)
      const hidden = [boards['hidden']!.id, ...added]
      // What is named tells its board, and the board who has access to it. Nothing else of them is read.
      const records = /(label|column|board)_id/.test(query)
        ? [keys.board(boards['hidden']!.id), keys.boardMember(boards['hidden']!.id, people['ann']!.id)]
        : []
      expect(before.touched.filter((name) => hidden.some((id) => name.includes(id)) && !(records as string[]).includes(name))).toEqual([])
      expect(before.touched.filter((name) => name.includes(labels['hidden']!) && name !== keys.label(labels['hidden']!))).toEqual([])
      for (const id of added) await boards['hidden']!.delete(`/cards/${id}`)
    })

    test('a forged cursor tells nothing of it', async () => {
      const { created_at } = (await boards['hidden']!.get(`/boards/${boards['hidden']!.id}`)).body.data
      const pageAfter = (sort: string, place: string) => {
        const cursor = Buffer.from(`cards.search\n${sort} asc ${place}`).toString('base64url')
        return request(`sort=${sort}&order=asc&cursor=${cursor}`)
      }
      const ofHidden = (await boards['hidden']!.all(`/boards/${boards['hidden']!.id}/cards`))[0]
      const rest = `0 a0 ${ofHidden.column_id} active 0 ${ofHidden.position} ${ofHidden.id}`
      const absent = 'brd_zzzzzzzzzzzzzzzzzzzz'
      expect(await pageAfter('position', `${created_at} ${boards['hidden']!.id} ${rest}`)).toEqual(
        await pageAfter('position', `${created_at} ${absent} ${rest}`),
      )
      for (const place of ['x', '', ' ', '~', `${ofHidden.created_at} ${ofHidden.id}`, '0'.repeat(240)])
        for (const sort of sorts) expect([200, 422]).toContain((await pageAfter(sort, place)).status)
    })
  })

  test('cards of a board that was deleted, or that the caller lost access to, are not listed any more', async () => {
    const { ann, bob } = people as Record<'ann' | 'bob', Person>
    const gone: TestBoard[] = []
    for (const name of ['Deleted', 'Hidden']) {
      const board = await TestBoard.create(service, bob)
      await board.card(await board.column(), name, { assignee_ids: [ann.id] })
      gone.push(board)
    }
    const listed = async () => (await titles('ann', 'assignee_id=me&q=d')).filter((title) => title === 'Deleted' || title === 'Hidden')
    expect((await listed()).toSorted()).toEqual(['Deleted', 'Hidden'])
    await gone[0]!.delete(`/boards/${gone[0]!.id}`)
    await gone[1]!.makePrivate()
    expect(await listed()).toEqual([])
  })
})
