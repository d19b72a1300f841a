import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { decorateStore, StorageUnavailable, type Store, type Value } from '../../src/store/port.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { bringForward, FIRST_VERSION, migrations, SCHEMA_VERSION } from '../../src/store/migrations/list.ts'
import type { Migration } from '../../src/store/migrations/migration.ts'
import { migrateStore, readSchema, requireCurrent } from '../../src/store/migrations/run.ts'
import { change, readRequest } from '../support/changes.ts'
import { drivers } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'

const AT = '2026-01-01T00:00:00.000Z'

/** Renames and splits records, and moves them to another index. */
const split: Migration = {
  number: SCHEMA_VERSION + 1,
  summary: 'a person becomes a user and a name',
  reason: 'test',
  migrate(key, value) {
    if (!key.startsWith('person:')) return [[key, value]]
    const { name, ...rest } = value
    return [
      [`user:${String(value['id'])}`, rest],
      [`name:${String(value['id'])}`, { name }],
    ]
  },
}
/** Changes the records that the one before it has made. */
const extend: Migration = {
  number: SCHEMA_VERSION + 2,
  summary: 'a user gets a picture',
  reason: 'test',
  migrate: (key, value) => [[key, key.startsWith('user:') && value['avatar_url'] === undefined ? { ...value, avatar_url: null } : value]],
}
const list = [...migrations, split, extend]
const PARTITIONS = [GLOBAL, 'wsp_a', 'wsp_b']
const ids = Array.from({ length: 230 }, (_, i) => `usr_${String(i).padStart(20, '0')}`)

/** Records of the version before, with an index that only the code of that version knows. */
async function fill(store: Store): Promise<void> {
  for (const partition of PARTITIONS)
    await store.commit(
      partition,
      change({
        put: Object.fromEntries(ids.map((id) => [`person:${id}`, { id, created_at: AT, name: `N ${id}` }])),
        index: { people: { add: ids.map((id) => `${AT} ${id}`) } },
      }),
    )
}

async function contentOf(
  store: Store,
  partition: string,
): Promise<{ records: Record<string, Value>; indexes: Record<string, readonly string[]> }> {
  const records: Record<string, Value> = {}
  for await (const batch of store.dump(partition)) Object.assign(records, Object.fromEntries(batch))
  const indexes: Record<string, readonly string[]> = {}
  for await (const names of store.indexNames(partition))
    for (const index of names)
      indexes[index] = (await store.read(partition, readRequest({ ranges: [{ index, limit: 1000 }] })))!.ranges[0]!.entries
  return { records, indexes }
}

const expected = {
  records: Object.fromEntries<Value>([
    ['schema:self', { version: SCHEMA_VERSION + 2 }],
    ...ids.flatMap((id): [string, Value][] => [
      [`user:${id}`, { id, created_at: AT, avatar_url: null }],
      [`name:${id}`, { name: `N ${id}` }],
    ]),
  ]),
  indexes: { users: ids.map((id) => `${AT} ${id}`) },
}

describe('the list of migrations', () => {
  test('is numbered from the first version without gaps, and each migration says its effect and its reason', () => {
    expect(migrations.map(({ number }) => number)).toEqual(migrations.map((_migration, i) => FIRST_VERSION + 1 + i))
    for (const { summary, reason } of migrations) expect(summary.length * reason.length).toBeGreaterThan(100)
    expect(SCHEMA_VERSION).toBe(FIRST_VERSION + migrations.length)
  })

  test('applies to a record only the migrations after its version', () => {
    const person = { id: 'a', name: 'A' }
    expect(bringForward('person:a', person, SCHEMA_VERSION, list)).toEqual([
      ['user:a', { id: 'a', avatar_url: null }],
      ['name:a', { name: 'A' }],
    ])
    expect(bringForward('person:a', person, SCHEMA_VERSION + 1, list)).toEqual([['person:a', person]])
  })

  test.each(list)('leaves migrated records unchanged: $summary', (migration) => {
    const records: [string, Value][] = [
      ['person:1', { id: '1', name: 'A' }],
      ['user:2', { id: '2' }],
      ['card:3', { id: '3' }],
    ]
    const once = records.flatMap((record) => migration.migrate(...record))
    expect(once.flatMap((record) => migration.migrate(...record))).toEqual(once)
  })
})

