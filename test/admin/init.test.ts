import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { initialize } from '../../src/admin/init.ts'
import { listMembers } from '../../src/admin/memberships.ts'
import { addUser, listUsers } from '../../src/admin/users.ts'
import { createWorkspace, listWorkspaces } from '../../src/admin/workspaces.ts'
import { setAccount } from '../../src/auth/accounts/sign-up.ts'
import { GLOBAL } from '../../src/store/keys.ts'
import { drivers } from '../support/drivers.ts'
import { failFrom } from '../support/failing-storage.ts'
import { findDamage } from '../support/findings.ts'
import { Service } from '../support/service.ts'
import { PASSWORD, Visitor } from '../support/visitor.ts'

const NEW = { workspace: 'Acme', owner: 'Olivia Stone', email: 'olivia@example.org' }
const ORIGIN = 'http://localhost'

describe.each(drivers)('init on $name', (driver) => {
  let service: Service
  beforeEach(async () => {
    service = await Service.start(driver)
  })
  afterEach(() => service.stop())
  const init = (changes: Partial<typeof NEW> = {}) => initialize(service.adminDeps, { ...NEW, ...changes }, ORIGIN)
  const state = async () => {
    const workspaces = await listWorkspaces(service.deps)
    const members = await Promise.all(workspaces.map(({ id }) => listMembers(service.deps, id)))
    return {
      workspaces: workspaces.map(({ name }) => name),
      users: (await listUsers(service.deps)).map(({ display_name }) => display_name),
      members: members.map((list) => list.map(({ display_name, role }) => `${display_name}: ${role}`)),
    }
  }
  const complete = { workspaces: ['Acme'], users: ['Olivia Stone'], members: [['Olivia Stone: owner']] }

  test('the link of an empty storage signs its owner up, with the stated address, and they can create tokens', async () => {
    const { sign_up_link, workspace_id } = await init()
    expect(await state()).toEqual(complete)
    const visitor = new Visitor(service)
    const link = new URL(sign_up_link)
    const page = await visitor.open(link.pathname + link.search)
    expect(page.text).toMatch(/name="email"[^>]*value="olivia@example.org"|value="olivia@example.org"[^>]*name="email"/)
    await visitor.submit({ email: NEW.email, password: PASSWORD, again: PASSWORD })
    await visitor.signIn(NEW.email)
    expect(visitor.page!.text).toContain(workspace_id)
    expect((await findDamage(service.adminDeps)).findings).toEqual([])
  })

  test('a second run is refused, changes nothing, and names the commands for another link and another workspace', async () => {
    const { user_id, workspace_id } = await init()
    const hint = `this storage has the workspace "Acme" (${workspace_id}) already
  for another sign-up link: lanekeeper user invite ${user_id}
  for another workspace: lanekeeper workspace create NAME`
    for (const changes of [{}, { workspace: 'Other' }])
      await expect(init(changes)).rejects.toMatchObject({ code: 'conflict', message: hint })
    expect(await state()).toEqual(complete)
  })

  test('a workspace of another name, or with a member, is not taken for an interrupted run', async () => {
    const other = await createWorkspace(service.deps, 'Globex')
    await expect(init()).rejects.toMatchObject({ code: 'conflict' })
    await expect(init({ workspace: 'Globex' })).resolves.toMatchObject({ workspace_id: other.id })
    await expect(init({ workspace: 'Globex' })).rejects.toMatchObject({ code: 'conflict' })
  })

  test('a user of the same name who has signed up is not made an owner, and one who has not is', async () => {
    const signedUp = await addUser(service.deps, { display_name: NEW.owner })
    service.now++
    const invited = await addUser(service.deps, { display_name: NEW.owner })
    await service.write(GLOBAL, (tx) =>
      setAccount(tx, { userId: signedUp.id, email: 'o@example.org', passwordHash: 'x' }, service.deps.clock),
    )
    expect((await init()).user_id).toBe(invited.id)
  })
})

test('a run that ended at any storage operation can be repeated, and creates nothing twice', async () => {
  let repeated = 0
  for (let at = 1; ; at++) {
    const service = await Service.start(drivers[0]!)
    const { deps, reached } = failFrom(service.adminDeps, at)
    await initialize(deps, NEW, ORIGIN).catch(() => undefined)
    const failed = reached()
    const second = await initialize(service.adminDeps, NEW, ORIGIN).catch((error: unknown) => error as Error)
    // When only the link is missing, the message says how to get one.
    if (second instanceof Error) expect(second.message).toContain('lanekeeper user invite usr_')
    else repeated++
    expect({ workspaces: (await listWorkspaces(service.deps)).length, users: (await listUsers(service.deps)).length }).toEqual({
      workspaces: 1,
      users: 1,
    })
    await service.stop()
    if (!failed) break
  }
  expect(repeated).toBeGreaterThan(5)
})
