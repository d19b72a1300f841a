import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'

describe.each(drivers)('boards, on $name', (driver) => {
  let service: Service
  let acme: string
  let [ann, bob, cyd]: Person[] = []
  beforeAll(async () => {
    service = await Service.start(driver)
    acme = await service.workspace('Acme')
    ann = await service.person(acme, 'member', 'Ann')
    bob = await service.person(acme, 'member', 'Bob')
    cyd = await service.person(acme, 'owner', 'Cyd')
  })
  afterAll(() => service.stop())
  const create = async (person: Person, body: object = { name: 'A board' }) =>
    (await service.send(person.write, 'POST', '/boards', body)).body.data

  test('a board is created for the whole workspace, and answers with where it is', async () => {
    const reply = await service.send(ann!.write, 'POST', '/boards', {
      name: '  Roadmap ',
      description: 'What\nnext',
      cover_color: '#AABBCC',
    })
    expect(reply.status).toBe(201)
    expect(reply.headers.get('location')).toBe(`/v1/boards/${reply.body.data.id}`)
    expect(reply.body.data).toEqual({
      id: expect.stringMatching(/^brd_[0-9a-z]{20}$/),
      name: 'Roadmap',
      description: 'What\nnext',
      cover_color: '#aabbcc',
      visibility: 'workspace',
      creator_id: ann!.id,
      created_at: '2026-11-20T12:00:00.000Z',
      updated_at: '2026-11-20T12:00:00.000Z',
    })
    const read = await service.send(bob!.read, 'GET', `/boards/${reply.body.data.id}`)
    expect(read.body).toEqual({ data: reply.body.data })
    expect(read.headers.get('etag')).toBe(reply.headers.get('etag'))
  })

  test('an update changes what it names, and nothing else', async () => {
    const board = await create(ann!, { name: 'Old', description: 'kept', cover_color: '#000000' })
    service.now += 1000
    const { body } = await service.send(bob!.write, 'PATCH', `/boards/${board.id}`, { name: 'New', cover_color: null })
    expect(body.data).toEqual({ ...board, name: 'New', cover_color: null, updated_at: new Date(service.now).toISOString() })
  })

  test('a private board is for its creator and explicit members, and owners are nobody special', async () => {
    const board = await create(ann!)
    await service.send(ann!.admin, 'PUT', `/boards/${board.id}/visibility`, { visibility: 'private' })
    const statuses = async () =>
      Promise.all([ann!, bob!, cyd!].map(async ({ read }) => (await service.send(read, 'GET', `/boards/${board.id}`)).status))
    expect(await statuses()).toEqual([200, 404, 404])
    await service.send(ann!.admin, 'PUT', `/boards/${board.id}/members/${bob!.id}`)
    expect(await statuses()).toEqual([200, 200, 404])
    await service.send(ann!.admin, 'DELETE', `/boards/${board.id}/members/${bob!.id}`)
    expect(await statuses()).toEqual([200, 404, 404])
  })

  test('a deleted board is gone, and deleting it again is not found', async () => {
    const board = await create(ann!)
    await service.send(ann!.admin, 'PUT', `/boards/${board.id}/members/${bob!.id}`)
    const gone = await service.send(cyd!.admin, 'DELETE', `/boards/${board.id}`)
    expect([gone.status, gone.body]).toEqual([200, { data: { id: board.id, deleted: true } }])
    expect((await service.send(cyd!.admin, 'DELETE', `/boards/${board.id}`)).status).toBe(404)
    expect((await service.send(bob!.read, 'GET', `/boards/${board.id}/members`)).status).toBe(404)
    expect((await service.send(bob!.read, 'GET', '/boards?limit=100')).body.data.map(({ id }: { id: string }) => id)).not.toContain(
      board.id,
    )
  })

  test('members: the creator first, adding is idempotent, removing is not, the creator stays', async () => {
    const board = await create(ann!)
    service.now += 1000
    const url = `/boards/${board.id}/members`
    const added = await service.send(ann!.admin, 'PUT', `${url}/${bob!.id}`)
    service.now += 1000
    const again = await service.send(ann!.admin, 'PUT', `${url}/${bob!.id}`)
    expect([added.status, again.body]).toEqual([200, added.body])
    expect((await service.send(ann!.admin, 'PUT', `${url}/${ann!.id}`)).body.data.creator).toBe(true)
    expect((await service.send(cyd!.read, 'GET', url)).body).toEqual({
      data: [
        { user_id: ann!.id, display_name: 'Ann', avatar_url: null, creator: true, added_at: board.created_at },
        { user_id: bob!.id, display_name: 'Bob', avatar_url: null, creator: false, added_at: added.body.data.added_at },
      ],
      page: { next_cursor: null },
    })
    expect((await service.send(ann!.admin, 'DELETE', `${url}/${bob!.id}`)).body).toEqual({ data: { id: bob!.id, deleted: true } })
    expect((await service.send(ann!.admin, 'DELETE', `${url}/${bob!.id}`)).status).toBe(404)
    expect((await service.send(ann!.admin, 'DELETE', `${url}/${ann!.id}`)).body.error.code).toBe('conflict')
    expect((await service.send(bob!.admin, 'DELETE', `${url}/${ann!.id}`)).body.error).toMatchObject({ code: 'forbidden', row: 'P6' })
  })

  test('pages of members are filled, also where the creator has left', async () => {
    const dan = await service.person(acme, 'member', 'Dan')
    const board = await create(dan)
    for (const person of [ann!, bob!]) await service.send(dan.admin, 'PUT', `/boards/${board.id}/members/${person.id}`)
    await endMembership(service.deps, acme, dan.id)
    const { body } = await service.send(ann!.read, 'GET', `/boards/${board.id}/members?limit=1`)
    expect([body.data.length, body.page.next_cursor === null]).toEqual([1, false])
  })

  test('what is forbidden says which row was not met', async () => {
    const board = await create(ann!)
    const { status, body } = await service.send(bob!.admin, 'PUT', `/boards/${board.id}/visibility`, { visibility: 'private' })
    expect([status, body.error]).toMatchObject([403, { code: 'forbidden', row: 'P5', reason: expect.stringContaining('Only its creator') }])
  })
})

