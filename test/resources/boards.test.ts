import { describe, expect, test } from 'vitest'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import type { Person } from '../support/service.ts'

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
})
