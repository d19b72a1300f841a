import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers, type Driver } from '../support/drivers.ts'
import { memory } from '../support/memory.ts'
import { bytes, type Reply } from '../support/service.ts'
import { conflict, invalid, notFoundBy } from './refusals.ts'

const many = (count: number, item: (i: number) => string) => Array.from({ length: count }, (_, i) => item(i))
const numbered = (prefix: string) => (i: number) => `${prefix}_${String(i).padStart(20, '0')}`

/** Registers the hooks of a suite on a private board with two members, and records that cannot be used on it. */
function setUpNames(driver: Driver) {
  const setup = setUpBoard(driver)
  /** name → id, of what bodies name: each is of the kind that its name begins with */
  let ids: Record<string, string>
  let others: Record<string, string>
  beforeAll(async () => {
    const { service, bob, cyd, workspaceId } = setup
    const hidden = await TestBoard.create(service, bob, 'private')
    const open = await TestBoard.create(service, bob)
    const other = await TestBoard.create(service, await service.person(await service.workspace()))
    const former = await service.person(workspaceId, 'member', 'Former')
    await service.leaveOnly(workspaceId, former.id)
    others = {
      labelOfHidden: await hidden.label(),
      labelOfOpen: await open.label(),
      labelOfOther: await other.label(),
      labelAbsent: numbered('lbl')(0),
      userWithoutAccess: cyd.id,
      userFormer: former.id,
      userOfOther: other.creator.id,
      userAbsent: numbered('usr')(0),
      malformed: 'nonsense',
    }
  })
  beforeEach(async () => {
    const { board, ann, bob } = setup
    await board.add(bob)
    await board.makePrivate()
    ids = { ...others, label: await board.label('One'), label2: await board.label('Two'), user: ann.id, user2: bob.id }
  })

  const named = (...names: string[]) => names.map((name) => ids[name]!)
  const create = (members: object, token = setup.ann.write, query = '') =>
    setup.service.send(token, 'POST', `/boards/${setup.board.id}/cards${query}`, { column_id: setup.columnId, title: 'New', ...members })
  const subtasksOf = async (cardId: string) =>
    (await setup.board.all(`/cards/${cardId}/subtasks`)).map(({ title, completed_at }) => [title, completed_at])
  /** Creates a card. @returns the response, and the number of commits */
  const createCounted = async (members: object, query?: string): Promise<[Reply, commits: number]> => {
    const { store } = setup.service
    const { commit } = store
    let commits = 0
    store.commit = (...change) => (commits++, commit.apply(store, change))
    const reply = await create(members, setup.ann.write, query)
    store.commit = commit
    return [reply, commits]
  }
  return { setup, named, create, createCounted, subtasksOf }
}

describe.each(drivers)('a card that is created with labels, assignees and subtasks, on $name', (driver) => {
  const { setup, named, create, createCounted, subtasksOf } = setUpNames(driver)

  test('has all of them, in the order of the body, from one commit on', async () => {
    const { board } = setup
    const subtasks = ['First', { title: ' Second ' }, { title: 'Third', completed: true }, ...many(20, (i) => `${i}`)]
    const [reply, commits] = await createCounted({ label_ids: named('label2', 'label'), assignee_ids: named('user2', 'user'), subtasks })
    expect({ status: reply.status, commits }).toEqual({ status: 201, commits: 1 })
    const { id } = reply.body.data
    expect(reply.body.data).toMatchObject({ label_ids: named('label2', 'label'), assignee_ids: named('user2', 'user') })
    expect((await board.get(`/cards/${id}`)).body).toEqual(reply.body)
    expect(await subtasksOf(id)).toEqual([
      ['First', null],
      ['Second', null],
      ['Third', board.now],
      ...many(20, (i) => `${i}`).map((i) => [i, null]),
    ])
    for (const filter of [`label_id=${named('label')[0]}`, `assignee_id=${named('user2')[0]}`])
      expect((await board.all(`/boards/${board.id}/cards?${filter}`)).map((card) => card.id)).toEqual([id])
    // Further ones come after them.
    await board.subtask(id, 'Last')
    expect((await subtasksOf(id)).map(([title]) => title).slice(-2)).toEqual(['19', 'Last'])
  })

  test('has as many as the limits allow', async () => {
    const reply = await create({ subtasks: many(limits.subtasksPerCard, (i) => `Subtask ${i}`) })
    expect((await subtasksOf(reply.body.data.id)).map(([title]) => title)).toEqual(many(limits.subtasksPerCard, (i) => `Subtask ${i}`))
    const labels: string[] = []
    for (let i = 0; i < limits.labelsPerCard; i++) labels.push(await setup.board.label())
    expect((await create({ label_ids: labels })).body.data.label_ids).toEqual(labels)
  })
})