describe.each(drivers)('lists, on $name', (driver) => {
  let service: Service
  let [ann, bob]: Person[] = []
  beforeAll(async () => {
    service = await Service.start(driver)
    const acme = await service.workspace('Acme')
    ann = await service.person(acme, 'member', 'Ann')
    service.now += 1000
    bob = await service.person(acme, 'member', 'Bob')
    for (let i = 0; i < 25; i++) {
      service.now += 10
      const { body } = await service.send((i % 2 ? ann : bob).write, 'POST', '/boards', { name: `Board ${i}` })
      // Two of three of Bob's are hidden from Ann, one of those she is a member of.
      if (i % 2 === 0 && i % 3 !== 0) await service.send(bob.admin, 'PUT', `/boards/${body.data.id}/visibility`, { visibility: 'private' })
      if (i % 2 === 0 && i % 3 === 1) await service.send(bob.admin, 'PUT', `/boards/${body.data.id}/members/${ann.id}`)
    }
  })
  afterAll(() => service.stop())

  const pages = async (token: string, path: string, limit: number) => {
    const items: any[] = []
    const sizes: number[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await service.send(token, 'GET', `${path}?limit=${limit}${cursor && `&cursor=${cursor}`}`)
      items.push(...body.data)
      sizes.push(body.data.length)
      cursor = body.page.next_cursor
    }
    return { items, sizes }
  }
  const visibleToAnn = Array.from({ length: 25 }, (_, i) => i)
    .filter((i) => i % 2 === 1 || i % 3 !== 2)
    .map((i) => `Board ${i}`)

  test.each([1, 2, 3, 7, 100])('pages of %i are filled past what is hidden, in order, each item once', async (limit) => {
    const { items, sizes } = await pages(ann!.read, '/boards', limit)
    expect(items.map(({ name }) => name)).toEqual(visibleToAnn)
    expect(sizes.slice(0, -1).every((size) => size === limit)).toBe(true)
    expect(sizes.at(-1)).toBeGreaterThan(0)
  })

  test('the creator sees what is his', async () => {
    expect((await pages(bob!.read, '/boards', 4)).items).toHaveLength(25)
  })

  test('a list that changes while it is paged neither repeats nor skips what did not change', async () => {
    const first = await service.send(ann!.read, 'GET', '/boards?limit=5')
    await service.send(ann!.admin, 'DELETE', `/boards/${first.body.data.find(({ creator_id }: any) => creator_id === ann!.id).id}`)
    service.now += 10
    await service.send(ann!.write, 'POST', '/boards', { name: 'Late' })
    const { body } = await service.send(ann!.read, 'GET', `/boards?limit=100&cursor=${first.body.page.next_cursor}`)
    expect(body.data.map(({ name }: any) => name)).toEqual([...visibleToAnn.slice(5), 'Late'])
  })

  test('members are listed by when they came, with four members and no other', async () => {
    const { items } = await pages(ann!.read, '/members', 1)
    expect(items).toEqual([
      { user_id: ann!.id, role: 'member', display_name: 'Ann', avatar_url: null },
      { user_id: bob!.id, role: 'member', display_name: 'Bob', avatar_url: null },
    ])
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['limit=', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=5&limit=6', 'limit'],
    ['cursor=', 'cursor'],
    ['cursor=nonsense', 'cursor'],
    ['sort=name', 'sort'],
    ['__proto__=1', '__proto__'],
  ])('?%s is refused', async (query, member) => {
    const { status, body } = await service.send(ann!.read, 'GET', `/boards?${query}`)
    expect([status, body.error.code, body.error.issues[0].path]).toEqual([422, 'validation_failed', member])
  })

  test('a cursor of another list is refused', async () => {
    const { body } = await service.send(ann!.read, 'GET', '/members?limit=1')
    expect((await service.send(ann!.read, 'GET', `/boards?cursor=${body.page.next_cursor}`)).status).toBe(422)
  })

  test('the cost of a page is that of the page, however many boards others hide', async () => {
    const hidden = await service.workspace('Crowded')
    const owner = await service.person(hidden, 'owner')
    const guest = await service.person(hidden, 'member')
    for (let i = 0; i < 60; i++) {
      const { body } = await service.send(owner.write, 'POST', '/boards', { name: 'Hidden' })
      await service.send(owner.admin, 'PUT', `/boards/${body.data.id}/visibility`, { visibility: 'private' })
    }
    await service.send(guest.write, 'POST', '/boards', { name: 'Mine' })
    service.store.touched.length = 0
    const { body } = await service.send(guest.read, 'GET', '/boards')
    expect(body.data).toHaveLength(1)
    expect(service.store.touched.length).toBeLessThan(10)
  })
})
