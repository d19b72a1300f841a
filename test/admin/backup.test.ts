import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BackupSummary } from '../../src/admin/backup.ts'
import { runCommand } from '../../src/admin/commands.ts'
import { restore } from '../../src/admin/restore.ts'
import { inviteUser } from '../../src/admin/users.ts'
import { createWorkspace, listWorkspaces } from '../../src/admin/workspaces.ts'
import { SignIn } from '../../src/auth/accounts/sign-in.ts'
import type { Demo } from '../../src/demo/seed.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { decorateStore, type Value } from '../../src/store/port.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { transact } from '../../src/store/transact.ts'
import { createIo } from '../support/command-io.ts'
import { seedOn } from '../support/demo.ts'
import { drivers } from '../support/drivers.ts'
import { comparableExport, withTrailer } from '../support/export-lines.ts'
import { failFrom } from '../support/failing-storage.ts'
import { stride } from '../support/sample.ts'
import { cheapPasswords, Service } from '../support/service.ts'
import { backupOf } from '../support/transfers.ts'

/** What a request is answered, without its id. */
const get = async (service: Service, path: string, token: string) => {
  const { status, text } = await service.send(token, 'GET', path)
  return `${status} ${text.replace(/"request_id":"[^"]+"/, '')}`
}

/** Signs a user in. */
const signIn = ({ deps }: Service, email: string, password: string) =>
  new SignIn(deps, cheapPasswords).attempt({
    formToken: '',
    email,
    password,
    agent: '',
    network: '192.0.2.1',
    device: undefined,
    currentSession: undefined,
  })

/** The lines of a backup without what a restore replaces, and without the last uses of tokens, which are written late. */
const comparable = (lines: readonly string[]) => comparableExport(lines).filter((line) => !line.startsWith('{"key":"token_use:'))

/** The source of all backups, on the first driver. */
let lines: readonly string[]
let summary: BackupSummary
const source = await Service.forSuite()
const demo = await seedOn(source)
await transact(source.deps.store, GLOBAL, systemRandom, async (tx) => {
  tx.create(keys.demo(), { begun_at: '2026-11-20T12:00:00.000Z', finished_at: '2026-11-20T12:00:00.000Z' })
})
const [{ email, password, user_id }] = demo.people as [Demo['people'][0]]
await signIn(source, email, password)
await inviteUser(source.deps, user_id, 'http://x')
;({ lines, summary } = await backupOf(source.adminDeps))

