import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AdminDeps, CommandIo } from '../../src/admin/deps.ts'
import { exportWorkspace } from '../../src/admin/export.ts'
import { importWorkspace } from '../../src/admin/import.ts'
import { GLOBAL, keys, type Key } from '../../src/store/keys.ts'
import type { Store } from '../../src/store/port.ts'
import { transact } from '../../src/store/transact.ts'
import { TestBoard } from '../support/board.ts'
import { drivers, type OpenDriver } from '../support/drivers.ts'
import { Service } from '../support/service.ts'

/** What becomes of records: they are exported, or the import writes equal ones, or (with a reason) they are not transferred. */
type Transfer = 'exported' | 'written by the import' | { readonly notExported: string }

/** What becomes of the records of each kind. A kind is the first word of a key. */
const transfers: Readonly<Record<string, Transfer>> = {
  workspace: 'exported',
  membership: 'exported',
  token: 'exported',
  token_hash: 'exported',
  token_use: 'exported',
  board: 'exported',
  board_member: 'exported',
  column: 'exported',
  card: 'exported',
  label: 'exported',
  subtask: 'exported',
  comment: 'exported',
  attachment: 'exported',
  file: 'exported',
  order: 'exported',
  tombstone: 'exported',
  user: 'exported',
  workspace_entry: 'written by the import',
  workspace_link: 'written by the import',
  account: { notExported: 'a password belongs to a user, not to a workspace' },
  account_email: { notExported: 'an e-mail address belongs to a user, not to a workspace' },
  sign_up: { notExported: 'a sign-up link belongs to a user, not to a workspace' },
  session: { notExported: 'a session belongs to a user, not to a workspace' },
  demo: { notExported: 'it describes the storage' },
  bytes_mount: { notExported: 'it describes the storage' },
  importing: { notExported: 'it describes an import in progress' },
  imported_bytes: { notExported: 'it describes an import in progress' },
}
const kinds = Object.keys(transfers).toSorted()
/** In each record that must not be exported. */
const SECRET = 'not-for-export'

const kindOf = (key: string): string => key.slice(0, key.indexOf(':'))
type Records = readonly (readonly [key: string, value: unknown])[]

/** All records of a workspace and of the global partition. */
async function recordsOf(
  { store, recordKeys }: Pick<OpenDriver, 'store' | 'recordKeys'>,
  deps: AdminDeps,
  workspaceId: string,
): Promise<Records> {
  const records: (readonly [string, unknown])[] = []
  for (const partition of [workspaceId, GLOBAL]) {
    const partitionKeys = (await recordKeys(partition)).toSorted()
    const values = await transact(store, partition, deps.random, (tx) => tx.read(partitionKeys as Key<unknown>[]))
    records.push(...partitionKeys.map((key, i) => [key, values[i]] as const))
  }
  return records
}

/** Creates a workspace with records of every kind. @returns its id */
async function createWorkspaceWithEveryKind(service: Service): Promise<string> {
  const workspaceId = await service.workspace()
  const ann = await service.person(workspaceId, 'owner')
  const board = await TestBoard.create(service, ann)
  await board.add(await service.person(workspaceId))
  const columns = [await board.column(), await board.column()].toSorted()
  const card = await board.card(columns[0]!)
  await board.label()
  await board.subtask(card)
  await board.comment(card)
  await board.attach(card)
  await board.delete(`/attachments/${(await board.attach(card)).body.data.id}`)
  // Two columns with the same position: the next one between them causes a rebalancing.
  await service.write(workspaceId, async (tx) => {
    const [first, second] = await tx.read(columns.map(keys.column))
    tx.put(keys.column(columns[1]!), { ...second!, position: first!.position })
    await tx.create(keys.importing(), { id: SECRET, begun_at: SECRET })
    await tx.create(keys.importedBytes('blb_x'), { blob_id: SECRET })
  })
  await board.column('Between', { after: columns[0] })
  await service.write(GLOBAL, async (tx) => {
    const times = { created_at: SECRET, updated_at: SECRET }
    await tx.create(keys.account(ann.id), { user_id: ann.id, email: SECRET, password_hash: SECRET, devices: [], ...times })
    await tx.create(keys.accountEmail('e'), { user_id: SECRET })
    await tx.create(keys.signUp(ann.id), { user_id: ann.id, hash: SECRET, expires_at: SECRET })
    const session = { email: SECRET, begun_at: SECRET, seen_at: SECRET, proved_at: SECRET, form_token: SECRET, confirmations: [] }
    await tx.create(keys.session('5'), { hash: '5', user_id: ann.id, ...session })
    await tx.create(keys.demo(), { begun_at: SECRET, finished_at: null })
    await tx.create(keys.blobMount(), { id: SECRET })
  })
  await service.app.services.usage.settled()
  return workspaceId
}

test('the kinds of the table are the kinds of all keys', () => {
  const makers = Object.values(keys) as ((...parts: string[]) => string)[]
  expect([...new Set(makers.map((maker) => kindOf(maker('a', 'b'))))].toSorted()).toEqual(kinds)
})

describe.each(drivers)('an export and its import on $name', (driver) => {
  let source: Service
  let target: OpenDriver
  let before: Records
  let after: Records
  const lines: string[] = []
  const io = (): CommandIo => ({
    progress: () => undefined,
    write: async (line) => void lines.push(line),
    lines: (async function* () {
      yield* lines
    })(),
  })
  beforeAll(async () => {
    source = await Service.start(driver)
    target = await driver.open()
    const workspaceId = await createWorkspaceWithEveryKind(source)
    const deps = source.adminDeps
    before = await recordsOf({ store: source.store as Store, recordKeys: (partition) => source.recordKeys(partition) }, deps, workspaceId)
    await exportWorkspace(deps, workspaceId, io())
    await importWorkspace({ ...deps, store: target.store, blobs: target.blobs }, io())
    after = await recordsOf(target, deps, workspaceId)
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
      // An import gives the bytes of each file a new id.
      const isBlob = (text: unknown) => /^blb_[0-9a-z]{20}$/.test(String(text))
      const comparable = (records: Records) =>
        records.map(([key, value]) => [key, JSON.stringify(value, (_name, member) => (isBlob(member) ? 'blob' : member))])
      expect(comparable(ofKind(after, kind))).toEqual(comparable(ofKind(before, kind)))
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
