import { beforeEach, describe, expect, test, vi } from 'vitest'
import { Turns } from '../../src/governor/turns.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { recordUses, TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service, type Reply } from '../support/service.ts'

// That each decision equals the response of the operation is tested for every cell of the matrix, in matrix.test.ts.

const ME = { type: 'user', id: 'me' }
const ABSENT = 'brd_00000000000000000000'

let board: TestBoard
let card: string
const service = await Service.forSuite()
const workspaceId = await service.workspace()
const ann = await service.person(workspaceId, 'member', 'Ann')
const bob = await service.person(workspaceId, 'member', 'Bob')
const stranger = await service.person(await service.workspace('Other'), 'owner', 'Stranger')
await recordUses(service, ann, bob)
beforeEach(async () => {
  board = await TestBoard.create(service, ann)
  card = await board.card(await board.column())
})

const ask = (token: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  service.send(token, 'POST', '/access/evaluation', body, headers)
const askAll = (token: string, body: unknown): Promise<Reply> => service.send(token, 'POST', '/access/evaluations', body)
const about = (name: string, type = 'board', id = board.id, properties?: object, members?: object) => ({
  subject: ME,
  action: { name, ...(members && { properties: members }) },
  resource: { type, id, ...(properties && { properties }) },
})

describe('the answer to a question', () => {
  const cases: readonly (readonly [title: string, token: () => string, question: () => object, data: object])[] = [
    [
      'an allowed operation has the row and the reason of its rule',
      () => bob.admin,
      () => about('boards.update'),
      {
        decision: true,
        context: {
          row: 'P4',
          required_scope: 'kanban:write',
          reason: 'Board access includes editing these fields. Visibility and creator are excluded.',
        },
      },
    ],
    [
      'a member that no body of the operation has is invalid',
      () => ann.admin,
      () => about('boards.update', 'board', board.id, undefined, { name: 'x', visibility: 'private' }),
      {
        decision: false,
        context: {
          code: 'validation_failed',
          reason: 'The request does not match what this operation accepts: "visibility" is not a known member.',
          required_scope: 'kanban:write',
        },
      },
    ],
    [
      'an operation without its scope names the scopes',
      () => ann.read,
      () => about('boards.update'),
      {
        decision: false,
        context: {
          code: 'insufficient_scope',
          reason: 'The token lacks the scope that this operation requires.',
          required_scope: 'kanban:write',
          granted_scopes: ['kanban:read'],
          row: 'S2',
        },
      },
    ],
    [
      'a forbidden operation has the row and the reason of its rule',
      () => bob.admin,
      () => about('boards.set_visibility'),
      {
        decision: false,
        context: {
          code: 'forbidden',
          reason: 'P5: Only the creator decides who can see a board.',
          required_scope: 'kanban:admin',
          row: 'P5',
        },
      },
    ],
    [
      'a person who is not there names the property',
      () => bob.write,
      () => about('cards.assign', 'card', card, { user_id: 'usr_00000000000000000000' }),
      {
        decision: false,
        context: {
          code: 'not_found',
          reason: '"user_id" names no resource that can be used here.',
          required_scope: 'kanban:write',
          parameter: 'user_id',
        },
      },
    ],
    [
      'a list of the workspace is allowed, and its items are decided one by one',
      () => ann.read,
      () => about('boards.list', 'workspace', 'me'),
      {
        decision: true,
        context: {
          row: 'P2',
          required_scope: 'kanban:read',
          reason: 'Each item is decided on its own: those without access are left out.',
        },
      },
    ],
  ]
  test.each(cases)('about %s', async (_title, token, question, data) => {
    const reply = await ask(token(), question())
    expect({ status: reply.status, body: reply.body }).toEqual({ status: 200, body: { data } })
    expect(service.records.at(-1)!.evaluations![0]).not.toHaveProperty('open')
  })

  test.each<[title: string, question: () => object, expected: boolean | string]>([
    ['an upload, whose file does not exist yet', () => about('attachments.upload', 'card', card), true],
    ['the own workspace by its id', () => about('boards.create', 'workspace', ann.workspaceId), true],
    ['what is no id', () => about('boards.read', 'board', 'x'), ''],
    ['another workspace', () => about('boards.create', 'workspace', stranger.workspaceId), ''],
    ['the own token', () => ({ ...about('boards.read'), subject: { type: 'token', id: 'me' } }), true],
    [
      'the own user id, with what is ignored',
      () => ({ ...about('boards.read'), subject: { type: 'user', id: ann.id, properties: { role: 'owner' } }, context: { time: 'now' } }),
      true,
    ],
  ])('about %s', async (_title, question, expected) => {
    const { status, body } = await ask(ann.admin, question())
    const { decision, context } = body.data
    expect({ status, decision: decision === true ? true : (context.parameter ?? '') }).toEqual({ status: 200, decision: expected })
  })
})

// What is refused: input.test.ts.
describe('a question', () => {
  test('with empty properties is as one without', async () => {
    for (const properties of [undefined, {}]) {
      const action = { name: 'boards.update', ...(properties && { properties }) }
      const question = { subject: { type: 'user', id: 'me' }, action, resource: { type: 'board', id: board.id } }
      const { status, body } = await service.send(ann.write, 'POST', '/access/evaluation', question)
      expect({ status, decision: body.data.decision }).toEqual({ status: 200, decision: true })
    }
  })
})

describe('several questions', () => {
  test('are at most a hundred', async () => {
    const evaluations = Array.from({ length: 101 }, () => about('boards.read'))
    expect((await askAll(ann.read, { evaluations })).body.error.issues).toMatchObject([{ path: 'evaluations' }])
  })

  const decisions = async (token: string, body: object): Promise<boolean[]> =>
    (await askAll(token, { subject: ME, resource: { type: 'board', id: board.id }, ...body })).body.data.evaluations.map(
      ({ decision }: any) => decision,
    )
  const named = (...names: string[]) => names.map((name) => ({ action: { name } }))

  test.each<[semantic: string | undefined, expected: boolean[]]>([
    [undefined, [true, false, true, false]],
    ['execute_all', [true, false, true, false]],
    ['deny_on_first_deny', [true, false]],
    ['permit_on_first_permit', [true]],
  ])('with the semantic %s are answered in their order, up to the one that stops', async (semantic, expected) => {
    const evaluations = named('boards.read', 'boards.set_visibility', 'boards.update', 'boards.delete')
    expect(await decisions(bob.admin, { evaluations, ...(semantic && { options: { evaluations_semantic: semantic } }) })).toEqual(expected)
  })

  test('take the members that they leave out from the defaults, and no others', async () => {
    const evaluations = [
      {},
      { action: { name: 'boards.delete' } },
      { resource: { type: 'board', id: ABSENT } },
      { action: { name: 'cards.read' }, resource: { type: 'card', id: card } },
    ]
    expect(await decisions(bob.admin, { action: { name: 'boards.read' }, evaluations })).toEqual([true, false, false, true])
  })

  test.each([
    [0, 0],
    [0.25, 50],
    [1, 200],
    [4, 200],
  ])(
    'that take %f ms each, to read and to decide, wait for %i turns, before which other requests have their time',
    async (each, expected) => {
      let now = 0
      // Each look at the clock comes after another question.
      const turns = new Turns({ now: () => (now += each), afterPause: (work: () => void) => setImmediate(work) })
      const own = await Service.start(memory, { turns })
      const person = await own.person(await own.workspace())
      const { id } = await TestBoard.create(own, person)
      const waiting = vi.spyOn(turns, 'enter')
      const evaluations = Array.from({ length: 100 }, () => about('boards.read', 'board', id))
      const { body } = await own.send(person.read, 'POST', '/access/evaluations', { evaluations })
      expect({ evaluations: body.data.evaluations.length, pauses: waiting.mock.calls.length }).toEqual({
        evaluations: 100,
        pauses: expected,
      })
      await own.stop()
    },
  )

  test('belong to one state of the data: a change between their reads lets the request begin again', async () => {
    const evaluations = [
      { action: { name: 'boards.read' }, resource: { type: 'board', id: board.id } },
      { action: { name: 'cards.assign' }, resource: { type: 'card', id: card, properties: { user_id: ann.id } } },
    ]
    const { trips } = service.store
    expect(await decisions(bob.admin, { evaluations })).toEqual([true, true])
    const reads = service.store.trips - trips
    let left = reads - 1
    service.store.beforeRead = async () => {
      if (left-- > 0) return
      service.store.beforeRead = undefined
      await board.makePrivate()
    }
    expect(await decisions(bob.admin, { evaluations })).toEqual([false, false])
    const { attempts, evaluations: recorded } = service.records.at(-1)!
    expect(reads).toBeGreaterThanOrEqual(2)
    expect(attempts).toBe(2)
    expect(recorded!.map(({ operation, code }) => [operation, code])).toEqual([
      ['boards.read', 'not_found'],
      ['cards.assign', 'not_found'],
    ])
  })
})

describe('an evaluation', () => {
  test('that the token has not the scope for reads no resource', async () => {
    service.store.touched.length = 0
    const questions = [about('boards.delete'), about('cards.update', 'card', card)]
    const { body } = await askAll(ann.read, { subject: ME, evaluations: questions })
    expect(body.data.evaluations.map(({ context }: any) => context.code)).toEqual(['insufficient_scope', 'insufficient_scope'])
    expect(service.store.touched.filter((key) => /^(board|card)/.test(key))).toEqual([])
  })

  test('is no decision if the storage fails', async () => {
    const question = about('cards.assign', 'card', card, { user_id: ann.id })
    const { store } = service
    const statuses: number[] = []
    for (let failing = 1; statuses.at(-1) !== 200; failing++) {
      let reads = 0
      store.beforeRead = async () => {
        if (++reads === failing) throw new StorageUnavailable('away')
      }
      statuses.push((await ask(bob.write, question)).status)
      store.beforeRead = undefined
    }
    expect(statuses).toEqual([503, 503, 503, 200])
  })

  test('with an Idempotency-Key is decided anew each time', async () => {
    const headers = { 'idempotency-key': '"one"' }
    const first = await ask(bob.read, about('boards.read'), headers)
    await board.makePrivate()
    const second = await ask(bob.read, about('boards.read'), headers)
    expect({
      first: first.body.data.decision,
      second: second.body.data.decision,
      isReplayed: second.headers.has('idempotent-replayed'),
    }).toEqual({ first: true, second: false, isReplayed: false })
  })
})
