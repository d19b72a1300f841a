import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../../src/admin/commands.ts'
import type { CommandIo } from '../../src/admin/deps.ts'
import { endMembership, setRole } from '../../src/admin/memberships.ts'
import { addAlert } from '../../src/auth/accounts/alerts.ts'
import { setAccount } from '../../src/auth/accounts/sign-up.ts'
import { beginSession } from '../../src/auth/accounts/sessions.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { giveAuthenticator, SoftwareAuthenticator } from '../support/second-factor.ts'
import { Service, type Person } from '../support/service.ts'
import { BROWSER } from '../support/visitor.ts'

let service: Service
let ann: Person
let bob: Person
let board: TestBoard
beforeEach(async () => {
  service = await Service.start(memory)
  const workspace = await service.workspace()
  ann = await service.person(workspace, 'member', 'Ann')
  bob = await service.person(workspace, 'member', 'Bob')
  board = await TestBoard.create(service, ann)
})
afterEach(() => service.stop())
const run = (name: string, input: object) => runCommand(service.adminDeps, name, input, {} as CommandIo)
const read = (person: Person) => service.send(person.admin, 'GET', `/boards/${board.id}`)

describe('board transfer', () => {
  const transfer = (user: string, boardId = board.id) => run('board.transfer', { workspace: ann.workspaceId, board: boardId, user })
  const makePrivate = () => board.put(`/boards/${board.id}/visibility`, { visibility: 'private' })

  test('gives the board of a member who has left to another member', async () => {
    await makePrivate()
    await endMembership(service.deps, ann.workspaceId, ann.id)
    expect((await read(bob)).status).toBe(404)
    expect(await transfer(bob.id)).toMatchObject({ id: board.id, creator_id: bob.id })
    expect((await read(bob)).body.data.creator_id).toBe(bob.id)
    const reply = await service.send(bob.admin, 'PUT', `/boards/${board.id}/visibility`, { visibility: 'workspace' })
    expect(reply.status).toBe(200)
    const { body } = await service.send(bob.admin, 'GET', `/boards/${board.id}/members`)
    expect(body.data.map(({ user_id, creator }: any) => [user_id, creator])).toEqual([[bob.id, true]])
  })

  test('keeps the former creator as an explicit member, and leaves the new creator without an entry', async () => {
    await makePrivate()
    await board.add(bob)
    await transfer(bob.id)
    const { body } = await service.send(ann.admin, 'GET', `/boards/${board.id}/members`)
    expect(body.data.map(({ user_id, creator }: any) => [user_id, creator])).toEqual([
      [bob.id, true],
      [ann.id, false],
    ])
    expect((await service.send(ann.admin, 'GET', '/boards')).body.data.map(({ id }: any) => id)).toEqual([board.id])
  })

  test.each([
    ['the creator', () => ann.id, 'conflict'],
    ['an unknown user', () => 'usr_00000000000000000000', 'not_found'],
    ['a text that is no id', () => '../boards', 'not_found'],
  ])('is refused for %s', async (_who, userId, code) => {
    await expect(transfer(userId())).rejects.toMatchObject({ code })
  })

  test('is refused for a member who has left, for an unknown board and for an unknown workspace', async () => {
    await endMembership(service.deps, bob.workspaceId, bob.id)
    await expect(transfer(bob.id)).rejects.toMatchObject({ code: 'not_found' })
    for (const id of ['brd_00000000000000000000', 'x']) await expect(transfer(ann.id, id)).rejects.toMatchObject({ code: 'not_found' })
    const elsewhere = { workspace: 'wsp_00000000000000000000', board: board.id, user: bob.id }
    await expect(run('board.transfer', elsewhere)).rejects.toMatchObject({ code: 'not_found' })
  })
})

test('user reset-second-factor removes the app, the recovery codes and the passkeys, and ends the sessions of one user', async () => {
  for (const { id } of [ann, bob])
    await service.write(GLOBAL, async (tx) => {
      await setAccount(tx, { userId: id, email: `${id}@example.test`, passwordHash: 'x' }, service.deps.clock)
      await beginSession(tx, { user_id: id, email: `${id}@example.test`, ...BROWSER }, service.deps)
    })
  for (const person of [ann, bob]) await giveAuthenticator(service, person)
  await new SoftwareAuthenticator().giveTo(service, ann)
  expect(await run('user.reset-second-factor', { user: ann.id })).toEqual({ user_id: ann.id, second_factor_removed: true })
  const left = (await service.recordKeys(GLOBAL)).filter((key) => /^(second_factor|session):/.test(key))
  expect({ count: left.length, secondFactors: left.filter((key) => key.startsWith('second_factor:')) }).toEqual({
    count: 2,
    secondFactors: [keys.secondFactor(bob.id)],
  })
  expect(await run('user.reset-second-factor', { user: ann.id })).toEqual({ user_id: ann.id, second_factor_removed: false })
  await expect(run('user.reset-second-factor', { user: 'usr_00000000000000000000' })).rejects.toMatchObject({ code: 'not_found' })
})

describe('user disable', () => {
  test('ends sessions, memberships and tokens in all workspaces, and removes the password and the sign-up link', async () => {
    const second = await service.workspace()
    await run('member.add', { workspace: second, user: ann.id, role: 'member' })
    await setRole(service.deps, ann.workspaceId, ann.id, 'owner')
    await service.write(GLOBAL, async (tx) => {
      await setAccount(tx, { userId: ann.id, email: 'ann@example.test', passwordHash: 'x' }, service.deps.clock)
      await beginSession(tx, { user_id: ann.id, email: 'ann@example.test', ...BROWSER }, service.deps)
    })
    expect((await service.recordKeys(GLOBAL)).filter((key) => key.startsWith('session:'))).toHaveLength(1)
    await giveAuthenticator(service, ann)
    const alert = { kind: 'password_changed', agent: 'Firefox', address: '192.0.2.1', session_id: null, name: null } as const
    await service.write(GLOBAL, (tx) => addAlert(tx, ann.id, alert, service.deps))
    await run('user.invite', { user: ann.id })
    expect(await run('user.disable', { user: ann.id })).toEqual({
      user_id: ann.id,
      disabled: true,
      workspaces: expect.arrayContaining([ann.workspaceId, second]),
    })
    expect((await read(ann)).status).toBe(401)
    const left = (await service.recordKeys(GLOBAL)).filter((key) =>
      /^(account|account_email|sign_up|session|second_factor|alerts):/.test(key),
    )
    expect(left).toEqual([])
    expect((await read(bob)).status).toBe(200)
    // It can be repeated, and the user can come back.
    expect(await run('user.disable', { user: ann.id })).toMatchObject({ workspaces: [] })
    await run('user.invite', { user: ann.id })
    expect(await service.recordKeys(GLOBAL)).toContain(keys.signUp(ann.id))
  })

  test('is refused for an unknown user', async () => {
    await expect(run('user.disable', { user: 'usr_00000000000000000000' })).rejects.toMatchObject({ code: 'not_found' })
  })
})
