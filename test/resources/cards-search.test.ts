import { describe, expect, test } from 'vitest'
import { keys } from '../../src/store/keys.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { memory } from '../support/memory.ts'
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
  /** `board` and `board+`, if it has them */
  readonly labels: readonly string[]
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

describe.each(drivers)('the cards of all boards, on $name', async (driver) => {
  const boards: Record<string, TestBoard> = {}
  const labels: Record<string, string> = {}
  /** by the board and the number of the column */
  const columnIds: Record<string, string> = {}
  const cards: Known[] = []
  const ids: Record<string, string> = {}

  const service = await Service.forSuite(driver)
  const workspaceId = await service.workspace()
  const person = (name: string) => service.person(workspaceId, 'member', name)
  const people: Record<string, Person> = { ann: await person('Ann'), bob: await person('Bob'), cyd: await person('Cyd') }
  const { ann, bob } = people as Record<'ann' | 'bob', Person>
  for (const name of Object.keys(READERS)) {
    const board = await TestBoard.create(service, name === 'open' ? ann : bob)
    if (name === 'shared') await board.add(ann)
    if (name === 'shared' || name === 'hidden') await board.makePrivate()
    boards[name] = board
    labels[name] = await board.label('Bug')
    labels[`${name}+`] = await board.label('Idea')
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
      labels: [...(i % 2 === 0 ? [name] : []), ...(i % 3 === 0 ? [`${name}+`] : [])],
      due: DUE[i]!,
      completed: null,
      completedBy: null,
      archived: false,
      created: service.now,
      updated: service.now,
    }
    const members = {
      due_at: card.due,
      assignee_ids: assignees.map((one) => people[one]!.id),
      label_ids: card.labels.map((label) => labels[label]!),
    }
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
  const boardsOf = (filter: Filter) =>
    NAMING.flatMap((name) => filter[name]?.split(',') ?? []).flatMap((one) => (one === 'none' ? [] : one.split(/[ +]/)[0]!))
  /** The time when the n-th card was completed: `@3` */
  const timeOf = (text: string) => cards.filter(({ completed }) => completed !== null)[Number(text.slice(1))]!.completed!

  /** Whether a card matches a filter, by what the test knows. */
  const matchers: Readonly<Record<string, (card: Known, value: string, caller: string) => boolean>> = {
    assignee_id: ({ assignees }, value, caller) =>
      value.split(',').some((one) => (one === 'none' ? assignees.length === 0 : assignees.includes(one === 'me' ? caller : one))),
    label_id: (card, value) => value.split(',').some((one) => (one === 'none' ? card.labels.length === 0 : card.labels.includes(one))),
    board_id: ({ board }, value) => board === value,
    column_id: ({ board, column }, value) => value.split(',').includes(`${board} ${column}`),
    completed: ({ completed }, value) => String(completed !== null) === value,
    completed_by: ({ completedBy }, value, caller) => completedBy === (value === 'me' ? caller : value),
    completed_before: ({ completed }, value) => completed !== null && completed < timeOf(value),
    completed_after: ({ completed }, value) => completed !== null && completed >= timeOf(value),
    q: (card) => cards.indexOf(card) % 5 === 0,
    due_before: ({ due }, value) => due !== null && due < value,
    due_after: ({ due }, value) => due !== null && due >= value,
    archived: () => true,
  }

  /** The titles that a caller must get. */
  function expected(caller: string, filter: Filter, sort: Sort, isDescending: boolean): string[] {
    const found = cards.filter(
      (card) =>
        READERS[card.board]!.includes(caller) &&
        (card.archived || card.inArchivedColumn) === (filter['archived'] === 'true') &&
        (sort !== 'completed_at' || card.completed !== null) &&
        Object.entries(filter).every(([name, value]) => matchers[name]!(card, value, caller)),
    )
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
      .map(([name, given]) => {
        const values = given.split(',').map((value) => {
          const user = people[value]?.id
          const known = {
            label_id: labels[value],
            board_id: boards[value]?.id,
            column_id: columnIds[value],
            assignee_id: user,
            completed_by: user,
          }
          const time = value.startsWith('@') ? new Date(timeOf(value)).toISOString() : value
          return known[name as keyof typeof known] ?? time
        })
        return `&${name}=${encodeURIComponent(values.join())}`
      })
      .join('')
  const titles = async (caller: string, query: string, limit = 100): Promise<string[]> =>
    (await TestBoard.all(service, people[caller]!.read, `/cards?${query}`, limit)).map(({ title }) => title)

  const filters: readonly Filter[] = [
    {},
    { assignee_id: 'me' },
    { assignee_id: 'me', completed: 'false' },
    { assignee_id: 'bob', q: 'needle' },
    { assignee_id: 'ann', archived: 'true' },
    { label_id: 'open' },
    { label_id: 'hidden' },
    { completed: 'true' },
    { archived: 'true' },
    { q: 'needle' },
    { due_before: '2027-01-03T00:00:00.000Z' },
    { due_after: '2027-01-02T00:00:00.000Z', due_before: '2027-01-05T00:00:00.000Z' },
    { assignee_id: 'none' },
    { assignee_id: 'none', board_id: 'open' },
    { board_id: 'shared' },
    { board_id: 'last', archived: 'true' },
    { board_id: 'open', label_id: 'last' },
    { column_id: 'shared 1' },
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
    { label_id: 'none' },
    { label_id: 'none', assignee_id: 'me' },
    { label_id: 'open,open+' },
    { label_id: 'open+,none' },
    { label_id: 'open,open+,open', assignee_id: 'bob', completed: 'false' },
    { label_id: 'open,last+' },
    { column_id: 'open 0,open 1' },
    { column_id: 'last 0,last 1', archived: 'true', label_id: 'last,last+' },
    { column_id: 'open 1,shared 0' },
    { assignee_id: 'ann,bob' },
    { assignee_id: 'me,none' },
    { assignee_id: 'bob,me', board_id: 'open', q: 'needle' },
    { assignee_id: 'none,none', label_id: 'none' },
  ]
  const sorts: readonly Sort[] = ['position', 'due_at', 'updated_at', 'created_at', 'completed_at']
  test.each(filters.map((filter) => [JSON.stringify(filter), filter] as const))(
    'that match %s are listed in each order, on pages of any size, to each caller',
    async (_title, filter) => {
      // The order and the filters do not depend on the driver.
      for (const [caller, limit] of driver === memory ? CALLERS : CALLERS.slice(0, 1))
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
    'that match %s are listed column by column on each board, on pages of any size',
    async (_title, { board_id: _id, ...filter }) => {
      for (const [name, board] of Object.entries(boards)) {
        if (boardsOf(filter).some((other) => other !== name)) continue
        const path = `/boards/${board.id}/cards?${queryOf(filter)}`
        const wanted = expected('bob', { ...filter, board_id: name }, 'position', false)
        for (const limit of [1, 2, 100]) {
          const found = await TestBoard.all(service, people['bob']!.read, path, limit)
          expect([name, ...found.map(({ title }) => title)]).toEqual([name, ...wanted])
        }
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
    const hidden = () => boards['hidden']!
    const request = async (query: string) => {
      service.store.touched.length = 0
      const { status, body } = await service.send(people['ann']!.read, 'GET', `/cards?limit=3&${query}`)
      const { request_id: _id, ...error } = body.error ?? {}
      return { status, body: body.error === undefined ? body : error, touched: [...service.store.touched] }
    }
    const filled = [
      '&order=desc&q=e',
      '&assignee_id={bob}',
      '&completed_by={bob}',
      '&label_id={label}',
      '&column_id={column}',
      '&board_id={board}',
    ]
    const queries = sorts.flatMap((sort) => ['', ...filled].map((rest) => `sort=${sort}${rest}`))
    const fill = (query: string) =>
      query.replace(/\{(\w+)\}/, (_all, name: string) => {
        const known = { bob: people['bob']!.id, label: labels['hidden']!, column: columnIds['hidden 0']!, board: hidden().id }
        return known[name as keyof typeof known]
      })

    test.each(queries)('no card is read, and neither their number nor their content changes a response: ?%s', async (query) => {
      const before = await request(fill(query))
      const added: string[] = []
      const members = { due_at: '2027-01-01T00:00:00Z', assignee_ids: [people['bob']!.id], label_ids: [labels['hidden']] }
      for (let i = 0; i < 3; i++) {
        hidden().tick()
        added.push(await hidden().card(columnIds['hidden 0']!, 'e', members))
      }
      expect(await request(fill(query))).toEqual(before)
      // What is named tells its board, and the board who has access to it. Nothing else of them is read.
      const records: string[] = /(label|column|board)_id/.test(query)
        ? [keys.board(hidden().id), keys.boardMember(hidden().id, people['ann']!.id), keys.label(labels['hidden']!)]
        : []
      const read = before.touched.filter((name) => [hidden().id, labels['hidden']!, ...added].some((id) => name.includes(id)))
      expect(read.filter((name) => !records.includes(name))).toEqual([])
      for (const id of added) await hidden().delete(`/cards/${id}`)
    })

    test('a forged cursor tells nothing of it', async () => {
      const { created_at } = (await hidden().get(`/boards/${hidden().id}`)).body.data
      const pageAfter = (sort: string, place: string) => {
        const cursor = Buffer.from(`cards.search\n${sort} asc ${place}`).toString('base64url')
        return request(`sort=${sort}&order=asc&cursor=${cursor}`)
      }
      const ofHidden = (await hidden().all(`/boards/${hidden().id}/cards`))[0]
      const rest = `0 a0 ${ofHidden.column_id} active 0 ${ofHidden.position} ${ofHidden.id}`
      const absent = 'brd_zzzzzzzzzzzzzzzzzzzz'
      const pageBehind = (id: string) => pageAfter('position', `${created_at} ${id} ${rest}`)
      expect(await pageBehind(hidden().id)).toEqual(await pageBehind(absent))
      for (const place of ['x', '', ' ', '~', `${ofHidden.created_at} ${ofHidden.id}`, '0'.repeat(240)])
        for (const sort of sorts) expect([200, 422]).toContain((await pageAfter(sort, place)).status)
    })
  })

  test('a card with several of the labels is found once, wherever it comes among the cards of each', async () => {
    const board = await TestBoard.create(service, ann)
    const [column_id, one, other] = [await board.column(), await board.label('One'), await board.label('Other')]
    // Enough that they are read in several steps: half of them have the second label alone, so that the first of both is read at another
    // step.
    const found: string[] = []
    for (let i = 0; i < 80; i += 20) {
      const operations = Array.from({ length: 20 }, (_, n) => {
        const title = `Card ${i + n}`
        const label_ids = n % 2 === 0 ? [other, one] : [other]
        return {
          operation: 'cards.create',
          body: { column_id, title, label_ids, due_at: `2027-01-01T00:00:${String((i + n) % 60).padStart(2, '0')}Z` },
        }
      })
      board.tick()
      await board.post(`/boards/${board.id}/batch`, { operations })
      found.push(...operations.map(({ body }) => body.title))
    }
    for (const sort of ['created_at', 'updated_at', 'due_at', 'position'])
      for (const order of ['asc', 'desc']) {
        const query = `label_id=${one},${other}&sort=${sort}&order=${order}`
        for (const limit of [1, 2, 100]) {
          const { status, body } = await board.get(`/cards?${query}&limit=${limit}`)
          expect({ query, limit, status, data: body.data?.length }).toEqual({
            query,
            limit,
            status: 200,
            data: Math.min(limit, found.length),
          })
        }
        expect((await titles('ann', query, 30)).toSorted()).toEqual(found.toSorted())
      }
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
