import { beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../../src/admin/commands.ts'
import { noIo } from '../../src/cli/command.ts'
import { readTrail } from '../../src/audit/trail.ts'
import { DAY } from '../../src/model/time.ts'
import { keys } from '../../src/store/keys.ts'
import { drivers } from '../support/drivers.ts'
import { CommandHost, startService } from '../support/process.ts'
import { Service, type Person } from '../support/service.ts'
import { signedIn, textOf } from '../support/visitor.ts'
import { newFolder } from '../support/run.ts'

const TOKEN = /^lk_pat_[0-9A-Za-z]+$/

describe.each(drivers)('"token create", on $name', async (driver) => {
  let workspace: string
  let person: Person
  const service = await Service.forSuite(driver)
  beforeEach(async () => {
    workspace = await service.workspace()
    person = await service.person(workspace)
  })

  const create = async (
    changes: object = {},
    mailAlert?: (to: { readonly email: string }, alert: { readonly name: string | null }) => Promise<void>,
  ) =>
    (await runCommand(
      { ...service.adminDeps, mailAlert },
      'token.create',
      { workspace, user: person.id, scope: 'write', name: 'CI', ...changes },
      noIo,
    )) as { token: string; id: string; expires_at: string }
  const allow = (rules: { max_days: number; admin: boolean }) =>
    service.write(workspace, async (tx) => {
      await tx.get(keys.tokenRules())
      tx.put(keys.tokenRules(), { ...rules, updated_at: new Date(service.now).toISOString(), updated_by: person.id })
    })
  const daysOf = ({ expires_at }: { expires_at: string }) => (Date.parse(expires_at) - service.now) / DAY

  test.each([
    ['read', 'kanban:read', [200, 403]],
    ['write', 'kanban:write', [200, 201]],
    ['kanban:write', 'kanban:write', [200, 201]],
  ])('a token with the scope %s works at once, and can do what the scope allows', async (scope, granted, statuses) => {
    const created = await create({ scope, name: 'Nightly build' })
    expect(created).toEqual({
      token: expect.stringMatching(TOKEN) as string,
      id: expect.stringMatching(/^tok_/) as string,
      user_id: person.id,
      name: 'Nightly build',
      scopes: [granted],
      issued_at: new Date(service.now).toISOString(),
      expires_at: new Date(service.now + 30 * DAY).toISOString(),
    })
    const read = await service.send(created.token, 'GET', '/account')
    const write = await service.send(created.token, 'POST', '/boards', { name: 'Garden' })
    expect([read.status, write.status]).toEqual(statuses)
  })

  test.each([
    [undefined, undefined, 30],
    [undefined, '90', 90],
    [undefined, '1', 1],
    [7, undefined, 7],
    [60, undefined, 30],
    [7, '7', 7],
  ])('if the workspace allows %s days, and %s are asked for, the token lasts %i', async (max_days, days, expected) => {
    if (max_days !== undefined) await allow({ max_days, admin: false })
    expect(daysOf(await create({ days }))).toBe(expected)
  })

  test('a token that is not allowed is refused with the reason, and nothing is created', async () => {
    await allow({ max_days: 7, admin: true })
    const other = await service.person(await service.workspace())
    const gone = await service.person(workspace)
    await runCommand(service.adminDeps, 'member.remove', { workspace, user: gone.id }, noIo)
    const tokens = async () => ((await runCommand(service.adminDeps, 'token.list', { workspace }, noIo)) as unknown[]).length
    const before = await tokens()
    for (const [changes, code, message] of [
      [{ scope: 'admin' }, 'invalid', 'scope: it must be read or write; a token with kanban:admin is created by its person in the web app'],
      [{ scope: 'everything' }, 'invalid', 'scope: it must be read or write'],
      [{ days: '91' }, 'invalid', 'days: must be a whole number from 1 to 90'],
      [{ days: '1e1' }, 'invalid', 'days: must be a whole number from 1 to 90'],
      [{ days: '8' }, 'conflict', `days: the rules of ${workspace} allow at most 7`],
      [{ name: '' }, 'invalid', 'name: '],
      [{ user: other.id }, 'not_found', `${other.id} is not an active member of ${workspace}`],
      [{ user: gone.id }, 'not_found', `${gone.id} is not an active member of ${workspace}`],
      [{ user: 'usr_00000000000000000000' }, 'not_found', 'usr_00000000000000000000'],
      [{ workspace: 'wsp_00000000000000000000' }, 'not_found', 'wsp_00000000000000000000'],
    ] as const)
      await expect(create(changes), JSON.stringify(changes)).rejects.toMatchObject({
        name: 'AdminError',
        code,
        message: expect.stringContaining(message) as string,
      })
    expect(await tokens()).toBe(before)
  })

  test('the audit trail has it in the same commit, and its person gets an alert, by mail too', async () => {
    const mails: unknown[] = []
    const visitor = await signedIn(service, person)
    const { id, token } = await create({ name: 'Nightly build' }, async ({ email }, { name }) => void mails.push([email, name]))
    const trail = await readTrail(service.deps, { sources: [{ partition: workspace }], matches: () => true, limit: 10 })
    expect(trail.entries).toMatchObject([
      { operation: 'operator.token.create', user_id: null, subject_id: person.id, ids: [id], outcome: 'done', token_id: null },
    ])
    expect(JSON.stringify(trail)).not.toContain(token)
    expect(mails).toEqual([[`${person.id}@example.org`, 'Nightly build']])
    const page = await visitor.open('/settings/tokens')
    expect(textOf(page.text)).toMatch(/The token "Nightly build" was created\. [^.]*The operator, on the command line/)
    expect(textOf((await visitor.open(`/settings/activity`)).text)).toContain('by the operator')
  })

  test('an alert that cannot be stored or sent loses no token', async () => {
    const { token } = await create({}, () => Promise.reject(new Error('no connection')))
    expect((await service.send(token, 'GET', '/account')).status).toBe(200)
  })
})

test('beside a running service, stdout has the token alone, it works at once, and the log has it not', async () => {
  const env = { LANEKEEPER_STORAGE: `fs:${newFolder()}/data`, LANEKEEPER_LOG: 'debug' }
  const host = new CommandHost(env)
  const { stdout } = await host.run(['init', '--workspace', 'Acme', '--owner', 'Ada King', '--email', 'ada@example.com', '--json'])
  const { workspace_id, user_id } = JSON.parse(stdout) as { workspace_id: string; user_id: string }
  const create = (...args: string[]) => host.run(['token', 'create', workspace_id, user_id, '--name', 'CI', ...args])
  const before = await create('--scope', 'read')
  const service = await startService([], env)
  const created = await create('--scope', 'write', '--days', '7')
  expect({ code: created.code, stdout: created.stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^lk_pat_[0-9A-Za-z]+\n$/) })
  expect(created.stderr).toMatch(/^created tok_\w+ with kanban:write for usr_\w+, until \S+; the token is shown only now:\n$/)
  const json = await create('--scope', 'read', '--json')
  expect({ code: json.code, stderr: json.stderr, stdoutLines: json.stdout.trimEnd().split('\n').length }).toEqual({
    code: 0,
    stderr: '',
    stdoutLines: 1,
  })
  const parsed = JSON.parse(json.stdout) as { token: string }
  expect(parsed).toMatchObject({ token: expect.stringMatching(TOKEN) as string, user_id })
  const plaintexts = [before.stdout.trim(), created.stdout.trim(), parsed.token]
  for (const token of plaintexts)
    expect((await fetch(`${service.url}/v1/account`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  expect((await host.run(['audit', workspace_id])).stdout).toMatch(/ operator +– +operator\.token\.create /)
  expect(await service.stop()).toBe(0)
  expect(service.stderr()).toContain('"event":"operator.token.create"')
  for (const token of plaintexts) expect(service.stderr()).not.toContain(token)
})
