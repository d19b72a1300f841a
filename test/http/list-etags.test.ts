import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { drivers } from '../support/drivers.ts'
import { TestBoard } from '../support/board.ts'
import { Service, type Person, type Reply } from '../support/service.ts'

/** A list, and a request that changes it. Names in braces stand for ids. Written by hand. */
const LISTS: [list: string, method: string, path: string, body?: object][] = [
  ['/boards', 'PATCH', '/boards/{board}', { name: 'New' }],
  ['/boards/{board}/members', 'PUT', '/boards/{board}/members/{bob}'],
  ['/boards/{board}/columns', 'PATCH', '/columns/{column}', { name: 'New' }],
  ['/boards/{board}/cards', 'PATCH', '/cards/{card}', { title: 'New' }],
  ['/boards/{board}/cards?fields=title', 'PATCH', '/cards/{card}', { title: 'Newer' }],
  ['/boards/{board}/cards?include=counts', 'POST', '/cards/{card}/comments', { body: 'New' }],
  ['/boards/{board}/cards', 'PUT', '/cards/{card}/assignees/{bob}'],
  ['/boards/{board}/cards?archived=true', 'POST', '/cards/{card}/archive'],
  ['/boards/{board}/cards?limit=1', 'POST', '/boards/{board}/cards', { column_id: '{column}', title: 'Last' }],
  ['/boards/{board}/labels', 'POST', '/boards/{board}/labels', { name: 'New', color: '#000000' }],
  ['/cards/{card}/subtasks', 'POST', '/cards/{card}/subtasks', { title: 'New' }],
  ['/cards/{card}/comments', 'POST', '/cards/{card}/comments', { body: 'New' }],
]

// The forms of a condition: preconditions.test.ts.
describe.each(drivers)('the ETags of lists, on $name', (driver) => {
  let service: Service
  let ann: Person
  let ids: Record<string, string>
  let board: TestBoard
  beforeAll(async () => {
    service = await Service.start(driver)
    const workspaceId = await service.workspace()
    ann = await service.person(workspaceId, 'member', 'Ann')
    const bob = await service.person(workspaceId, 'member', 'Bob')
    board = await TestBoard.create(service, ann)
    const column = await board.column()
    ids = { board: board.id, column, card: await board.card(column), bob: bob.id }
  })
  afterAll(() => service.stop())
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_all, name: string) => ids[name]!)
  const read = (list: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> =>
    service.send(ann.read, method, fill(list), undefined, headers)
  const tagOf = async (list: string): Promise<string> => (await read(list)).headers.get('etag')!

  test.each(LISTS)('the client of %s has the current page until %s %s', async (list, method, path, body) => {
    const before = await read(list)
    const etag = before.headers.get('etag')!
    expect(etag).toMatch(/^W\/"[0-9a-f]{40}"$/)
    // The JSON of a record is kept when it is requested again.
    expect([await tagOf(list), await tagOf(list), (await read(list, {}, 'HEAD')).headers.get('etag')]).toEqual([etag, etag, etag])
    for (const condition of [etag, etag.slice(2)]) {
      const { status, text, headers } = await read(list, { 'if-none-match': condition }, 'HEAD')
      expect([status, text, headers.get('etag'), headers.get('cache-control')]).toEqual([304, '', etag, 'private, no-cache'])
      expect((await read(list, { 'if-none-match': condition })).status).toBe(304)
    }
    const changed = await service.send(ann.admin, method, fill(path), body && JSON.parse(fill(JSON.stringify(body))))
    expect(changed.status).toBeLessThan(300)
    const after = await read(list, { 'if-none-match': etag })
    expect([after.status, after.headers.get('etag') === etag]).toEqual([200, false])
    expect(after.body).not.toEqual(before.body)
  })

  test('a page with another cursor has another ETag', async () => {
    const empty = await TestBoard.create(service, ann)
    const column = await empty.column()
    await empty.card(column, 'First')
    const list = `/boards/${empty.id}/cards?limit=1`
    const [alone, data] = [await tagOf(list), (await read(list)).body.data]
    await empty.card(column, 'Second')
    expect([(await read(list)).body.data, (await tagOf(list)) === alone]).toEqual([data, false])
  })

  test('a page with other items of the same texts in another order has another ETag', async () => {
    const other = await TestBoard.create(service, ann)
    for (const name of ['1', '2']) await other.column(name)
    const list = `/boards/${other.id}/columns?fields=name`
    const [first, second] = (await read(list)).body.data
    const etag = await tagOf(list)
    await other.post(`/columns/${second.id}/move`, { before: first.id })
    expect(await tagOf(list)).not.toBe(etag)
    await other.post(`/columns/${second.id}/move`, { after: first.id })
    expect(await tagOf(list)).toBe(etag)
  })

  test('a change elsewhere, or of a member that is not asked for, leaves the ETag', async () => {
    const other = await TestBoard.create(service, ann)
    const card = await other.card(await other.column())
    const cards = `/boards/${other.id}/cards`
    const lists = ['/boards/{board}/columns', `${cards}?fields=title,due_at`]
    const [before, whole] = [await Promise.all(lists.map(tagOf)), await tagOf(cards)]
    await other.patch(`/cards/${card}`, { description: 'New' })
    expect([await Promise.all(lists.map(tagOf)), (await tagOf(cards)) === whole]).toEqual([before, false])
  })
})
