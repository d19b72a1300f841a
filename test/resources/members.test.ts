import { beforeEach, describe, expect, test } from 'vitest'
import { addMember, endMembership, setRole } from '../../src/admin/memberships.ts'
import { addUser } from '../../src/admin/users.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'

describe.each(drivers)('members of a workspace, on $name', async (driver) => {
  let workspaceId: string
  let [ann, bob]: Person[] = []
  const service = await Service.forSuite(driver)
  beforeEach(async () => {
    workspaceId = await service.workspace()
    ann = await service.person(workspaceId, 'owner', 'Ann')
    service.now += 1000
    bob = await service.person(workspaceId, 'member', 'Bob')
  })
  const list = (limit = 100) => TestBoard.all(service, ann!.read, '/members', limit)

  test('the directory lists the members in the order in which they joined, with four properties each', async () => {
    const entries = [
      { user_id: ann!.id, role: 'owner', display_name: 'Ann', avatar_url: null },
      { user_id: bob!.id, role: 'member', display_name: 'Bob', avatar_url: null },
    ]
    expect(await list()).toEqual(entries)
    expect(await list(1)).toEqual(entries)
  })

  test('the directory shows the current role, and the avatar of a user who has one', async () => {
    await setRole(service.deps, workspaceId, bob!.id, 'admin')
    service.now += 1000
    const eve = await addUser(service.deps, { display_name: 'Eve', avatar_url: 'https://example.com/eve.png' })
    await addMember(service.deps, workspaceId, eve, 'member')
    expect((await list()).slice(1)).toEqual([
      { user_id: bob!.id, role: 'admin', display_name: 'Bob', avatar_url: null },
      { user_id: eve.id, role: 'member', display_name: 'Eve', avatar_url: 'https://example.com/eve.png' },
    ])
  })

  test('the directory lists neither former members nor members of another workspace', async () => {
    const stranger = await service.person(await service.workspace('Globex'))
    await endMembership(service.deps, workspaceId, bob!.id)
    expect((await list()).map(({ user_id }) => user_id)).toEqual([ann!.id])
    expect((await TestBoard.all(service, stranger.read, '/members', 100)).map(({ user_id }) => user_id)).toEqual([stranger.id])
  })
})
