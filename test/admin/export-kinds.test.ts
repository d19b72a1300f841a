import { afterAll, describe, expect, test } from 'vitest'
import { importWorkspace } from '../../src/admin/import.ts'
import { keys } from '../../src/store/keys.ts'
import { createIo } from '../support/command-io.ts'
import { drivers } from '../support/drivers.ts'
import { comparableRecords, createWorkspaceWithEveryKind, kindOf, recordsOf, SECRET, type Records } from '../support/every-kind.ts'
import { Service } from '../support/service.ts'
import { exportOf } from '../support/transfers.ts'

/** What becomes of the records of each kind. A kind is the first word of a key. */
const transfers = {
  'exported, or written by the import':
    'workspace membership token token_hash token_use token_rules audit board board_member column card readiness claim label subtask comment ' +
    'attachment file file_bytes order tombstone removals first_response response_text change notice user workspace_entry workspace_link',
  'not exported: it belongs to a user or to a browser': 'account account_email identity sign_up second_factor alerts challenge session',
  'not exported: it sends to another service, and has secrets':
    'webhook webhook_progress webhook_deliveries webhook_workspace delivery_lease',
  'not exported: it describes the storage': 'demo bytes_mount schema secret_key told_by_time notice_mail',
  'not exported: it describes an import or a restore in progress': 'importing imported_bytes restoring restored_workspace',
}
const [transferred, ...others] = Object.values(transfers).map((words) => words.split(' ')) as [string[], ...string[][]]
const notExported = others.flat()
const kinds = [...transferred, ...notExported].toSorted()
test('the kinds of the table are the kinds of all keys', () => {
  const makers = Object.values(keys) as ((...parts: string[]) => string)[]
  expect([...new Set(makers.map((maker) => kindOf(maker('a', 'b'))))].toSorted()).toEqual(kinds)
})

describe.each(drivers)('an export and its import on $name', async (driver) => {
  const source = await Service.forSuite(driver, { batch: 1 })
  const target = await driver.open()
  const workspaceId = await createWorkspaceWithEveryKind(source)
  const deps = source.adminDeps
  const before = await recordsOf({ store: source.store, recordKeys: (partition) => source.recordKeys(partition) }, workspaceId)
  const { lines } = await exportOf(deps, workspaceId)
  await importWorkspace({ ...deps, store: target.store, blobs: target.blobs }, createIo(lines))
  const after = await recordsOf(target, workspaceId)
  afterAll(async () => {
    await target.store.close()
    await target.blobs.close()
  })

  test('the exported workspace has records of every kind', () => {
    expect([...new Set(before.map(([key]) => kindOf(key)))].toSorted()).toEqual(kinds)
  })

  test('the storage has equal records of the kinds that are transferred, and none of the others', () => {
    const ofKinds = (records: Records, wanted: string[]) => records.filter(([key]) => wanted.includes(kindOf(key)))
    expect(comparableRecords(ofKinds(after, transferred))).toEqual(comparableRecords(ofKinds(before, transferred)))
    expect(ofKinds(after, notExported)).toEqual([])
    expect(lines.filter((line) => notExported.some((kind) => line.startsWith(`{"key":"${kind}:`)))).toEqual([])
  })

  test('the export contains no data of a record that is not exported', () => {
    expect(lines.filter((line) => line.includes(SECRET))).toEqual([])
  })
})
