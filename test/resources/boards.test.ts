import { describe, expect, test } from 'vitest'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import type { Person } from '../support/service.ts'
import { forbidden, invalid, notFound } from './refusals.ts'

describe.each(drivers)('boards, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const statusesFor = (board: TestBoard, ...people: Person[]) =>
    Promise.all(people.map(async ({ read }) => (await setup.service.send(read, 'GET', `/boards/${board.id}`)).status))

  test('a new board is open to the whole workspace, and its Location can be read', async () => {
    const { service, ann, bob, board } = setup
    const created = await board.send('POST', '/boards', { name: '  Roadmap ', description: 'What\nnext', cover_color: '#AABBCC' })
    expect([created.status, created.headers.get('location')]).toEqual([201, `/v1/boards/${created.body.data.id}`])
    expect(created.body.data).toEqual({
      id: expect.stringMatching(/^brd_[0-9a-z]{20}$/),
      name: 'Roadmap',
      description: 'What\nnext',
      cover_color: '#aabbcc',
      visibility: 'workspace',
      creator_id: ann.id,
      created_at: board.now,
      updated_at: board.now,
    })
    const read = await service.send(bob.read, 'GET', `/boards/${created.body.data.id}`)
    expect(read.body).toEqual({ data: created.body.data })
    expect(read.headers.get('etag')).toBe(created.headers.get('etag'))
  })

  test('a new board has an empty description and no cover color by default', async () => {
    const { board } = setup
    const created = await board.post('/boards', { name: 'Roadmap' })
    expect(created.body.data).toMatchObject({ description: '', cover_color: null })
  })

  test('the list has the boards that the caller can see, oldest first', async () => {
    const { service } = setup
    const workspaceId = await service.workspace()
    const [dan, eve, fay] = [await service.person(workspaceId), await service.person(workspaceId), await service.person(workspaceId)]
    const created = await TestBoard.create(service, dan, 'private')
    created.tick()
    const joined = await TestBoard.create(service, eve, 'private')
    await joined.add(dan)
    joined.tick()
    const hidden = await TestBoard.create(service, eve, 'private')
    hidden.tick()
    const open = await TestBoard.create(service, eve)
    const list = async (person: Person) => (await TestBoard.all(service, person.read, '/boards', 2)).map(({ id }) => id)
    expect(await list(dan)).toEqual([created.id, joined.id, open.id])
    expect(await list(eve)).toEqual([joined.id, hidden.id, open.id])
    expect(await list(fay)).toEqual([open.id])
    const { body } = await service.send(fay.read, 'GET', '/boards')
    expect(body).toEqual({ data: [(await open.get(`/boards/${open.id}`)).body.data], page: { next_cursor: null } })
  })

  test('the counts of a board are returned on request, without an ETag', async () => {
    const { board, columnId } = setup
    const archivedColumnId = await board.column()
    await board.card(archivedColumnId)
    await board.post(`/columns/${archivedColumnId}/archive`)
    await board.post(`/cards/${await board.card(columnId)}/archive`)
    await board.label()
    const counted = await board.get(`/boards/${board.id}?include=counts`)
    expect(counted.headers.get('etag')).toBeNull()
    const { counts, changes_cursor: _cursor, ...rest } = counted.body.data
    // Archived columns and cards are counted too.
    expect(counts).toEqual({ columns: 2, cards: 3, labels: 1 })
    expect({ data: rest }).toEqual((await board.get(`/boards/${board.id}`)).body)
    expect(await board.get(`/boards/${board.id}?include=cover`)).toMatchObject(invalid('include'))
  })

  test('an update changes the members that it names, and no others', async () => {
    const { service, bob, board } = setup
    const created = await board.post('/boards', { name: 'Old', description: 'text', cover_color: '#000000' })
    const path = `/boards/${created.body.data.id}`
    const later = board.tick()
    const updated = await service.send(bob.write, 'PATCH', path, { name: 'New', cover_color: null })
    expect(updated.status).toBe(200)
    expect(updated.body.data).toEqual({ ...created.body.data, name: 'New', cover_color: null, updated_at: later })
    expect((await board.get(path)).body).toEqual(updated.body)
  })

  test('an update without members, or with the visibility or the creator, is refused', async () => {
    const { bob, board } = setup
    expect(await board.send('PATCH', `/boards/${board.id}`, {})).toMatchObject(invalid(''))
    expect(await board.send('PATCH', `/boards/${board.id}`, { name: 'x', visibility: 'private' })).toMatchObject(invalid('visibility'))
    expect(await board.send('PATCH', `/boards/${board.id}`, { name: 'x', creator_id: bob.id })).toMatchObject(invalid('creator_id'))
  })

  test('only the creator and explicit members can see a private board: the role owner gives no access', async () => {
    const { ann, bob, cyd, board } = setup
    const { body } = await board.get(`/boards/${board.id}`)
    const later = board.tick()
    const changed = await board.put(`/boards/${board.id}/visibility`, { visibility: 'private' })
    expect(changed.body.data).toEqual({ ...body.data, visibility: 'private', updated_at: later })
    expect(await statusesFor(board, ann, bob, cyd)).toEqual([200, 404, 404])
    await board.add(bob)
    expect(await statusesFor(board, ann, bob, cyd)).toEqual([200, 200, 404])
    await board.delete(`/boards/${board.id}/members/${bob.id}`)
    expect(await statusesFor(board, ann, bob, cyd)).toEqual([200, 404, 404])
    await board.put(`/boards/${board.id}/visibility`, { visibility: 'workspace' })
    expect(await statusesFor(board, ann, bob, cyd)).toEqual([200, 200, 200])
  })

  test('setting the visibility that a board has changes neither the board nor its ETag', async () => {
    const { board } = setup
    const first = await board.put(`/boards/${board.id}/visibility`, { visibility: 'private' })
    board.tick()
    const second = await board.put(`/boards/${board.id}/visibility`, { visibility: 'private' })
    expect([second.text, second.headers.get('etag')]).toEqual([first.text, first.headers.get('etag')])
    expect(await board.send('PUT', `/boards/${board.id}/visibility`, { visibility: 'public' })).toMatchObject(invalid('visibility'))
  })

  test('a person who cannot set the visibility is answered with the row and the reason of the permission table', async () => {
    const { service, cyd, board } = setup
    const reply = await service.send(cyd.admin, 'PUT', `/boards/${board.id}/visibility`, { visibility: 'private' })
    expect(reply).toMatchObject(forbidden('P5'))
    expect(reply.body.error.reason).toBe('P5: Only the creator decides who can see a board.')
  })

  test('a deleted board is neither readable nor listed, and a second deletion is answered with 404', async () => {
    const { service, bob, board } = setup
    await board.add(bob)
    const path = `/boards/${board.id}`
    expect((await board.delete(path)).body).toEqual({ data: { id: board.id, deleted: true } })
    expect(await board.send('DELETE', path)).toMatchObject(notFound)
    expect(await service.send(bob.read, 'GET', path)).toMatchObject(notFound)
    expect(await service.send(bob.read, 'GET', `${path}/members`)).toMatchObject(notFound)
    expect((await TestBoard.all(service, bob.read, '/boards', 100)).map(({ id }) => id)).not.toContain(board.id)
  })

  test('a board can be deleted by its creator and by a workspace owner who can see it', async () => {
    const { service, bob, cyd, board } = setup
    const path = `/boards/${board.id}`
    expect(await service.send(bob.admin, 'DELETE', path)).toMatchObject(forbidden('P7'))
    await board.makePrivate()
    expect(await service.send(cyd.admin, 'DELETE', path)).toMatchObject(notFound)
    await board.put(`${path}/visibility`, { visibility: 'workspace' })
    expect((await service.send(cyd.admin, 'DELETE', path)).status).toBe(200)
  })
})
