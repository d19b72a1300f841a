import { describe, expect, test } from 'vitest'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import type { Person } from '../support/service.ts'
import { invalid } from './refusals.ts'

describe.each(drivers)('boards, on $name', (driver) => {
  const setup = setUpBoard(driver)

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
})
