import { describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { notFound } from './refusals.ts'

describe.each(drivers)('members of a board, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const pathOf = ({ id }: { id: string }) => `/boards/${setup.board.id}/members/${id}`

  test('the list has the creator first, and then the explicit members in the order in which they were added', async () => {
    const { service, ann, bob, cyd, board } = setup
    const createdAt = board.now
    const [first, second] = [board.tick(), board.tick()]
    service.now = Date.parse(first)
    await board.add(cyd)
    service.now = Date.parse(second)
    await board.add(bob)
    const entry = { avatar_url: null, creator: false }
    const entries = [
      { ...entry, user_id: ann.id, display_name: 'Ann', creator: true, added_at: createdAt },
      { ...entry, user_id: cyd.id, display_name: 'Cyd', added_at: first },
      { ...entry, user_id: bob.id, display_name: 'Bob', added_at: second },
    ]
    const path = `/boards/${board.id}/members`
    expect((await service.send(bob.read, 'GET', path)).body).toEqual({ data: entries, page: { next_cursor: null } })
    expect(await board.all(path, 1)).toEqual(entries)
  })

  test('a former workspace member is not listed, and a page without the creator is full', async () => {
    const { service, workspaceId, ann, bob } = setup
    const dan = await service.person(workspaceId, 'member', 'Dan')
    const board = await TestBoard.create(service, dan)
    for (const person of [ann, bob]) await board.add(person)
    await endMembership(service.deps, workspaceId, dan.id)
    const { body } = await service.send(ann.read, 'GET', `/boards/${board.id}/members?limit=1`)
    expect(body.data.length).toBe(1)
    expect(body.page.next_cursor).not.toBeNull()
    const entries = await TestBoard.all(service, ann.read, `/boards/${board.id}/members`, 1)
    expect(entries.map(({ user_id }) => user_id).toSorted()).toEqual([ann.id, bob.id].toSorted())
  })

  test('the people who can be assigned are the members of the workspace, or of a private board those who are on it', async () => {
    const { service, workspaceId, ann, bob, cyd, board } = setup
    const dan = await service.person(workspaceId, 'owner', 'Dan')
    await board.add(bob)
    await board.add(dan)
    await endMembership(service.deps, workspaceId, dan.id)
    const assignable = (limit = 50) => TestBoard.all(service, bob.read, `/boards/${board.id}/assignable`, limit)
    const entry = { role: 'member', avatar_url: null }
    const [annEntry, bobEntry] = [
      { ...entry, user_id: ann.id, display_name: 'Ann' },
      { ...entry, user_id: bob.id, display_name: 'Bob' },
    ]
    const all = await assignable()
    expect(all.map(({ user_id }) => user_id).toSorted()).toEqual([ann.id, bob.id, cyd.id].toSorted())
    expect(all).toContainEqual(bobEntry)
    expect(await assignable(1)).toEqual(all)
    await board.makePrivate()
    expect(await assignable()).toEqual([annEntry, bobEntry])
    expect(await assignable(1)).toEqual([annEntry, bobEntry])
    for (const { user_id } of await assignable()) expect((await board.put(`/cards/${setup.cardId}/assignees/${user_id}`)).status).toBe(200)
    expect(await service.send(cyd.read, 'GET', `/boards/${board.id}/assignable`)).toMatchObject(notFound)
  })

  test('adding a member again, or the creator, changes nothing', async () => {
    const { ann, bob, board } = setup
    const at = board.tick()
    const added = await board.put(pathOf(bob))
    expect(added.body).toEqual({ data: { user_id: bob.id, display_name: 'Bob', avatar_url: null, creator: false, added_at: at } })
    board.tick()
    expect((await board.put(pathOf(bob))).body).toEqual(added.body)
    expect((await board.put(pathOf(ann))).body.data).toMatchObject({ user_id: ann.id, creator: true })
    expect(await board.all(`/boards/${board.id}/members`)).toHaveLength(2)
  })
})
