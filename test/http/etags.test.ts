import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { operations } from '../../src/resources/table.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Reply } from '../support/service.ts'
import {
  buildWorld,
  createAllowed,
  createScenario,
  exampleBody,
  headersFor,
  pathOf,
  scenarioOptions,
  type Scenario,
} from '../support/scenario.ts'

const FACTS = {
  'caller.role': 'owner',
  'caller.membership': 'active',
  'board.visibility': 'workspace',
  'board.caller': 'creator',
  'file.owner': 'caller',
  'comment.author': 'caller',
  'webhook.creator': 'caller',
  'label.board': 'this',
}
const rowOf = (id: string) => operations.find((row) => row.id === id)!

/** A resource with an ETag, or none. The ETag of `bytes` is the hash of a file, a `page` has a weak one of a list. */
type Entity = 'board' | 'column' | 'card' | 'label' | 'subtask' | 'comment' | 'attachment' | 'file' | 'bytes' | 'page' | 'none'
/** By operation: the resource that If-Match refers to, and the resource whose ETag the response has. Written by hand. */
const expected = parse(readFileSync(new URL('../../fixtures/etags.yaml', import.meta.url), 'utf8')) as Record<
  string,
  { if_match: Entity; etag: Entity }
>
const writes = operations.filter(({ method }) => method !== 'GET').map(({ id }) => id)
const reads = operations.filter(({ method }) => method === 'GET').map(({ id }) => id)

/** The requests that return the current ETag of each kind of resource without changing it. */
const currentEtag: Readonly<Record<Exclude<Entity, 'none' | 'bytes' | 'page'>, readonly [method: string, path: string]>> = {
  board: ['GET', '/boards/{board_id}'],
  column: ['GET', '/columns/{column_id}'],
  card: ['GET', '/cards/{card_id}'],
  label: ['GET', '/labels/{label_id}'],
  subtask: ['GET', '/subtasks/{subtask_id}'],
  comment: ['GET', '/comments/{comment_id}'],
  attachment: ['GET', '/attachments/{attachment_id}'],
  file: ['GET', '/files/{file_id}'],
}

