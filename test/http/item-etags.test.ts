import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { drivers } from '../support/drivers.ts'
import { buildWorld, createAllowed, pathOf, type Scenario, type World } from '../support/scenario.ts'
import { Service } from '../support/service.ts'

/** Lists whose items can be read one by one, with the path of an item. Written by hand. */
const LISTS: readonly [id: string, item: string][] = [
  ['boards.list', '/boards/'],
  ['columns.list', '/columns/'],
  ['cards.list', '/cards/'],
  ['cards.search', '/cards/'],
  ['labels.list', '/labels/'],
  ['subtasks.list', '/subtasks/'],
  ['comments.list', '/comments/'],
  ['attachments.list', '/attachments/'],
]
/** Lists of people and of changes: their items cannot be read one by one. */
const WITHOUT = ['members.list', 'board_members.list', 'boards.assignable', 'boards.changes']

test('the tables have each list', () => {
  const lists = operations.filter(({ data, method }) => method === 'GET' && data.def.type === 'array').map(({ id }) => id)
  expect([...LISTS.map(([id]) => id), ...WITHOUT].toSorted()).toEqual(lists.toSorted())
})

describe.each(drivers)('include=etag, on $name', (driver) => {
  let service: Service
  let world: World
  let scenario: Scenario
  beforeAll(async () => {
    service = await Service.start(driver)
    world = await buildWorld(service)
    scenario = await createAllowed(world, { id: 'cards.read', method: 'GET' })
  })
  afterAll(() => service.stop())
  const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    service.send(scenario.caller.admin, method, pathOf(path, scenario), body, headers)
  const listOf = (id: string) => operations.find((row) => row.id === id)!.path

  test.each(LISTS)('%s has the ETag of a read of each item, and nothing else is different', async (id, item) => {
    const plain = await send('GET', listOf(id))
    const tagged = await send('GET', `${listOf(id)}?include=etag`)
    expect(tagged.body.data.length).toBeGreaterThan(0)
    for (const one of tagged.body.data) expect(one.etag).toBe((await send('GET', item + one.id)).headers.get('etag'))
    expect(tagged.body.data.map(({ etag: _etag, ...rest }: any) => rest)).toEqual(plain.body.data)
    expect(tagged.body.page).toEqual(plain.body.page)
    // Another representation: a copy of one is none of the other.
    expect(tagged.headers.get('etag')).not.toBe(plain.headers.get('etag'))
    const revalidated = await send('GET', `${listOf(id)}?include=etag`, undefined, { 'if-none-match': tagged.headers.get('etag')! })
    expect(revalidated.status).toBe(304)
  })

  test('stands beside counts, and is selected by fields as other members are', async () => {
    const both = await send('GET', '/boards/{board_id}/cards?include=etag,counts')
    expect(both.body.data[0]).toMatchObject({ etag: expect.stringMatching(/^"/), counts: { attachments: expect.any(Number) } })
    expect(Object.keys((await send('GET', '/boards/{board_id}/cards?include=etag&fields=title,etag')).body.data[0])).toEqual([
      'id',
      'title',
      'etag',
    ])
  })

  test.each(WITHOUT)('%s does not know it', async (id) => {
    expect((await send('GET', `${listOf(id)}?include=etag`)).status).toBe(422)
  })
})