describe('the creation of a card with labels, assignees and subtasks', () => {
  const { setup, named, create, createCounted } = setUpNames(memory)

  const [label, user] = [notFoundBy('label_id'), notFoundBy('user_id')]
  test.each<[what: string, members: () => object, expected: object]>([
    ['labels and an assignee who is absent', () => ({ label_ids: named('label'), assignee_ids: named('userAbsent') }), user],
    ['a label that is absent and valid assignees', () => ({ label_ids: named('labelAbsent'), assignee_ids: named('user') }), label],
    ['a valid label and a column that is absent', () => ({ label_ids: named('label'), column_id: 'col_0' }), notFoundBy('column_id')],
    ['a label twice', () => ({ label_ids: named('label', 'label2', 'label') }), invalid('label_ids.2')],
    ['an assignee twice', () => ({ assignee_ids: named('user', 'user') }), invalid('assignee_ids.1')],
    ['too many labels', () => ({ label_ids: many(limits.labelsPerCard + 1, numbered('lbl')) }), invalid('label_ids')],
    ['too many assignees', () => ({ assignee_ids: many(limits.assigneesPerCard + 1, numbered('usr')) }), invalid('assignee_ids')],
    ['too many subtasks', () => ({ subtasks: many(limits.subtasksPerCard + 1, String) }), invalid('subtasks')],
    ['no list of labels', () => ({ label_ids: named('label')[0] }), invalid('label_ids')],
    ['labels that are null', () => ({ label_ids: null }), invalid('label_ids')],
    ['a subtask without a title', () => ({ subtasks: ['One', {}] }), invalid('subtasks.1')],
    ['a subtask with a blank title', () => ({ subtasks: [' '] }), invalid('subtasks.0')],
    ['a subtask with a long title', () => ({ subtasks: ['x'.repeat(limits.subtaskTitle + 1)] }), invalid('subtasks.0')],
    ['a subtask with a place', () => ({ subtasks: [{ title: 'x', to: 'first' }] }), invalid('subtasks.0.to')],
    ['a subtask that is a number', () => ({ subtasks: [1] }), invalid('subtasks.0')],
  ])('is refused with %s, and nothing is changed', async (_what, members, expected) => {
    const [reply, commits] = await createCounted(members())
    expect(reply).toMatchObject(expected)
    expect(commits).toBe(0)
  })

  test('is refused in an archived column, after everything that it names was decided', async () => {
    await setup.board.post(`/columns/${setup.columnId}/archive`)
    const message = 'The column, or the card named by before or after, is archived.'
    expect(await create({ label_ids: named('label'), assignee_ids: named('user') })).toMatchObject(conflict(message))
    expect(await create({ label_ids: named('labelOfHidden') })).toMatchObject(label)
  })

  // If absent items were answered before hidden ones, the parameter would tell which of the two an item is.
  test.each([
    [
      'a label',
      (one: string) => ({ label_ids: [one], assignee_ids: named('userAbsent') }),
      ['labelOfHidden', 'labelOfOther', 'labelAbsent', 'malformed'],
    ],
    [
      'a label after another',
      (one: string) => ({ label_ids: [one, ...named('labelAbsent')] }),
      ['labelOfHidden', 'labelOfOther', 'malformed'],
    ],
    [
      'a person',
      (one: string) => ({ assignee_ids: [one, ...named('userOfOther')] }),
      ['userWithoutAccess', 'userFormer', 'userAbsent', 'malformed'],
    ],
  ])('the response tells nothing of %s that cannot be used, whatever else the body names', async (_what, members, names) => {
    const { service, ann } = setup
    await create({}, ann.write)
    const answers = new Set<string>()
    const trips = new Set<number>()
    for (const name of names) {
      const before = service.store.trips
      answers.add(bytes(await create(members(named(name)[0]!))))
      // A malformed id is known to be absent without a read.
      if (name !== 'malformed') trips.add(service.store.trips - before)
    }
    expect([...answers]).toHaveLength(1)
    expect([...trips]).toHaveLength(1)
  })

  test('each decision is in the decision record, up to the one that was denied', async () => {
    const { service } = setup
    await create({ label_ids: named('label'), assignee_ids: named('user2', 'userWithoutAccess', 'user'), subtasks: ['One'] })
    const { further } = service.records.at(-1)!
    expect(further!.map(({ permission, outcome }) => `${permission} ${outcome}`)).toEqual([
      'apply_label Card allowed',
      'assign Card allowed',
      'assign Card not_found',
    ])
    await create({ subtasks: ['One', 'Two'] })
    expect(service.records.at(-1)!.further!.map(({ permission }) => permission)).toEqual(['create Subtask'])
    await create({})
    expect(service.records.at(-1)).not.toHaveProperty('further')
  })
})
