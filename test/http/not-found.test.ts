import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { drivers } from '../support/drivers.ts'
import { requestExamples } from '../support/request-examples.ts'
import { bytes, Service, type Person } from '../support/service.ts'
import { buildWorld, createScenario, type Scenario, type World } from '../support/scenario.ts'

const withId = operations.filter(({ path }) => path.includes('{'))
const ANY = { 'caller.role': 'owner', 'caller.membership': 'active' }
const OWN_PRIVATE = { ...ANY, 'board.visibility': 'private', 'board.caller': 'creator', 'file.owner': 'caller', 'comment.author': 'caller' }
const HIDDEN = { ...ANY, 'board.visibility': 'private', 'board.caller': 'none', 'file.owner': 'other', 'file.visibility': 'private' }

/** Members of bodies that name something: which id of a stage they take, and what else the body needs. */
const named: [operation: string, member: string, param: string, rest: object][] = [
  ['columns.create', 'before', 'column_id', { name: 'x' }],
  ['columns.create', 'after', 'column_id', { name: 'x' }],
  ['columns.move', 'before', 'column_id', {}],
  ['columns.move', 'after', 'column_id', {}],
  ['cards.create', 'column_id', 'column_id', { title: 'x' }],
  ['cards.create', 'before', 'card_id', { title: 'x', column_id: 'own' }],
  ['cards.create', 'after', 'card_id', { title: 'x', column_id: 'own' }],
  ['cards.move', 'column_id', 'column_id', {}],
  ['cards.move', 'before', 'card_id', {}],
  ['cards.move', 'after', 'card_id', {}],
  ['subtasks.create', 'before', 'subtask_id', { title: 'x' }],
  ['subtasks.create', 'after', 'subtask_id', { title: 'x' }],
  ['subtasks.update', 'before', 'subtask_id', {}],
  ['subtasks.update', 'after', 'subtask_id', {}],
  ['attachments.attach', 'file_id', 'file_id', {}],
  ['cards.set_cover', 'attachment_id', 'attachment_id', {}],
]

