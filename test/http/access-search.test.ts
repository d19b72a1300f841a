import { describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { handWrittenCells, handWrittenOperations, type HandWrittenOperation } from '../support/hand-written-decisions.ts'
import { memory } from '../support/memory.ts'
import { edit } from '../support/other-policy.ts'
import { load, shippedFiles, withOwnDecisions } from '../support/policy.ts'
import { buildWorld, createScenario, SCOPES, type Facts, type ScopeName } from '../support/scenario.ts'
import { bytes, Service, type Person, type Reply } from '../support/service.ts'

interface Found {
  readonly name: string
  readonly properties?: { readonly requires: readonly string[] }
}

const ROLES = ['owner', 'admin', 'member'] as const
const KINDS = ['workspace', 'private'].flatMap((visibility) => ['creator', 'member', 'none'].map((caller) => [visibility, caller] as const))
const FILES = ['workspace', 'board', 'private'] as const
const HOMES = ['workspace', 'private_member', 'private_other', 'deleted'] as const

/** What an operation must name in addition to its resource, by its documentation, and the facts that depend on it. */
const REQUIRED: Readonly<Record<string, readonly [name: string, facts: RegExp]>> = {
  ...Object.fromEntries(
    handWrittenOperations.flatMap(({ id, path }) => {
      const [, second] = /\{.*\{(\w+)_id\}/.exec(path) ?? []
      return second === undefined ? [] : [[id, [`${second}_id`, new RegExp(`^${second}\\.`)]]]
    }),
  ),
  'cards.create': ['column_id', /^$/],
  'attachments.attach': ['file_id', /^(?:file|home)\./],
  'cards.set_cover': ['attachment_id', /^(?:file|home)\./],
}

const typeOf = ({ path }: HandWrittenOperation): string => /\{(\w+)_id\}/.exec(path)?.[1] ?? 'workspace'
const types = [...new Set(handWrittenOperations.map(typeOf))]
const operationsOn = (type: string) => handWrittenOperations.filter((operation) => typeOf(operation) === type)

/** Whether the hand-written decisions allow an operation with these facts, and with some of those that are open. */
function isAllowed(operation: HandWrittenOperation, facts: Facts, scope: ScopeName): boolean {
  if (SCOPES.indexOf(scope) < SCOPES.indexOf(operation.scope)) return false
  // The items of a list are decided one by one.
  if (['boards.list', 'cards.search'].includes(operation.id)) return true
  const open = REQUIRED[operation.id]?.[1]
  const cells = handWrittenCells(operation).filter(({ facts: ofCell }) =>
    Object.entries(ofCell).every(([name, value]) => open?.test(name) === true || facts[name] === value),
  )
  expect([operation.id, cells.length > 0]).toEqual([operation.id, true])
  if (typeof operation.decision === 'string') return cells.some(({ response }) => response === 'ok')
  // By field: those that the operation takes.
  const { decision } = operation
  return cells.filter(({ field }) => decision[field!] !== 'untouchable').every(({ response }) => response === 'ok')
}

/** Facts of a scenario for each role and kind of board; the others take turns. */
const combinations = ROLES.flatMap((role, r) =>
  KINDS.map(([visibility, caller], k): [title: string, i: number, facts: Facts] => {
    const i = r * KINDS.length + k
    return [
      `${role}, ${visibility} ${caller}`,
      i,
      {
        'caller.role': role,
        'caller.membership': 'active',
        'board.visibility': visibility,
        'board.caller': caller,
        'comment.author': i % 2 === 0 ? 'caller' : 'other',
        'webhook.creator': i % 3 === 0 ? 'caller' : 'other',
        'file.owner': i % 5 === 0 ? 'caller' : 'other',
        'file.visibility': FILES[i % 3]!,
        'home.board': HOMES[(i + r) % 4]!,
      },
    ]
  }),
)

const searchActions = (service: Service, token: string, resource: object, more: object = {}): Promise<Reply> =>
  service.send(token, 'POST', '/access/search/action', { resource, ...more })
/** Searches for the boards that an operation is allowed on. */
const searchBoards = (service: Service, token: string, name: string, more: object = {}): Promise<Reply> =>
  service.send(token, 'POST', '/access/search/resource', { action: { name }, resource: { type: 'board' }, ...more })

// That an evaluation answers the same is tested for every cell of the matrix, in matrix.test.ts.
describe('the operations on a resource', async () => {
  const service = await Service.forSuite()
  const world = await buildWorld(service)

  test.each(combinations)('for %s are those that the hand-written decisions allow', async (_title, i, facts) => {
    for (const type of types) {
      // The facts about a card are about its cover, those about an attachment about its file.
      const known: Facts = type === 'card' ? { ...facts, 'cover.state': i % 4 === 3 ? 'none' : 'set' } : facts
      const { caller, params } = (await createScenario(world, known))!
      const resource = { type, id: type === 'workspace' ? 'me' : params[`${type}_id`]! }
      expect((await searchActions(service, caller.none, resource)).body.error.code).toBe('insufficient_scope')
      for (const scope of SCOPES.slice(1)) {
        const expected = operationsOn(type).flatMap((operation) => {
          const required = REQUIRED[operation.id]
          if (!isAllowed(operation, known, scope)) return []
          return [{ name: operation.id, ...(required && { properties: { requires: [required[0]] } }) }]
        })
        const { page, results } = (await searchActions(service, caller[scope], resource)).body.data
        expect(page).toEqual({ next_token: '', count: results.length })
        const byName = (a: Found, b: Found) => (a.name < b.name ? -1 : 1)
        expect([type, scope, results.toSorted(byName)]).toEqual([type, scope, expected.toSorted(byName)])
      }
    }
  })

  test('that is absent, hidden, foreign or malformed are empty, byte for byte, and cost the same', async () => {
    const hidden = { 'caller.role': 'owner', 'caller.membership': 'active', 'board.visibility': 'private', 'board.caller': 'none' }
    const scenario = (await createScenario(world, hidden))!
    const stranger = await service.person(await service.workspace('Other'), 'owner', 'Stranger')
    const foreign = await TestBoard.create(service, stranger)
    for (const type of types.filter((one) => one !== 'workspace' && one !== 'file')) {
      const own = scenario.params[`${type}_id`]!
      const ids = [own, `${own.slice(0, 4)}00000000000000000000`, type === 'board' ? foreign.id : 'crd', 'x', '', '../boards']
      const replies: string[] = []
      const trips: number[] = []
      for (const id of ids) {
        const before = service.store.trips
        replies.push(bytes(await searchActions(service, scenario.caller.admin, { type, id })))
        trips.push(service.store.trips - before)
      }
      expect({ type, distinct: new Set(replies).size, data: JSON.parse(replies[0]!.slice(replies[0]!.indexOf('{"data"'))).data }).toEqual({
        type,
        distinct: 1,
        data: { page: { next_token: '', count: 0 }, results: [] },
      })
      // What is malformed is not looked for, as below every path.
      expect([type, new Set(trips.slice(0, 2)).size]).toEqual([type, 1])
    }
    const elsewhere = await searchActions(service, scenario.caller.admin, { type: 'workspace', id: stranger.workspaceId })
    expect(elsewhere.body.data.results).toEqual([])
  })

  test('continue on the next page', async () => {
    const person = await service.person(await service.workspace())
    const resource = { type: 'board', id: (await TestBoard.create(service, person)).id }
    const whole = (await searchActions(service, person.admin, resource)).body.data.results
    const paged: Found[] = []
    let token: string | undefined
    for (let pages = 0; token !== ''; pages++) {
      const { body } = await searchActions(service, person.admin, resource, { page: { limit: 5, token } })
      expect(pages).toBeLessThan(10)
      expect(body.data.results.length).toBeLessThanOrEqual(5)
      expect(body.data.page.count).toEqual(body.data.results.length)
      paged.push(...body.data.results)
      token = body.data.page.next_token
    }
    expect({ paged, count: whole.length }).toEqual({ paged: whole, count: operationsOn('board').length })
  })
})

describe.each(drivers)('the boards that an operation is allowed on, on $name', async (driver) => {
  const boards: TestBoard[] = []
  const others: Person[] = []
  const service = await Service.forSuite(driver)
  const world = await buildWorld(service)
  others.push(await service.person(world.workspaceId, 'member', 'Second'))
  const callers = ROLES.map((role) => world.callers.get(`${role} active`)!)
  for (const creator of [...callers, others[0]!]) {
    boards.push(await TestBoard.create(service, creator), await TestBoard.create(service, creator, 'private'))
    const shared = await TestBoard.create(service, creator, 'private')
    for (const person of callers) if (person !== creator) await shared.add(person)
    boards.push(shared)
  }

  const findAll = async (token: string, name: string, limit: number, resource: object = {}): Promise<string[]> => {
    const found: string[] = []
    for (let [next, pages] = ['', 0]; pages === 0 || next !== ''; pages++) {
      expect(pages).toBeLessThan(100)
      const page = { limit, ...(next && { token: next }) }
      const { data } = (await searchBoards(service, token, name, { resource: { type: 'board', ...resource }, page })).body
      expect(data.results.length).toBeLessThanOrEqual(limit)
      for (const { type, id } of data.results) found.push(`${type} ${id}`)
      next = data.page.next_token
    }
    return found
  }

  test.each(ROLES)('are the boards of the list that an evaluation of the %s allows, whatever the size of a page', async (role) => {
    const caller = world.callers.get(`${role} active`)!
    const listed: string[] = (await service.send(caller.read, 'GET', '/boards?limit=100')).body.data.map(({ id }: any) => id)
    expect(listed.length).toBeGreaterThan(6)
    for (const [i, operation] of operationsOn('board').entries()) {
      const limit = [1, 4, 100][i % 3]!
      const column_id = await boards.find(({ creator }) => creator === caller)!.column()
      const given = { user_id: others[0]!.id, column_id }
      const required = REQUIRED[operation.id]?.[0] as keyof typeof given | undefined
      const properties = required && { [required]: given[required] }
      const evaluations = listed.map((id) => ({
        subject: { type: 'user', id: 'me' },
        action: { name: operation.id },
        resource: { type: 'board', id, ...(properties && { properties }) },
      }))
      for (const scope of ['read', 'admin'] as const) {
        const { body } = await service.send(caller[scope], 'POST', '/access/evaluations', { evaluations })
        const expected = listed.filter((_, i) => body.data.evaluations[i].decision).map((id) => `board ${id}`)
        const found = await findAll(caller[scope], operation.id, limit, properties && { properties })
        expect([operation.id, scope, limit, found]).toEqual([operation.id, scope, limit, expected])
      }
    }
  })

  test('that must name more are the ones that allow it with some of it', async () => {
    const caller = world.callers.get('member active')!
    const find = (name: string) => findAll(caller.admin, name, 100)
    const own = boards.filter(({ creator }) => creator === caller).map(({ id }) => `board ${id}`)
    expect((await find('board_members.add')).toSorted()).toEqual(own.toSorted())
    const listed = (await service.send(caller.read, 'GET', '/boards?limit=100')).body.data.map(({ id }: any) => `board ${id}`)
    expect(await find('cards.create')).toEqual(listed)
  })

  test('go on behind a page that is full by chance, decide no board behind a full one, and pass over deleted ones', async () => {
    const person = await service.person(await service.workspace('Many'), 'member', 'Many')
    const colleague = await service.person(person.workspaceId, 'member', 'Colleague')
    const deleted = await TestBoard.create(service, colleague, 'private')
    await TestBoard.create(service, colleague)
    await deleted.add(person)
    await deleted.delete(`/boards/${deleted.id}`)
    const own: string[] = []
    for (let i = 0; i < 27; i++) own.push(`board ${(await TestBoard.create(service, person)).id}`)
    // The first 26 boards are 25 own ones and one of the colleague.
    expect((await findAll(person.admin, 'boards.delete', 25)).toSorted()).toEqual(own.toSorted())
    await searchBoards(service, person.admin, 'boards.delete', { page: { limit: 1 } })
    const decided = service.records.at(-1)!.evaluations!.reduce((sum, { count = 1 }) => sum + count, 0)
    expect(decided).toBeLessThan(27)
  })

  test('are neither repeated nor left out while boards change', async () => {
    const person = await service.person(await service.workspace('Changing'), 'member', 'Changer')
    const colleague = await service.person(person.workspaceId, 'member', 'Colleague')
    const all: TestBoard[] = []
    for (let i = 0; i < 8; i++) {
      all.push(await TestBoard.create(service, i === 5 ? colleague : person))
      service.now += 1000
    }
    const next = async (token?: string) =>
      (await searchBoards(service, person.write, 'boards.update', { page: { limit: 2, token } })).body.data
    const first = await next()
    await all[0]!.delete(`/boards/${all[0]!.id}`)
    await all[1]!.delete(`/boards/${all[1]!.id}`)
    await all[2]!.patch(`/boards/${all[2]!.id}`, { name: 'Renamed' })
    await all[5]!.makePrivate()
    const added = await TestBoard.create(service, person)
    const found = [first]
    while (found.at(-1).page.next_token !== '' && found.length < 20) found.push(await next(found.at(-1).page.next_token))
    const ids = found.flatMap(({ results }) => results.map(({ id }: any) => id))
    expect(ids).toEqual([...[0, 1, 2, 3, 4, 6, 7].map((i) => all[i]!.id), added.id])
  })

  test('do not tell of private boards of others, byte for byte', async () => {
    const workspaceId = await service.workspace('Quiet')
    const [person, colleague] = [await service.person(workspaceId), await service.person(workspaceId)]
    const own = await TestBoard.create(service, person)
    const hidden = await TestBoard.create(service, colleague, 'private')
    const search = () => searchBoards(service, person.admin, 'boards.read', { page: { limit: 1 } })
    const before = await search()
    expect(before.body.data).toEqual({ page: { next_token: '', count: 1 }, results: [{ type: 'board', id: own.id }] })
    await hidden.delete(`/boards/${hidden.id}`)
    expect(bytes(await search())).toBe(bytes(before))
  })
})

// What a search refuses: input.test.ts.
describe('a search', async () => {
  const PLENTY = { quotas: { token: 1_000_000, workspace: 1_000_000, address: 10 } }
  const service = await Service.forSuite(memory, { rateLimits: PLENTY })
  const workspaceId = await service.workspace()
  const ann = await service.person(workspaceId, 'member', 'Ann')
  const bob = await service.person(workspaceId, 'member', 'Bob')
  const board = await TestBoard.create(service, ann)

  const onBoard = (token: string, more: object = {}) => searchActions(service, token, { type: 'board', id: board.id }, more)

  test('takes the tokens of its own pages alone', async () => {
    await TestBoard.create(service, ann)
    const first = await searchBoards(service, ann.admin, 'boards.read', { page: { limit: 1 } })
    const { next_token: token } = first.body.data.page
    expect(token).not.toBe('')
    const other = await searchBoards(service, ann.admin, 'boards.update', { page: { token } })
    expect({ status: other.status, path: other.body.error.issues[0].path }).toEqual({ status: 422, path: 'page.token' })
    expect((await onBoard(ann.admin, { page: { token } })).status).toBe(422)
    expect((await searchBoards(service, bob.admin, 'boards.read', { page: { token } })).status).toBe(200)
  })

  test('takes the calling token as its subject in each form, and ignores the id of the resource that it searches for', async () => {
    const { body } = await onBoard(ann.read)
    for (const subject of ['user me', 'token me', `user ${ann.id}`]) {
      const [type, id] = subject.split(' ')
      expect((await onBoard(ann.read, { subject: { type, id } })).body).toEqual(body)
    }
    const boards = await searchBoards(service, ann.read, 'boards.read')
    const withId = await searchBoards(service, ann.read, 'boards.read', { resource: { type: 'board', id: 'brd_00000000000000000000' } })
    expect(withId.body).toEqual(boards.body)
  })

  test('that the token has not the scope for reads no board, and finds none', async () => {
    service.store.touched.length = 0
    const { body } = await searchBoards(service, ann.read, 'boards.delete')
    expect({ results: body.data.results, touched: service.store.touched.filter((key) => /board/.test(key)) }).toEqual({
      results: [],
      touched: [],
    })
    expect(service.records.at(-1)!.evaluations).toMatchObject([{ operation: 'boards.delete', code: 'insufficient_scope', count: 1 }])
  })

  test('for many boards costs one unit for each 4, leaves few records, and goes on behind 400 of little use', async () => {
    const workspaceId = await service.workspace('Large')
    const [person, colleague] = [await service.person(workspaceId), await service.person(workspaceId)]
    const own: object[] = []
    const create = async () => (own.push({ type: 'board', id: (await TestBoard.create(service, person)).id }), void (service.now += 1000))
    for (let i = 0; i < 10; i++) await create()
    for (let i = 0; i < 430; i++) await TestBoard.create(service, colleague)
    service.now += 60_000
    await create()
    const remaining = ({ headers }: Reply) => Number(/"token";r=(\d+)/.exec(headers.get('ratelimit')!)![1])
    const before = remaining(await service.send(person.admin, 'GET', '/account'))
    const find = (token?: string) => searchBoards(service, person.admin, 'boards.set_visibility', { page: { limit: 40, token } })
    const countsOf = () => service.records.at(-1)!.evaluations!.map(({ code, count }) => [code, count])
    // 41 boards, and then 31 at once, because 10 are found.
    const first = await find()
    const { results, page } = first.body.data
    expect({ results, counts: countsOf() }).toEqual({
      results: own.slice(0, 10),
      counts: [
        [undefined, 10],
        ['forbidden', 403],
      ],
    })
    expect(before - remaining(first)).toBe(Math.ceil(413 / 4))
    const second = await find(page.next_token)
    expect(second.body.data).toEqual({ page: { next_token: '', count: 1 }, results: own.slice(10) })
    expect(countsOf()).toEqual([
      ['forbidden', 27],
      [undefined, 1],
    ])
    expect(remaining(first) - remaining(second)).toBe(Math.ceil(28 / 4))
    // For one that is hidden or absent, too.
    const actions = await searchActions(service, person.admin, own[0]!)
    const none = await searchActions(service, person.admin, { type: 'board', id: 'brd_00000000000000000000' })
    expect([remaining(second) - remaining(actions), remaining(actions) - remaining(none)]).toEqual(
      Array.from({ length: 2 }, () => Math.ceil(operationsOn('board').length / 4)),
    )
  })
})

describe('with another policy, a search', () => {
  const engineWith = (text: string, by: string) => withOwnDecisions(load(edit(shippedFiles, [['permissions', text, by]])))

  test('finds an action that is allowed for some value of the members that it leaves open, whichever value that is', async () => {
    const engine = engineWith(
      'conditions: { board.access: true, board.caller: creator, user.member: true }',
      'conditions: { board.access: true, board.caller: creator, user.member: true, user.board: none }',
    )
    const service = await Service.start(memory, { engine })
    const [ann, bob] = [await service.person(await service.workspace()), 'usr_00000000000000000000']
    const { id } = await TestBoard.create(service, ann)
    const find = async (properties?: object): Promise<Found | undefined> => {
      const { body } = await searchActions(service, ann.admin, { type: 'board', id, properties })
      const recorded = service.records.at(-1)!.evaluations!.find(({ operation }) => operation === 'board_members.add')!
      expect(recorded.open).toEqual(properties === undefined ? ['user_id'] : undefined)
      return body.data.results.find(({ name }: Found) => name === 'board_members.add')
    }
    expect({ anybody: await find(), me: await find({ user_id: 'me' }), bob: await find({ user_id: bob }) }).toStrictEqual({
      anybody: { name: 'board_members.add', properties: { requires: ['user_id'] } },
      me: undefined,
      bob: undefined,
    })
    await service.stop()
  })

  test('has no token that tells of a board that the caller has no access to', async () => {
    const engine = engineWith(
      'conditions: { caller.membership: active, board.visibility: workspace }',
      'conditions: { caller.membership: active, board.visibility: workspace, caller.role: owner }',
    )
    const service = await Service.start(memory, { engine })
    const workspaceId = await service.workspace()
    const [ann, bob] = [await service.person(workspaceId), await service.person(workspaceId)]
    const own = await TestBoard.create(service, ann)
    service.now += 60_000
    for (let i = 0; i < 410; i++) await TestBoard.create(service, bob)
    const { body } = await searchBoards(service, ann.read, 'boards.read')
    const { next_token: token } = body.data.page
    expect(body.data.results).toEqual([{ type: 'board', id: own.id }])
    expect(Buffer.from(token, 'base64url').toString().split(' ').at(-1)).toBe(own.id)
    const next = await searchBoards(service, ann.read, 'boards.read', { page: { token } })
    expect(next.body.data).toEqual({ page: { next_token: '', count: 0 }, results: [] })
    await service.stop()
  })
})
