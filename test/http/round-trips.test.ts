import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/resources/operation.ts'
import { operations } from '../../src/resources/table.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { recordUses } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { buildWorld, createAllowed, exampleBody, headersFor, outcomeOf, pathOf, type Scenario, type World } from '../support/scenario.ts'
import { Service } from '../support/service.ts'

/**
 * How often an allowed request accesses the storage, if the process has seen its token before, and whether it conflicts with
 * a change of the name of its board, and of the title of its card. Redis needs fewer if the process remembers all that comes first, as it
 * does in this test without a new resource in the path. Written by hand.
 */
const expected: Readonly<Record<string, readonly [accesses: number, conflictsWith?: string, remembered?: number]>> = {
  'account.read': [1],
  'access.evaluate': [2],
  'access.evaluate_all': [2],
  'access.search_action': [2],
  'access.search_resource': [4],
  'access.search_subject': [3],
  'members.list': [2, '', 1],
  'notices.list': [2],
  'notices.mark': [2, '', 1],
  'boards.list': [3],
  'boards.read': [1],
  'boards.create': [2, '', 1],
  'boards.update': [2, 'board'],
  'boards.set_visibility': [3, 'board'],
  'boards.delete': [2, 'board'],
  'board_members.list': [2, '', 1],
  'boards.assignable': [2, '', 1],
  'boards.batch': [8],
  'boards.changes': [3, '', 2],
  'boards.events': [3],
  'board_members.add': [4, 'board'],
  'board_members.remove': [3, 'board'],
  'columns.list': [2, '', 1],
  'columns.read': [1],
  'columns.create': [3],
  'columns.rename': [2],
  'columns.move': [3],
  'columns.archive': [3],
  'columns.restore': [1],
  'cards.list': [2, '', 1],
  'cards.search': [6],
  'cards.read': [1],
  'cards.create': [3],
  'cards.update': [2, 'card'],
  'cards.move': [3, 'card'],
  'cards.complete': [2, 'card'],
  'cards.archive': [2, 'card'],
  'cards.restore': [1],
  // Whoever has asked gets a notice: one of them reads whether they may read the card.
  'cards.answer': [3, 'card'],
  'cards.retry': [2, 'card'],
  'cards.delete': [3, 'card'],
  'cards.assign': [3, 'card'],
  'cards.unassign': [2, 'card'],
  'cards.apply_label': [3, 'card'],
  'cards.remove_label': [2, 'card'],
  'blockers.add': [3, 'card'],
  'blockers.remove': [3, 'card'],
  'cards.set_cover': [3, 'card'],
  'cards.clear_cover': [3, 'card'],
  'claims.take_next': [5],
  'claims.take': [3, 'card'],
  'claims.release': [2],
  'claims.fail': [2, 'card'],
  'claims.ask': [2, 'card'],
  'claims.read': [2],
  'labels.list': [2, '', 1],
  'labels.read': [1],
  'labels.create': [2],
  'labels.update': [2],
  'labels.delete': [3, 'card'],
  'subtasks.list': [2, '', 1],
  'subtasks.read': [1],
  'subtasks.create': [3],
  'subtasks.update': [2],
  'subtasks.delete': [2],
  'comments.list': [2, '', 1],
  'comments.read': [1],
  'comments.create': [2],
  'comments.update': [2],
  'comments.delete': [2],
  'attachments.list': [3, '', 2],
  'attachments.read': [1],
  'attachments.download': [1],
  'attachments.attach': [3],
  // The tombstone of the bytes is read and written before they are received.
  'attachments.upload': [5],
  'attachments.detach': [3, 'card'],
  'webhooks.list': [3, '', 2],
  'webhooks.read': [2],
  // The list of workspaces with webhooks, the key of its secrets, the end of the feed, and how many there are of the board, and of the
  // others.
  'webhooks.create': [7],
  'webhooks.update': [4],
  'webhooks.delete': [3],
  'webhooks.rotate_secret': [4],
  'webhooks.test': [3],
  'webhooks.deliveries': [2, '', 1],
  'files.read': [1],
  'files.update': [3],
}