describe.each(drivers)('what may not be seen is not there, on $name', (driver) => {
  let service: Service
  let world: World
  let own: Scenario
  let hiddenStage: Scenario
  /** what is wrong → a stage whose ids are wrong for that reason */
  const wrong = new Map<string, Readonly<Record<string, string>>>()
  let stranger: Person
  beforeAll(async () => {
    service = await Service.start(driver)
    world = await buildWorld(service)
    own = (await createScenario(world, OWN_PRIVATE))!
    const elsewhere = await buildWorld(service)
    stranger = elsewhere.other
    const [foreign, foreignPrivate, hidden] = [
      (await createScenario(elsewhere, OWN_PRIVATE))!,
      (await createScenario(elsewhere, HIDDEN))!,
      (await createScenario(world, HIDDEN))!,
    ]
    const nothing = Object.fromEntries(Object.entries(own.params).map(([name, id]) => [name, `${id.slice(0, 4)}00000000000000000000`]))
    const all = (change: (id: string) => string) => Object.fromEntries(Object.entries(own.params).map(([name, id]) => [name, change(id)]))
    wrong.set('nonexistent', nothing)
    wrong.set('of another workspace', { ...foreign.params, user_id: stranger.id })
    wrong.set('private in another workspace', { ...foreignPrivate.params, user_id: stranger.id })
    hiddenStage = hidden
    wrong.set('private', { ...hidden.params, user_id: nothing['user_id']! })
    wrong.set(
      'malformed',
      all(() => 'nonsense'),
    )
    wrong.set(
      'of another kind',
      all((id) => (id === own.params['user_id'] ? own.params['board_id']! : own.params['user_id']!)),
    )
    wrong.set(
      'in other case',
      all((id) => id.toUpperCase()),
    )
    wrong.set(
      'with a null byte',
      all(() => 'brd_%00'),
    )
    wrong.set(
      'with a broken escape',
      all(() => '%ZZ'),
    )
    wrong.set(
      'with an escaped slash',
      all(() => 'brd_%2f..%2f'),
    )
    wrong.set(
      'very long',
      all((id) => id.repeat(100)),
    )
    wrong.set(
      'a template of the store',
      all(() => '%7B0.user_id%7D'),
    )
    wrong.set(
      'a name of the prototype',
      all(() => '__proto__'),
    )
  })
  afterAll(() => service.stop())

  const fill = (path: string, params: Readonly<Record<string, string>>) => path.replace(/\{(\w+)\}/g, (_all, name: string) => params[name]!)
  const group = (answers: Map<string, string[]>, text: string, what: string) => answers.set(text, [...(answers.get(text) ?? []), what])
  function expectOne(answers: ReadonlyMap<string, string[]>): void {
    expect([...answers.values()]).toHaveLength(1)
    const [answer] = answers.keys()
    expect(answer).toMatch(/^404\n/)
    expect(JSON.parse(answer!.split('\n').at(-1)!)).toEqual({
      error: { code: 'not_found', message: expect.any(String), request_id: '<id>' },
    })
  }

  test.each(withId.map((row) => [row.id, row] as const))(
    '%s: one answer whatever is wrong with an id of the path',
    async (id, { method, path }) => {
      const answers = new Map<string, string[]>()
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
        for (const [reason, params] of wrong) {
          const at = fill(path, { ...own.params, [name!]: params[name!]! })
          group(
            answers,
            bytes(await service.send(own.caller.admin, method, at, requestExamples[id]!.body?.(own, undefined))),
            `${name} ${reason}`,
          )
        }
      }
      expectOne(answers)
    },
  )

  // On a Redis a step more is a time that can be measured.
  test.each(withId.map((row) => [row.id, row] as const))('%s: as many steps whatever is wrong', async (id, { method, path }) => {
    await service.send(own.caller.admin, 'GET', '/account')
    await service.app.services.usage.settled()
    const steps = new Map<string, number>()
    for (const [reason, params] of [...wrong, ['private, with all that it names', hiddenStage.params] as const]) {
      if (!reason.startsWith('private') && reason !== 'nonexistent' && reason !== 'of another workspace') continue
      const before = service.store.trips
      const reply = await service.send(
        own.caller.admin,
        method,
        fill(path, params),
        requestExamples[id]!.body?.({ ...own, params }, undefined),
      )
      expect([reason, reply.status]).toEqual([reason, 404])
      steps.set(reason, service.store.trips - before)
    }
    expect([id, ...steps]).toEqual([id, ...[...steps.keys()].map((reason) => [reason, 2])])
  })

  test.each(named)('%s: one answer whatever is wrong with "%s"', async (id, member, param, rest) => {
    const { method, path } = operations.find((row) => row.id === id)!
    const answers = new Map<string, string[]>()
    const visible = (await createScenario(world, {
      ...ANY,
      'board.visibility': 'workspace',
      'board.caller': 'none',
      'file.owner': 'other',
      'file.visibility': 'private',
    }))!
    for (const [reason, params] of [...wrong, ['of another board that one may see', visible.params] as const]) {
      const body = { ...('column_id' in rest ? { ...rest, column_id: own.params['column_id'] } : rest), [member]: params[param] }
      group(answers, bytes(await service.send(own.caller.admin, method, fill(path, own.params), body)), reason)
    }
    expectOne(answers)
  })

  test('a label, and a person, of another board', async () => {
    const visible = (await createScenario(world, { ...ANY, 'board.visibility': 'workspace', 'board.caller': 'creator' }))!
    const outsider = world.callers.get('member active')!
    const card = own.params['card_id']
    for (const path of [`/cards/${card}/labels/${visible.params['label_id']}`, `/cards/${card}/assignees/${outsider.id}`]) {
      for (const method of ['PUT', 'DELETE']) expect((await service.send(own.caller.admin, method, path)).status).toBe(404)
    }
  })

  test.each(['column_id', 'assignee_id', 'label_id'])('a list filtered by a foreign %s is empty', async (filter) => {
    const param = filter === 'assignee_id' ? 'user_id' : filter
    for (const [reason, params] of wrong) {
      const reply = await service.send(own.caller.read, 'GET', `/boards/${own.params['board_id']}/cards?${filter}=${params[param]}`)
      expect([reason, reply.status, reply.body.data]).toEqual([reason, 200, []])
    }
  })
})
