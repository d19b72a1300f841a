import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openFsStoreForReading, type FsStore } from '../../src/store/fs/store.ts'
import { change, readRequest } from '../support/changes.ts'
import { quiet } from '../support/log.ts'
import { keysOf, PATH, putOne, StoreFolder } from '../support/store-folder.ts'

/** Turns of the event loop after which everything that can be released is. */
const TURNS = 200

describe('a partition of a folder that is not in use', () => {
  let folder: StoreFolder
  let store: FsStore
  beforeEach(async () => {
    folder = new StoreFolder()
    store = await folder.open(Infinity, 0)
  })
  afterEach(async () => {
    folder.repair()
    await store.close()
  })
  const rest = async () => {
    for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate)
  }
  const loaded = async () => (await store.metrics()).loadedPartitions
  const revisionOf = async (key: string, partition = 'p1') =>
    (await store.read(partition, readRequest({ records: [key] })))!.records[0]!.stored?.revision ?? null
  const indexRevision = async () => (await store.read('p1', readRequest({ ranges: [{ index: 'i', limit: 1 }] })))!.ranges[0]!.revision
  /** How many partitions are loaded after a use of another one has ended, which releases those that are not in use. */
  const loadedAfterOther = async () => {
    await revisionOf('a:1', 'p9')
    await rest()
    return loaded()
  }
  /** Forgets what was done on the disk so far. */
  const forget = () => void (folder.recording.operations.length = 0)

  test('it is released, and read again with the same records, entries and revisions', async () => {
    const [first, second] = [putOne('a:1'), putOne('a:2')]
    await store.commit('p1', first)
    await store.commit('p1', second)
    await rest()
    expect([await loaded(), await folder.checkpoints()]).toEqual([0, ['p1']])
    const request = readRequest({ records: ['a:1', 'a:2', 'a:3'], ranges: [{ index: 'i', limit: 9, fetch: '' }], counts: ['i'] })
    const [one, two] = [first, second].map(({ revision, put }) => ({ value: [...put.values()][0], revision }))
    expect(await store.read('p1', request)).toEqual({
      records: [
        { key: 'a:1', stored: one },
        { key: 'a:2', stored: two },
        { key: 'a:3', stored: null },
      ],
      ranges: [{ entries: ['a:1', 'a:2'], revision: second.revision, records: [one, two] }],
      counts: [2],
    })
    await rest()
    expect(await store.metrics()).toMatchObject({ loadedPartitions: 0, loadedBytes: 0, partitionLoads: 1, partitionReleases: 2 })
  })

  test('what was read before it was released can still be expected by a read and by a commit', async () => {
    const [first, second] = [putOne('a:1'), putOne('a:2')]
    await store.commit('p1', first)
    await rest()
    await store.commit('p1', second)
    const expected = { records: new Map([['a:1', first.revision]]), indexes: new Map([['i', second.revision]]) }
    await rest()
    expect(await loaded()).toBe(0)
    expect(await store.read('p1', readRequest({ expect: { ...expected, capacity: new Map() } }))).not.toBeNull()
    await rest()
    expect(await store.commit('p1', change({ put: { 'a:3': {} }, expect: expected }))).toBe('done')
    await rest()
    expect(await store.commit('p1', change({ put: { 'a:1': {} }, expect: expected }))).toBe('done')
    await rest()
    expect(await store.commit('p1', change({ put: { 'a:4': {} }, expect: expected }))).toBe('conflict')
  })

  test('revisions survive a restart after it was released', async () => {
    const put = putOne('a:1')
    await store.commit('p1', put)
    await rest()
    await store.commit('p2', putOne('a:1'))
    await rest()
    // As a crash leaves it, and as a shutdown does.
    for (const leave of [async () => undefined, () => store.close()]) {
      await leave()
      store = await folder.open(Infinity, 0)
      expect([await revisionOf('a:1'), await indexRevision()]).toEqual([put.revision, put.revision])
    }
  })

  test('one that has not changed is released without a write, and one that has gets a checkpoint before', async () => {
    await store.commit('p1', putOne('a:1'))
    await rest()
    forget()
    await revisionOf('a:1')
    await rest()
    expect([folder.recording.operations.filter((one) => !one.startsWith('readParts')), await loaded()]).toEqual([[], 0])
    forget()
    await store.commit('p1', putOne('a:2'))
    await rest()
    expect([await loaded(), folder.recording.operations.filter((one) => one.startsWith('rename'))]).toEqual([
      0,
      [`rename ${PATH}/records/.p1.tmp ${PATH}/records/p1`],
    ])
  })

  test('changes of an earlier process are in the journal, so it is released without a write', async () => {
    await store.close()
    store = await folder.open()
    await store.commit('p1', putOne('a:1'))
    await store.close()
    store = await folder.open(Infinity, 0)
    forget()
    for (let i = 0; i < 2; i++) {
      expect(await keysOf(store)).toEqual(['a:1'])
      expect(await loaded()).toBe(0)
    }
    expect(folder.recording.operations.filter((one) => /^(create|rename)/.test(one))).toEqual([])
    // A commit and a compaction find them too.
    await store.commit('p1', putOne('a:2'))
    await rest()
    await store.compact()
    await rest()
    expect([await loaded(), await keysOf(store)]).toEqual([0, ['a:1', 'a:2']])
  })

  test('one that nothing was ever written to, or whose only commit was refused, is not kept', async () => {
    expect(await store.commit('p1', change({ put: { 'a:1': {} }, expect: { records: new Map([['a:1', 'x']]) } }))).toBe('conflict')
    await revisionOf('a:1', 'p2')
    await rest()
    expect([await loaded(), await store.partitions(), await folder.checkpoints()]).toEqual([0, [], []])
  })

  test.each(['dump', 'scan', 'indexNames'] as const)('it stays until a %s has ended, also if its caller stops early', async (method) => {
    const many = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`a:${i}`, {}]))
    const index = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`i:${i}`, { add: ['x 1'] }]))
    await store.commit('p1', change({ put: many, index }))
    await rest()
    for (const stopsEarly of [false, true]) {
      let count = 0
      for await (const batch of store[method]('p1')) {
        expect(await loadedAfterOther()).toBe(1)
        count += batch.length
        if (stopsEarly) break
      }
      expect(count).toBe(stopsEarly ? 500 : 1200)
      await rest()
      expect(await loaded()).toBe(0)
    }
  })

  test('a dump that reads while others commit is a snapshot of its beginning', async () => {
    const many = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`a:${i}`, { n: 0 }]))
    await store.commit('p1', change({ put: many }))
    await rest()
    const values: unknown[] = []
    for await (const batch of store.dump('p1')) {
      values.push(...batch.map(([, value]) => value['n']))
      await store.commit('p1', change({ put: { 'a:0': { n: 1 }, 'a:999': { n: 1 } } }))
      await rest()
    }
    expect([values.length, new Set(values)]).toEqual([1200, new Set([0])])
  })

  test('it stays while a lease is held in it', async () => {
    await store.commit('p1', putOne('a:1'))
    await rest()
    const lease = await store.takeLease('p1')
    await revisionOf('a:1')
    expect(await loadedAfterOther()).toBe(1)
    lease.end()
    expect(await loadedAfterOther()).toBe(0)
  })

  test('a commit waits for a lease that begins while its partition is loaded', async () => {
    await store.commit('p1', putOne('a:1'))
    await rest()
    let end: (() => void) | undefined
    folder.before = async (operation) => {
      if (end === undefined && operation.startsWith('readParts')) ({ end } = await store.takeLease('p1'))
    }
    const order: string[] = []
    const committed = store.commit('p1', putOne('a:2')).then(() => order.push('commit'))
    await rest()
    order.push('end of the lease')
    end!()
    await committed
    expect(order).toEqual(['end of the lease', 'commit'])
  })

  test('it stays while it is held for maintenance', async () => {
    await store.commit('p1', putOne('a:1'))
    await rest()
    await store.hold('p1', async () => {
      await revisionOf('a:1')
      expect(await loadedAfterOther()).toBe(1)
    })
    expect(await loaded()).toBe(0)
  })

  test('it stays while a commit is written', async () => {
    await store.commit('p1', putOne('a:1'))
    await rest()
    let during: number | undefined
    folder.before = async (operation) => {
      if (!/^sync .*log$/.test(operation)) return
      folder.repair()
      during = await loadedAfterOther()
    }
    await store.commit('p1', putOne('a:2'))
    expect(during).toBe(1)
    expect(await keysOf(store)).toEqual(['a:1', 'a:2'])
  })

  test.each(['create', 'write', 'sync', 'rename', 'syncFolder'])(
    'a commit at the %s of the checkpoint before a release is not lost, and is in the next one',
    async (step) => {
      const keys = ['a:1']
      let raced = false
      folder.before = async (operation) => {
        if (raced || !operation.startsWith(`${step} ${PATH}/records`)) return
        raced = true
        keys.push('a:2')
        expect(await store.commit('p1', putOne('a:2'))).toBe('done')
      }
      await store.commit('p1', putOne('a:1'))
      await rest()
      expect(raced).toBe(true)
      expect([await keysOf(store), await loaded()]).toEqual([keys, 0])
      const crashed = new StoreFolder(folder.disk.after('nothing kept'))
      expect(await keysOf(await crashed.open(Infinity, 0))).toEqual(keys)
    },
  )

  test('a commit and a read of it at the same time as its release lose nothing', async () => {
    for (let i = 0; i < 30; i++) {
      await Promise.all([
        store.commit('p1', putOne(`a:${100 + i}`)),
        revisionOf('a:100'),
        new Promise(setImmediate).then(() => store.commit('p1', putOne(`b:${100 + i}`))),
      ])
      if (i % 3 === 0) await rest()
    }
    expect((await keysOf(store)).length).toBe(60)
    await rest()
    expect([(await keysOf(store)).length, await loaded()]).toEqual([60, 0])
  })

  test('one that is released, loaded and changed while the checkpoint of another one is written keeps its change', async () => {
    for (const name of ['p1', 'p2']) await store.commit(name, putOne('a:1'))
    await rest()
    let end!: () => void
    const held = store.hold('p2', () => new Promise<void>((resolve) => (end = resolve)))
    folder.before = async (operation) => {
      // It is used after p1, whose checkpoint is therefore the first one.
      if (/^write .*log$/.test(operation)) await revisionOf('a:1', 'p2')
      if (operation !== `create ${PATH}/records/.p1.tmp`) return
      folder.repair()
      end()
      await held
      await store.commit('p2', putOne('a:2'))
    }
    await store.commit('p1', putOne('a:2'))
    await rest()
    expect([await loaded(), await keysOf(store), await keysOf(store, 'p2')]).toEqual([0, ['a:1', 'a:2'], ['a:1', 'a:2']])
  })

  test.each(['create', 'sync', 'rename'])('if the %s of its checkpoint fails, it stays and is logged once', async (step) => {
    folder.before = (operation) => {
      if (operation.startsWith(`${step} ${PATH}/records`)) throw Object.assign(new Error('injected'), { code: 'ENOSPC' })
    }
    await store.commit('p1', putOne('a:1'))
    await rest()
    const isFatal = step === 'sync'
    expect(await loadedAfterOther()).toBe(1)
    const msg = 'a checkpoint could not be written; its records stay in memory'
    expect(folder.log.lines).toEqual([expect.objectContaining({ level: 50, partition: 'p1', msg })])
    expect(await keysOf(store)).toEqual(['a:1'])
    folder.repair()
    // After a failed sync nothing is written any more. Otherwise the next commit tries again.
    const outcome = await store.commit('p1', putOne('a:2')).catch((error: Error) => error.name)
    await rest()
    expect([outcome, await loaded()]).toEqual(isFatal ? ['StorageUnavailable', 1] : ['done', 0])
    expect(await keysOf(store)).toEqual(isFatal ? ['a:1'] : ['a:1', 'a:2'])
  })

  test('a compaction does not write what was released before, and loads nothing for it', async () => {
    await store.commit('p1', putOne('a:1'))
    await rest()
    await store.commit('p2', putOne('a:1'))
    forget()
    await Promise.all([store.compact(), rest()])
    expect(folder.recording.operations.filter((one) => one.startsWith('rename'))).toEqual([
      `rename ${PATH}/records/.p2.tmp ${PATH}/records/p2`,
      `rename ${PATH}/.manifest.json.tmp ${PATH}/manifest.json`,
    ])
    expect(folder.read()).toEqual([])
    expect([await folder.journal(), await folder.checkpoints()]).toEqual([['0000000003.log'], ['p1', 'p2']])
  })

  test('a compaction waits for the checkpoint of a release before it removes the journal', async () => {
    let compacting: Promise<void> | undefined
    folder.before = async (operation) => {
      if (operation !== `write ${PATH}/records/.p1.tmp` || compacting !== undefined) return
      compacting = store.compact()
      await rest()
      expect(await folder.journal()).toContain('0000000001.log')
    }
    await store.commit('p1', putOne('a:1'))
    await rest()
    await compacting
    expect(await folder.journal()).toEqual(['0000000002.log'])
    expect(folder.recording.operations.filter((one) => one.startsWith(`rename ${PATH}/records`))).toHaveLength(1)
    expect(await keysOf(await new StoreFolder(folder.disk.after('nothing kept')).open())).toEqual(['a:1'])
  })

  test('a compaction after one that failed midway does not load what the first one has written and released', async () => {
    await store.close()
    store = await folder.open()
    for (const name of ['p1', 'p2']) await store.commit(name, putOne('a:1'))
    await store.close()
    store = await folder.open(Infinity, 0)
    folder.fail(`create ${PATH}/records/.p2`, 'ENOSPC')
    await store.compact()
    folder.repair()
    forget()
    await store.compact()
    expect([folder.read(), await folder.checkpoints(), await folder.journal()]).toEqual([['p2'], ['p1', 'p2'], ['0000000003.log']])
    expect([await keysOf(store, 'p1'), await keysOf(store, 'p2')]).toEqual([['a:1'], ['a:1']])
  })

  test('one whose checkpoint was damaged since answers as unavailable, and the others work', async () => {
    for (const name of ['p1', 'p2']) await store.commit(name, putOne('a:1'))
    await rest()
    await (await folder.disk.create(`${PATH}/records/p1`)).write(Buffer.from('x'))
    await expect(keysOf(store, 'p1')).rejects.toThrow('records/p1 is damaged: its checksum does not match')
    expect([store.damaged(), await keysOf(store, 'p2')]).toEqual([['p1'], ['a:1']])
  })

  test('a shutdown ends the release', async () => {
    for (const name of ['p1', 'p2', 'p3']) await store.commit(name, putOne('a:1'))
    await store.close()
    const { length } = folder.recording.operations
    await rest()
    expect(folder.recording.operations.length).toBe(length)
    store = await folder.open()
    for (const name of ['p1', 'p2', 'p3']) expect(await keysOf(store, name)).toEqual(['a:1'])
  })

  test('a folder for reading only releases it too, and reads it again with what the journal has', async () => {
    await store.commit('p1', putOne('a:1'))
    await rest()
    await store.close()
    store = await folder.open()
    await store.commit('p1', putOne('a:2'))
    const reading = await openFsStoreForReading(PATH, { log: quiet, disk: folder.recording, cacheBytes: 0 })
    for (let i = 0; i < 2; i++) {
      forget()
      expect((await reading.read('p1', readRequest({ records: ['a:1', 'a:2'] })))!.records.map(({ stored }) => stored !== null)).toEqual([
        true,
        true,
      ])
      expect(folder.read()).toEqual(['p1'])
    }
  })
})