describe.each(drivers)('migrations on $name', (driver) => {
  let store: Store
  beforeEach(async () => {
    store = (await driver.open()).store
  })
  afterEach(() => store.close())
  const deps = () => ({ store, random: systemRandom, list })
  const outdated = async () => {
    await readSchema({ store, random: systemRandom })
    await fill(store)
  }

  const expectMigrated = async (...partitions: string[]) => {
    for (const partition of partitions.length > 0 ? partitions : PARTITIONS) expect(await contentOf(store, partition)).toEqual(expected)
  }

  test('a storage without data gets the present version, and keeps it', async () => {
    expect(await readSchema({ ...deps(), list: migrations })).toEqual({ version: SCHEMA_VERSION })
    await fill(store)
    expect((await contentOf(store, GLOBAL)).records[keys.schema()]).toEqual({ version: SCHEMA_VERSION })
    expect(await readSchema(deps())).toEqual({ version: SCHEMA_VERSION })
  })

  test('of several processes that start on a storage without data, none takes the record of another one for old data', async () => {
    const racing = decorateStore(store, {
      async partitions() {
        await readSchema({ store, random: systemRandom })
        return store.partitions()
      },
    })
    expect(await readSchema({ store: racing, random: systemRandom })).toEqual({ version: SCHEMA_VERSION })
  })

  test('all records and indexes of all partitions are brought forward, over several versions', async () => {
    await outdated()
    const texts: string[] = []
    const summary = await migrateStore({ ...deps(), progress: (text) => texts.push(text) })
    expect(summary).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION + 2, partitions: 3, records: 3 * ids.length, damaged: [] })
    expect(texts.at(-1)).toBe('3 of 3 partitions, 690 records changed')
    await expectMigrated()
    expect(await migrateStore(deps())).toMatchObject({ partitions: 0, records: 0 })
  })

  test.each([
    ['newer than the code', SCHEMA_VERSION + 1],
    ['before the first release', FIRST_VERSION - 1],
    ['from before records had versions', undefined],
  ])('records that are %s are refused with what to do, and nothing is changed', async (_what, version) => {
    await fill(store)
    if (version !== undefined) await store.commit(GLOBAL, change({ put: { [keys.schema()]: { version } } }))
    const before = await contentOf(store, GLOBAL)
    const refusal = `this storage holds records of ${version === undefined ? 'no version' : `version ${version}`}, and this version of Lanekeeper reads version ${SCHEMA_VERSION}: use the version of Lanekeeper that wrote them, or another storage`
    const current = { store, random: systemRandom }
    for (const attempt of [readSchema, migrateStore, (deps: typeof current) => requireCurrent({ ...deps, isReadOnly: false, log: quiet })])
      await expect(attempt(current)).rejects.toMatchObject({ name: 'UnsupportedSchema', message: refusal })
    expect(await contentOf(store, GLOBAL)).toEqual(before)
  })

  test('at the start, records of an earlier version are migrated in a folder, and refused in Redis and on a disk for reading', async () => {
    await outdated()
    const before = await contentOf(store, 'wsp_a')
    const start = (isReadOnly: boolean) => requireCurrent({ ...deps(), isReadOnly, log: quiet })
    const found = `holds records of version ${SCHEMA_VERSION}, and this version of Lanekeeper needs version ${SCHEMA_VERSION + 2}: `
    await expect(start(true)).rejects.toThrow(`this folder ${found}copy it to a disk that can be written to`)
    if (store.isRemote) {
      await expect(start(false)).rejects.toThrow(`this Redis ${found}end all services that use it, and run "lanekeeper migrate"`)
      expect(await contentOf(store, 'wsp_a')).toEqual(before)
      await migrateStore(deps())
    }
    await start(false)
    await expectMigrated('wsp_a')
    await start(true)
  })

  test('a migration goes on where storage has failed, and gives the same result', async () => {
    await outdated()
    for (let failAt = 1, done = false; !done; failAt += 2) {
      let commits = 0
      const failing = decorateStore(store, {
        commit: async (partition, commit) => {
          if (++commits === failAt) throw new StorageUnavailable('storage fails')
          return store.commit(partition, commit)
        },
      })
      done = await migrateStore({ ...deps(), store: failing }).then(
        () => true,
        (error: unknown) => (expect(error).toBeInstanceOf(StorageUnavailable), false),
      )
      if (!done) expect((await readSchema(deps())).version).toBe(SCHEMA_VERSION)
    }
    await expectMigrated()
  })

  test('a partition that an interrupted migration has completed is not migrated by an earlier version again', async () => {
    await outdated()
    let completed = 0
    const progress = () => void (++completed === 2 && expect.unreachable('stopped'))
    await expect(migrateStore({ ...deps(), progress })).rejects.toThrow('stopped')
    const scanned = new Set<string>()
    const watched = decorateStore(store, { scan: (partition) => (scanned.add(partition), store.scan(partition)) })
    expect(await migrateStore({ ...deps(), store: watched })).toMatchObject({ partitions: 3, records: ids.length })
    expect([...scanned]).toEqual([GLOBAL])
  })

  test('a workspace that is created after a migration has the version of the storage', async () => {
    await outdated()
    await migrateStore({ ...deps(), list: [...migrations, split] })
    await store.commit('wsp_new', change({ put: { 'person:1': { id: '1', name: 'not to be split' } } }))
    expect(await migrateStore(deps())).toMatchObject({ from: SCHEMA_VERSION + 1, records: 3 * ids.length })
    expect((await contentOf(store, 'wsp_new')).records).toEqual({
      'person:1': { id: '1', name: 'not to be split' },
      'schema:self': { version: SCHEMA_VERSION + 2 },
    })
  })

  test('a damaged partition does not stop the migration of the others, and is migrated when it can be read again', async () => {
    await outdated()
    const damaged = decorateStore(store, {
      damaged: () => ['wsp_a'],
      read: (partition, request) =>
        partition === 'wsp_a' ? Promise.reject(new StorageUnavailable('damaged')) : store.read(partition, request),
    })
    expect(await migrateStore({ ...deps(), store: damaged })).toMatchObject({ partitions: 2, damaged: ['wsp_a'] })
    expect(await readSchema(deps())).toEqual({ version: SCHEMA_VERSION + 2, pending: { wsp_a: SCHEMA_VERSION } })
    // Still damaged at the next start.
    expect(await migrateStore({ ...deps(), store: damaged })).toMatchObject({ damaged: ['wsp_a'] })
    expect(await migrateStore(deps())).toMatchObject({ partitions: 2, records: ids.length, damaged: [] })
    await expectMigrated('wsp_a')
    expect(await readSchema(deps())).toEqual({ version: SCHEMA_VERSION + 2 })
  })

  test('two processes that migrate at the same time do no harm', async () => {
    await outdated()
    await Promise.all([migrateStore(deps()), migrateStore(deps())])
    await expectMigrated()
  })
})

