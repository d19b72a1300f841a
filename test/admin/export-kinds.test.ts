import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importWorkspace } from '../../src/admin/import.ts'
import { keys } from '../../src/store/keys.ts'
import { createIo } from '../support/command-io.ts'
import { drivers, type OpenDriver } from '../support/drivers.ts'
import { comparableRecords, createWorkspaceWithEveryKind, kindOf, recordsOf, SECRET, type Records } from '../support/every-kind.ts'
import { Service } from '../support/service.ts'
import { exportOf } from '../support/transfers.ts'

/** What becomes of records: they are exported, or the import writes equal ones, or (with a reason) they are not transferred. */
type Transfer = 'exported' | 'written by the import' | { readonly notExported: string }

/** What becomes of the records of each kind. A kind is the first word of a key. */
const transfers: Readonly<Record<string, Transfer>> = {
  workspace: 'exported',
  membership: 'exported',
  token: 'exported',
  token_hash: 'exported',
  token_use: 'exported',
  token_rules: 'exported',
  audit: 'exported',
  board: 'exported',
  board_member: 'exported',
  column: 'exported',
  card: 'exported',
  readiness: 'exported',
  claim: 'exported',
  label: 'exported',
  subtask: 'exported',
  comment: 'exported',
  attachment: 'exported',
  file: 'exported',
  order: 'exported',
  tombstone: 'exported',
  removals: 'exported',
  first_response: 'exported',
  response_text: 'exported',
  change: 'exported',
  user: 'exported',
  workspace_entry: 'written by the import',
  workspace_link: 'written by the import',
  account: { notExported: 'a password belongs to a user, not to a workspace' },
  account_email: { notExported: 'an e-mail address belongs to a user, not to a workspace' },
  sign_up: { notExported: 'a sign-up link belongs to a user, not to a workspace' },
  second_factor: { notExported: 'a second factor belongs to a user, not to a workspace' },
  notices: { notExported: 'a notice belongs to a user, not to a workspace' },
  challenge: { notExported: 'a challenge belongs to a browser, not to a workspace' },
  session: { notExported: 'a session belongs to a user, not to a workspace' },
  demo: { notExported: 'it describes the storage' },
  bytes_mount: { notExported: 'it describes the storage' },
  importing: { notExported: 'it describes an import in progress' },
  imported_bytes: { notExported: 'it describes an import in progress' },
  schema: { notExported: 'it describes the storage; the header has the version of the records' },
  restoring: { notExported: 'it describes a restore in progress' },
  restored_workspace: { notExported: 'it describes a restore in progress' },
}
const kinds = Object.keys(transfers).toSorted()
test('the kinds of the table are the kinds of all keys', () => {
  const makers = Object.values(keys) as ((...parts: string[]) => string)[]
  expect([...new Set(makers.map((maker) => kindOf(maker('a', 'b'))))].toSorted()).toEqual(kinds)
})

describe.each(drivers)('an export and its import on $name', (driver) => {
  let source: Service
  let target: OpenDriver
  let before: Records
  let after: Records
  let lines: readonly string[]
  beforeAll(async () => {
    source = await Service.start(driver, { batch: 1 })
    target = await driver.open()
    const workspaceId = await createWorkspaceWithEveryKind(source)
    const deps = source.adminDeps
    before = await recordsOf({ store: source.store, recordKeys: (partition) => source.recordKeys(partition) }, workspaceId)
    ;({ lines } = await exportOf(deps, workspaceId))
    await importWorkspace({ ...deps, store: target.store, blobs: target.blobs }, createIo(lines))
    after = await recordsOf(target, workspaceId)
  })
  afterAll(async () => {
    await source.stop()
    await target.store.close()
    await target.blobs.close()
  })
  const ofKind = (records: Records, kind: string): Records => records.filter(([key]) => kindOf(key) === kind)

  test('the exported workspace has records of every kind', () => {
    expect([...new Set(before.map(([key]) => kindOf(key)))].toSorted()).toEqual(kinds)
  })

  test.each(kinds.filter((kind) => typeof transfers[kind] === 'string'))(
    'the storage has equal records of the kind %s after the import',
    (kind) => {
      expect(comparableRecords(ofKind(after, kind))).toEqual(comparableRecords(ofKind(before, kind)))
    },
  )

  test.each(kinds.filter((kind) => typeof transfers[kind] === 'object'))('records of the kind %s are not transferred', (kind) => {
    expect(ofKind(after, kind)).toEqual([])
    expect(lines.filter((line) => line.startsWith(`{"key":"${kind}:`))).toEqual([])
  })

  test('the export contains no data of a record that is not exported', () => {
    expect(lines.filter((line) => line.includes(SECRET))).toEqual([])
  })
})
