import { describe, expect, test } from 'vitest'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import type { Person } from '../support/service.ts'
import { invalid, notFound } from './refusals.ts'

describe.each(drivers)('boards, on $name', (driver) => {
  const setup = setUpBoard(driver)

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
})