test.each<[key: string, old: object, added: object]>([
  ['column:col_1', { name: 'x' }, { max_attempts: 5, completes: false }],
  ['comment:cmt_1', { body: 'x' }, { kind: 'comment', answers: null, token_id: null, token_name: null }],
  ['readiness:crd_1', { is_open: true }, { held: null, not_before: null }],
  [
    'claim:crd_1',
    { epoch: 7 },
    {
      attempts: 0,
      reason: null,
      failed_at: null,
      not_before: null,
      question_id: null,
      answer_id: null,
      max_attempts: 5,
      was_moved: false,
      lost_epoch: null,
    },
  ],
  ['card:crd_1', { completed_at: null }, { external_ref: null, outcome: null }],
  ['card:crd_2', { completed_at: '2026' }, { external_ref: null, outcome: 'succeeded' }],
  ['label:lbl_1', { name: 'x' }, {}],
])('a record of version 5 is brought to the present one, and stays as it is after that: %s', (key, old, added) => {
  const migrated = { ...old, ...added } as Value
  expect(bringForward(key, old as Value, 5)).toEqual([[key, migrated]])
  const changed = Object.fromEntries(Object.keys(added).map((name) => [name, 'own']))
  expect(bringForward(key, { ...migrated, ...changed }, 5)).toEqual([[key, { ...migrated, ...changed }]])
})