describe.each(drivers)('restores to $name', (driver) => {
  let target: Service
  beforeEach(async () => {
    target = await Service.start(driver)
  })
  afterEach(() => target.stop())
  const restoreLines = (from: readonly string[] = lines, deps = target.adminDeps) => restore(deps, createIo(from))
  const remaining = async () => [
    ...(await target.recordKeys(GLOBAL)).filter((key) => !key.startsWith('schema:')),
    ...(await target.blobKeys()),
    ...(await Promise.all(demo.workspaces.map(({ id }) => target.recordKeys(id)))).flat(),
  ]

  test('a restored backup gives every token and every user the same access, and has no session and no sign-up link', async () => {
    expect(await restoreLines()).toEqual(summary)
    expect(summary).toMatchObject({ workspaces: 2, users: 8, lost: 0, lost_files: [], lost_workspaces: [] })
    for (const { token, state } of demo.tokens) {
      for (const path of ['/members', '/boards']) expect(await get(target, path, token)).toBe(await get(source, path, token))
      expect((await get(target, '/account', token)).slice(0, 3)).toBe(state === 'left' ? '401' : '200')
    }
    for (const { email, password, user_id } of demo.people) {
      expect(await signIn(target, email, password)).toMatchObject({ result: 'signed_in', userId: user_id })
      expect(await signIn(target, email, `${password}!`)).toMatchObject({ result: 'refused', userId: user_id })
    }
    const global = await target.recordKeys(GLOBAL)
    expect(global.filter((key) => /^(sign_up|restoring|restored_workspace):/.test(key))).toEqual([])
    expect(lines.filter((line) => /"key":"(session|challenge|sign_up|account_email|workspace_entry)/.test(line))).toEqual([])
    // The sessions of those who have signed in above.
    expect(global.filter((key) => key.startsWith('session:'))).toHaveLength(demo.people.length)
  })

  test('a restore to a storage that is not empty is refused, and the storage stays as it is', async () => {
    await createWorkspace(target.deps, 'Other')
    const before = (await target.recordKeys(GLOBAL)).toSorted()
    await expect(restoreLines()).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('not empty') })
    expect((await target.recordKeys(GLOBAL)).toSorted()).toEqual(before)
    await expect(restoreLines(lines, source.adminDeps)).rejects.toMatchObject({ code: 'conflict' })
  })

  test('a restore is refused if a workspace is created right before it begins', async () => {
    const { store } = target.deps
    async function* dump(partition: string): AsyncGenerator<readonly (readonly [string, Value])[]> {
      yield* store.dump(partition)
      await createWorkspace(target.deps, 'Other')
    }
    await expect(restoreLines(lines, { ...target.adminDeps, store: decorateStore(store, { dump }) })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect((await listWorkspaces(target.deps)).map(({ name }) => name)).toEqual(['Other'])
  })

  const section = () => lines.findIndex((line, i) => i > 1 && line.startsWith('{"workspace":'))
  const changed = (from: RegExp, to: string) => lines.map((line) => line.replace(from, to))
  test.each<[string, () => readonly string[], RegExp]>([
    [
      'is an export',
      () => withTrailer([JSON.stringify({ lanekeeper_export: 2, workspace_id: demo.workspaces[0]!.id, name: 'x', exported_at: 'x' })]),
      /use "import"/,
    ],
    ['lacks its last line', () => lines.slice(0, -1), /incomplete/],
    ['lacks its users', () => withTrailer(lines.slice(0, lines.indexOf('{"installation":true}'))), /has no users/],
    ['has a workspace twice', () => withTrailer([...lines.slice(0, section()), ...lines.slice(1, -1)]), /twice/],
    ['has a workspace after its users', () => withTrailer([...lines.slice(0, -1), lines[1]!]), /follows the users/],
    ['has a record before its first section', () => withTrailer([lines[0]!, lines[5]!]), /belongs to no section/],
    ['has a session', () => withTrailer([...lines.slice(0, -1), '{"key":"session:x","value":{}}']), /unknown kind of record "session"/],
    [
      'has an account in a workspace',
      () => withTrailer([...lines.slice(0, 2), lines.find((line) => line.startsWith('{"key":"account:'))!]),
      /unknown kind of record "account"/,
    ],
    [
      'has a password without a hash',
      () => withTrailer(changed(/"password_hash":"[^"]+"/, '"password_hash":"secret"').slice(0, -1)),
      /hash of argon2id/,
    ],
    [
      'has one e-mail address twice',
      () => withTrailer(changed(/"email":"[^"]+"/, '"email":"a@example.org"').slice(0, -1)),
      /same e-mail address/,
    ],
    [
      'has an incomplete workspace',
      () => withTrailer(lines.filter((line) => !line.startsWith('{"key":"workspace:')).slice(0, -1)),
      /has no record of/,
    ],
  ])('a backup that %s is refused, and nothing remains', async (_case, make, message) => {
    await expect(restoreLines(make())).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(message) })
    expect(await remaining()).toEqual([])
    expect(await restoreLines()).toEqual(summary)
  })

  test('a backup gives no access before its last line was verified', async () => {
    const reads: string[] = []
    const run = async () => {
      for (const { token } of demo.tokens) reads.push((await get(target, '/account', token)).slice(0, 3))
      for (const { email, password } of demo.people) reads.push((await signIn(target, email, password)).result)
      reads.push(...(await listWorkspaces(target.deps)).map(({ name }) => name))
    }
    await restore(target.adminDeps, createIo(lines, { at: lines.length - 1, run }))
    expect(new Set(reads)).toEqual(new Set(['401', 'refused']))
  })

  test('of two restores that overlap, the later one completes and the earlier one fails', async () => {
    let second: BackupSummary | undefined
    const run = async () => (second = await restoreLines())
    await expect(restore(target.adminDeps, createIo(lines, { at: 150, run }))).rejects.toMatchObject({ code: 'conflict' })
    expect(second).toEqual(summary)
    expect(comparable((await backupOf(target.adminDeps)).lines)).toEqual(comparable(lines))
  })
})

describe.each(drivers)('interrupted restores on $name', (driver) => {
  test('after a restore ended at any storage operation, it is not usable, and the next one completes', async () => {
    let [ended, complete] = [0, 0]
    for (let at = 2, reached = true; reached; at += driver.name === 'memory' ? stride(5) : 7) {
      const target = await Service.start(driver)
      const failing = failFrom(target.adminDeps, at)
      const first = await restore(failing.deps, createIo(lines)).catch((error: unknown) => error)
      reached = failing.reached()
      const use = await runCommand(target.adminDeps, 'workspace.list', {}, createIo()).catch((error: unknown) => error)
      if (first instanceof Error && Array.isArray(use) && use.length > 0) {
        // It ended after the commit that ends the restore.
        expect(use).toHaveLength(2)
        complete++
      } else if (first instanceof Error) {
        ended++
        if (!Array.isArray(use)) expect(use).toMatchObject({ code: 'conflict' })
        expect(await restore(target.adminDeps, createIo(lines))).toEqual(summary)
      }
      expect(comparable((await backupOf(target.adminDeps)).lines)).toEqual(comparable(lines))
      const blobs = await target.blobKeys()
      expect(blobs.length).toBe(summary.files)
      await target.stop()
    }
    expect(ended).toBeGreaterThan(10)
    expect(complete).toBeLessThan(ended)
  })
})