/** Lists whose items can be read one by one, with the path of an item. Written by hand. */
const ITEMS: readonly [id: string, item: string][] = [
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
const WITHOUT = [
  'members.list',
  'board_members.list',
  'boards.assignable',
  'boards.changes',
  'webhooks.deliveries',
  'webhooks.list',
  'notices.list',
]

/** A list, and a request that changes it. Names in braces stand for ids of a scenario. Written by hand. */
const CHANGES: [list: string, method: string, path: string, body?: object][] = [
  // The boards of all suites of this file.
  ['/boards?limit=100', 'PATCH', '/boards/{board_id}', { name: 'New' }],
  ['/boards/{board_id}/members', 'PUT', '/boards/{board_id}/members/{user_id}'],
  ['/boards/{board_id}/columns', 'PATCH', '/columns/{column_id}', { name: 'New' }],
  ['/boards/{board_id}/cards', 'PATCH', '/cards/{card_id}', { title: 'New' }],
  ['/boards/{board_id}/cards?fields=title', 'PATCH', '/cards/{card_id}', { title: 'Newer' }],
  ['/boards/{board_id}/cards?include=counts', 'POST', '/cards/{card_id}/comments', { body: 'New' }],
  ['/boards/{board_id}/cards', 'PUT', '/cards/{card_id}/assignees/{user_id}'],
  ['/boards/{board_id}/cards?archived=true', 'POST', '/cards/{card_id}/archive'],
  ['/boards/{board_id}/cards?limit=1', 'POST', '/boards/{board_id}/cards', { column_id: '{column_id}', title: 'Last' }],
  ['/boards/{board_id}/labels', 'POST', '/boards/{board_id}/labels', { name: 'New', color: '#000000' }],
  ['/cards/{card_id}/subtasks', 'POST', '/cards/{card_id}/subtasks', { title: 'New' }],
  ['/cards/{card_id}/comments', 'POST', '/cards/{card_id}/comments', { body: 'New' }],
]

test('the tables state the ETags of every operation, and have each list', () => {
  expect(Object.keys(expected).toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
  const lists = operations.filter(({ data, method }) => method === 'GET' && data.def.type === 'array').map(({ id }) => id)
  expect([...ITEMS.map(([id]) => id), ...WITHOUT].toSorted()).toEqual(lists.toSorted())
})

describe.each(drivers)('ETags, on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const world = await buildWorld(service)
  const scenarioFor = async (id: string): Promise<Scenario> => (await createScenario(world, FACTS, scenarioOptions(rowOf(id))))!
  const request = (scenario: Scenario, id: string, headers: Record<string, string>): Promise<Reply> => {
    const { method, path } = rowOf(id)
    return service.send(scenario.caller.admin, method, pathOf(path, scenario), exampleBody(id, scenario), { ...headersFor(id), ...headers })
  }

  const etagOf = async (scenario: Scenario, entity: keyof typeof currentEtag): Promise<string> => {
    const [method, path] = currentEtag[entity]
    return (await service.send(scenario.caller.admin, method, pathOf(path, scenario))).headers.get('etag')!
  }

  test.each(reads)('%s has the ETag that the table states, and answers 304 to it', async (id) => {
    const scenario = await scenarioFor(id)
    const first = await request(scenario, id, {})
    const etag = first.headers.get('etag')
    const entity = expected[id]!.etag
    if (entity === 'none') {
      expect(etag).toBeNull()
      expect((await request(scenario, id, { 'if-none-match': '*' })).status).toBe(200)
      return
    }
    if (entity === 'bytes') expect(etag).toBe('"0"')
    else if (entity === 'page') expect(etag).toMatch(/^W\/"[0-9a-f]{40}"$/)
    else expect(etag).toBe(await etagOf(scenario, entity))
    expect((await request(scenario, id, { 'if-none-match': etag! })).status).toBe(304)
    expect((await request(scenario, id, { 'if-none-match': '*' })).status).toBe(304)
    expect((await request(scenario, id, { 'if-none-match': '"other"' })).headers.get('etag')).toBe(etag)
  })

  test.each(writes)('%s answers 412 if If-Match is stale, and succeeds with the ETag that the table states', async (id) => {
    const scenario = await scenarioFor(id)
    const { if_match, etag } = expected[id]!
    if (if_match === 'bytes' || if_match === 'page') throw new Error('no write refers to bytes or to a page')
    const stale = await request(scenario, id, { 'if-match': '"00000000000000000000"' })
    expect({ status: stale.status, code: stale.body.error.code }).toEqual({ status: 412, code: 'precondition_failed' })
    const current = if_match === 'none' ? null : await etagOf(scenario, if_match)
    expect({ etag: stale.headers.get('etag'), currentEtag: stale.body.error.current_etag ?? null }).toEqual({
      etag: current,
      currentEtag: current,
    })
    const done = await request(scenario, id, current === null ? {} : { 'if-match': current })
    expect(done.status).toBeLessThan(300)
    if (etag === 'none') expect(done.headers.get('etag')).toBeNull()
    else {
      // The ETag of the response is the one that a later read returns.
      const location = done.headers.get('location')?.slice('/v1'.length)
      const later =
        location === undefined
          ? await etagOf(scenario, etag as keyof typeof currentEtag)
          : (await service.send(scenario.caller.read, 'GET', location)).headers.get('etag')
      expect(done.headers.get('etag')).toBe(later)
      expect(location === undefined || location.startsWith(`/${etag}s/`)).toBe(true)
    }
  })

  test('of several concurrent writers with the same ETag exactly one succeeds', async () => {
    const scenario = await scenarioFor('boards.update')
    const path = pathOf('/boards/{board_id}', scenario)
    const etag = (await service.send(scenario.caller.read, 'GET', path)).headers.get('etag')!
    const replies = await Promise.all(
      ['one', 'two', 'three'].map((name) => service.send(scenario.caller.write, 'PATCH', path, { name }, { 'if-match': etag })),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 412, 412])
    const winner = replies.find(({ status }) => status === 200)!
    for (const loser of replies.filter(({ status }) => status === 412))
      expect({ etag: loser.headers.get('etag'), currentEtag: loser.body.error.current_etag }).toEqual({
        etag: winner.headers.get('etag'),
        currentEtag: winner.headers.get('etag'),
      })
  })

  // The forms of a condition: preconditions.test.ts.
  describe('of lists', async () => {
    const scenario = await createAllowed(world, { id: 'cards.read', method: 'GET' })
    const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      service.send(scenario.caller.admin, method, pathOf(path, scenario), body, headers)
    const tagOf = async (list: string): Promise<string> => (await send('GET', list)).headers.get('etag')!

    test.each(ITEMS)('%s has the ETag of a read of each item with include=etag, and nothing else is different', async (id, item) => {
      const { path } = rowOf(id)
      const [plain, tagged] = [await send('GET', path), await send('GET', `${path}?include=etag`)]
      expect(tagged.body.data.length).toBeGreaterThan(0)
      for (const one of tagged.body.data) expect(one.etag).toBe(await tagOf(item + one.id))
      expect(tagged.body.data.map(({ etag: _etag, ...rest }: any) => rest)).toEqual(plain.body.data)
      expect(tagged.body.page).toEqual(plain.body.page)
      // Another representation: a copy of one does not stand for the other.
      const etag = tagged.headers.get('etag')!
      expect(etag).not.toBe(plain.headers.get('etag'))
      expect((await send('GET', `${path}?include=etag`, undefined, { 'if-none-match': etag })).status).toBe(304)
    })

    test('include=etag stands beside counts, and is selected by fields as other members are', async () => {
      const both = await send('GET', '/boards/{board_id}/cards?include=etag,counts')
      expect(both.body.data[0]).toMatchObject({ etag: expect.stringMatching(/^"/), counts: { attachments: expect.any(Number) } })
      const some = await send('GET', '/boards/{board_id}/cards?include=etag&fields=title,etag')
      expect(Object.keys(some.body.data[0])).toEqual(['id', 'title', 'etag'])
    })

    test.each(WITHOUT)('%s does not know include=etag', async (id) => {
      expect((await send('GET', `${rowOf(id).path}?include=etag`)).status).toBe(422)
    })

    test.each(CHANGES)('the client of %s has the current page until %s %s', async (list, method, path, body) => {
      const before = await send('GET', list)
      const etag = before.headers.get('etag')!
      expect(etag).toMatch(/^W\/"[0-9a-f]{40}"$/)
      // The JSON of a record is kept when it is requested again.
      expect({ first: await tagOf(list), second: await tagOf(list), head: (await send('HEAD', list)).headers.get('etag') }).toEqual({
        first: etag,
        second: etag,
        head: etag,
      })
      for (const condition of [etag, etag.slice(2)]) {
        const { status, text, headers } = await send('HEAD', list, undefined, { 'if-none-match': condition })
        expect({ status, text, etag: headers.get('etag'), cacheControl: headers.get('cache-control') }).toEqual({
          status: 304,
          text: '',
          etag,
          cacheControl: 'private, no-cache',
        })
        expect((await send('GET', list, undefined, { 'if-none-match': condition })).status).toBe(304)
      }
      const changed = await send(method, path, body && JSON.parse(pathOf(JSON.stringify(body), scenario)))
      expect(changed.status, changed.text).toBeLessThan(300)
      const after = await send('GET', list, undefined, { 'if-none-match': etag })
      expect({ status: after.status, isSameTag: after.headers.get('etag') === etag }).toEqual({ status: 200, isSameTag: false })
      expect(after.body).not.toEqual(before.body)
    })

    test('a page with another cursor has another ETag', async () => {
      const board = await TestBoard.create(service, scenario.caller)
      const column = await board.column()
      await board.card(column, 'First')
      const list = `/boards/${board.id}/cards?limit=1`
      const [alone, data] = [await tagOf(list), (await send('GET', list)).body.data]
      await board.card(column, 'Second')
      expect({ data: (await send('GET', list)).body.data, isSameTag: (await tagOf(list)) === alone }).toEqual({ data, isSameTag: false })
    })

    test('a page with other items of the same texts in another order has another ETag', async () => {
      const board = await TestBoard.create(service, scenario.caller)
      for (const name of ['1', '2']) await board.column(name)
      const list = `/boards/${board.id}/columns?fields=name`
      const [first, second] = (await send('GET', list)).body.data
      const etag = await tagOf(list)
      await board.post(`/columns/${second.id}/move`, { before: first.id })
      expect(await tagOf(list)).not.toBe(etag)
      await board.post(`/columns/${second.id}/move`, { after: first.id })
      expect(await tagOf(list)).toBe(etag)
    })

    test('a change elsewhere, or of a member that is not asked for, leaves the ETag', async () => {
      const board = await TestBoard.create(service, scenario.caller)
      const card = await board.card(await board.column())
      const cards = `/boards/${board.id}/cards`
      const lists = ['/boards/{board_id}/columns', `${cards}?fields=title,due_at`]
      const [before, whole] = [await Promise.all(lists.map(tagOf)), await tagOf(cards)]
      await board.patch(`/cards/${card}`, { description: 'New' })
      expect({ tags: await Promise.all(lists.map(tagOf)), isSameTag: (await tagOf(cards)) === whole }).toEqual({
        tags: before,
        isSameTag: false,
      })
    })
  })
})
