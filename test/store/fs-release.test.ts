import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openFsStoreForReading, type FsStore } from '../../src/store/fs/store.ts'
import { change, readRequest } from '../support/changes.ts'
import { quiet } from '../support/log.ts'
import { keysOf, PATH, put, putOne, StoreFolder } from '../support/store-folder.ts'

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

  test('one that has not changed is released without a write, and one that has gets a checkpoint before', async () => {
    await put(store, 'a:1')
    await rest()
    forget()
    await revisionOf('a:1')
    await rest()
    expect([folder.recording.operations.filter((one) => !one.startsWith('readParts')), await loaded()]).toEqual([[], 0])
    forget()
    await put(store, 'a:2')
    await rest()
    expect([await loaded(), folder.recording.operations.filter((one) => one.startsWith('rename'))]).toEqual([
      0,
      [`rename ${PATH}/records/.p1.tmp ${PATH}/records/p1`],
    ])
  })

  test('changes of an earlier process are in the journal, so it is released without a write', async () => {
    await store.close()
    store = await folder.open()
    await put(store, 'a:1')
    await store.close()
    store = await folder.open(Infinity, 0)
    forget()
    for (let i = 0; i < 2; i++) {
      expect(await keysOf(store)).toEqual(['a:1'])
      expect(await loaded()).toBe(0)
    }
    expect(folder.recording.operations.filter((one) => /^(create|rename)/.test(one))).toEqual([])
    // A commit and a compaction find them too.
    await put(store, 'a:2')
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

  test('it stays while a lease is held in it', async () => {
    await put(store, 'a:1')
    await rest()
    const lease = await store.takeLease('p1')
    await revisionOf('a:1')
    expect(await loadedAfterOther()).toBe(1)
    lease.end()
    expect(await loadedAfterOther()).toBe(0)
  })

  test('a commit waits for a lease that begins while its partition is loaded', async () => {
    await put(store, 'a:1')
    await rest()
    let end: (() => void) | undefined
    folder.before = async (operation) => {
      if (end === undefined && operation.startsWith('readParts')) ({ end } = await store.takeLease('p1'))
    }
    const order: string[] = []
    const committed = put(store, 'a:2').then(() => order.push('commit'))
    await rest()
    order.push('end of the lease')
    end!()
    await committed
    expect(order).toEqual(['end of the lease', 'commit'])
  })

  test('it stays while it is held for maintenance', async () => {
    await put(store, 'a:1')
    await rest()
    await store.hold('p1', async () => {
      await revisionOf('a:1')
      expect(await loadedAfterOther()).toBe(1)
    })
    expect(await loaded()).toBe(0)
  })

  test('it stays while a commit is written', async () => {
    await put(store, 'a:1')
    await rest()
    let during: number | undefined
    folder.before = async (operation) => {
      if (!/^sync .*log$/.test(operation)) return
      folder.repair()
      during = await loadedAfterOther()
    }
    await put(store, 'a:2')
    expect(during).toBe(1)
    expect(await keysOf(store)).toEqual(['a:1', 'a:2'])
  })

  test('one that is released, loaded and changed while the checkpoint of another one is written keeps its change', async () => {
    for (const name of ['p1', 'p2']) await put(store, 'a:1', name)
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
      await put(store, 'a:2', 'p2')
    }
    await put(store, 'a:2')
    await rest()
    expect([await loaded(), await keysOf(store), await keysOf(store, 'p2')]).toEqual([0, ['a:1', 'a:2'], ['a:1', 'a:2']])
  })

  test.each(['create', 'sync', 'rename'])('if the %s of its checkpoint fails, it stays and is logged once', async (step) => {
    folder.before = (operation) => {
      if (operation.startsWith(`${step} ${PATH}/records`)) throw Object.assign(new Error('injected'), { code: 'ENOSPC' })
    }
    await put(store, 'a:1')
    await rest()
    const isFatal = step === 'sync'
    expect(await loadedAfterOther()).toBe(1)
    const msg = 'a checkpoint could not be written; its records stay in memory'
    expect(folder.log.lines).toEqual([expect.objectContaining({ level: 50, partition: 'p1', msg })])
    expect(await keysOf(store)).toEqual(['a:1'])
    folder.repair()
    // After a failed sync nothing is written any more. Otherwise the next commit tries again.
    const outcome = await put(store, 'a:2').catch((error: Error) => error.name)
    await rest()
    expect([outcome, await loaded()]).toEqual(isFatal ? ['StorageUnavailable', 1] : ['done', 0])
    expect(await keysOf(store)).toEqual(isFatal ? ['a:1'] : ['a:1', 'a:2'])
  })

  test('a compaction does not write what was released before, and loads nothing for it', async () => {
    await put(store, 'a:1')
    await rest()
    await put(store, 'a:1', 'p2')
    forget()
    await Promise.all([store.compact(), rest()])
    expect(folder.recording.operations.filter((one) => one.startsWith('rename'))).toEqual([
      `rename ${PATH}/records/.p2.tmp ${PATH}/records/p2`,
      `rename ${PATH}/.manifest.json.tmp ${PATH}/manifest.json`,
    ])
    expect(folder.read()).toEqual([])
    expect([await folder.journal(), await folder.checkpoints()]).toEqual([['0000000003.log'], ['p1', 'p2']])
  })

  test('a compaction after one that failed midway does not load what the first one has written and released', async () => {
    await store.close()
    store = await folder.open()
    for (const name of ['p1', 'p2']) await put(store, 'a:1', name)
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

  test('a shutdown ends the release', async () => {
    for (const name of ['p1', 'p2', 'p3']) await put(store, 'a:1', name)
    await store.close()
    const { length } = folder.recording.operations
    await rest()
    expect(folder.recording.operations.length).toBe(length)
    store = await folder.open()
    for (const name of ['p1', 'p2', 'p3']) expect(await keysOf(store, name)).toEqual(['a:1'])
  })

  test('a folder for reading only releases it too, and reads it again with what the journal has', async () => {
    await put(store, 'a:1')
    await rest()
    await store.close()
    store = await folder.open()
    await put(store, 'a:2')
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