/**
 * The same with filters that name something: at most one access more, whatever their number. Filters by the caller need none. Redis needs one
 * fewer on a board, which the process remembers.
 */
const filtered: readonly (readonly [id: string, query: string, accesses: number])[] = [
  // As other lists whose cards are examined one by one.
  ['cards.list', '?q=card', 4],
  ['cards.list', '?assignee_id=none', 4],
  ['cards.list', '?assignee_id=me', 2],
  ['cards.list', '?column_id={column_id}', 3],
  ['cards.list', '?label_id={label_id}', 3],
  ['cards.list', '?assignee_id={user_id}', 3],
  ['cards.list', '?include=etag', 2],
  ['cards.search', '?assignee_id=none', 6],
  ['cards.search', '?board_id={board_id}', 5],
  ['cards.list', '?ready=true', 3],
  ['cards.list', '?ready=false', 5],
  ['cards.search', '?label_id={label_id}', 3],
  ['cards.search', '?blocker_id={blocker_id}', 3],
  ['cards.search', '?column_id={column_id}', 4],
  ['cards.search', '?assignee_id=me', 2],
  ['cards.search', '?completed_by=me', 4],
  ['cards.search', '?include=etag', 6],
]

test('the table has each operation', () => {
  expect(Object.keys(expected).toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
})

describe.each(drivers)('on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const world = await buildWorld(service)
  await recordUses(service, ...world.callers.values())

  /** A filtered list has the items of its whole workspace. */
  const worldOf = async ({ kind }: Operation): Promise<World> => {
    if (kind === 'single') return world
    const own = await buildWorld(service)
    await recordUses(service, ...own.callers.values())
    return own
  }
  const rows = operations.map((row) => [row.id, row] as const)
  const send = async ({ id, method, path }: Operation, scenario: Scenario): Promise<string> =>
    outcomeOf(await service.send(scenario.caller.admin, method, pathOf(path, scenario), exampleBody(id, scenario), headersFor(id)))

  test.each(rows)('%s accesses the storage as often as the table says', async (id, row) => {
    const scenario = await createAllowed(await worldOf(row), row)
    // A list remembers the columns of its board.
    if (row.method === 'GET') await send(row, scenario)
    const [accesses, , remembered = accesses] = expected[id]!
    const before = service.store.trips
    const trips = driver.name === 'redis' ? remembered : accesses
    expect({ outcome: await send(row, scenario), trips: service.store.trips - before }).toEqual({ outcome: 'ok', trips })
  })

  test.each(filtered)('%s with %s accesses the storage as often as the table says', async (id, query, accesses) => {
    const row = operations.find((one) => one.id === id)!
    const scenario = await createAllowed(await worldOf(row), row)
    const read = () => service.send(scenario.caller.read, 'GET', pathOf(row.path + query, scenario))
    await read()
    const before = service.store.trips
    const remembered = driver.name === 'redis' && row.kind === 'single' ? 1 : 0
    expect({ status: (await read()).status, trips: service.store.trips - before }).toEqual({ status: 200, trips: accesses - remembered })
  })

  // A change between the read and the commit of a write.
  const writes = rows.filter(([id, { isRead }]) => !isRead && expected[id]![0] > 1)
  test.each(writes)('%s conflicts only with changes of the records that it relies on', async (id, row) => {
    const attempts = async (change: (scenario: Scenario) => Promise<void>) => {
      const scenario = await createAllowed(world, row)
      service.store.beforeCommit = () => change(scenario)
      expect(await send(row, scenario)).toBe('ok')
      return service.records.at(-1)!.attempts
    }
    const edit = <T>(key: Key<T>, members: Partial<T>) =>
      service.write(world.workspaceId, async (tx) => tx.put(key, { ...(await tx.get(key))!, ...members }))
    const renamed = await attempts(({ params }) => edit(keys.board(params['board_id']!), { name: 'another name' }))
    const retitled = await attempts(({ params }) => edit(keys.card(params['card_id']!), { title: 'another title' }))
    const conflicts = (expected[id]![1] ?? '').split(' ')
    expect({ renamed, retitled }).toEqual({ renamed: conflicts.includes('board') ? 2 : 1, retitled: conflicts.includes('card') ? 2 : 1 })
  })
})
