import { rmSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StorageUnavailable, type Change } from '../../src/store/port.ts'
import { openDatabase } from '../../src/store/fs/sqlite.ts'
import type { FsStore } from '../../src/store/fs/store.ts'
import { openWriter, type Writer } from '../../src/store/fs/writer.ts'
import { change, expectation, readRequest } from '../support/changes.ts'
import { Commits, compare } from '../support/commits.ts'
import { errorOf } from '../support/error-of.ts'
import { damageRecord, keysOf, openFolder } from '../support/folders.ts'
import { eachInFolder } from '../support/temporary-folder.ts'

let path: string
eachInFolder((created) => (path = created))
let store: FsStore
beforeEach(async () => void (store = await openFolder(path)))
afterEach(() => store.close())

const reopen = async (options: Parameters<typeof openFolder>[1] = {}) => {
  await store.close()
  store = await openFolder(path, options)
}
const put = (key: string, value: object = {}, partition = 'p1') => store.commit(partition, change({ put: { [key]: value } }))
/** The rows of a partition as they are in the file. */
const rowsOf = (partition: string) => {
  const database = openDatabase(`${path}/records.db`, { readOnly: true })
  const rows = database
    .prepare('SELECT number, key, value FROM records WHERE partition = (SELECT id FROM partitions WHERE name = ?)')
    .all(partition)
  database.close()
  return rows.map(({ number, key, value }) => [number, key, value])
}
const entriesOf = async (index: string) => (await store.read('p1', readRequest({ ranges: [{ index, limit: 99 }] })))!.ranges[0]!.entries

describe('the content of a folder', () => {
  test.each([
    ['in memory', {}],
    ['loaded again for each use', { cacheBytes: 0 }],
    ['with a checkpoint after each transaction', { checkpointAt: 1 }],
  ])('is the same after each restart: %s', async (_how, options) => {
    const commits = new Commits(7)
    for (let round = 0; round < 6; round++) {
      await reopen(options)
      expect(await compare(store, commits)).toEqual([])
      for (let i = 0; i < 4; i++) await commits.round(store, ['p1', 'p2', 'p3'])
      expect(await compare(store, commits)).toEqual([])
    }
    expect(commits.violations).toEqual([])
    expect(await store.findDamage().next()).toEqual({ done: false, value: [] })
  })

  test('is rows that are numbered in the order of their creation, and keep their numbers', async () => {
    await put('b:1')
    await store.commit('p1', change({ put: { 'a:1': { n: 1 }, 'c:1': {} } }))
    await reopen()
    await put('a:1', { n: 2 })
    await store.commit('p1', change({ remove: ['b:1', 'none:1'] }))
    await put('d:1')
    expect(rowsOf('p1')).toEqual([
      [1, 'a:1', '{"n":2}'],
      [2, 'c:1', '{}'],
      [3, 'd:1', '{}'],
    ])
  })

  test('has a log again if another program has switched it off', async () => {
    await put('a:1')
    await store.close()
    const database = openDatabase(`${path}/records.db`)
    database.exec('PRAGMA journal_mode = DELETE; VACUUM')
    database.close()
    store = await openFolder(path)
    await put('a:2')
    expect((await store.metrics()).logBytes).toBeGreaterThan(0)
    expect(await keysOf(store)).toEqual(['a:1', 'a:2'])
  })

  test('has the last of several changes of a record that are written together', async () => {
    await put('x:1')
    const changes: Change[] = [
      change({ put: { 'a:1': { n: 1 } } }),
      change({ put: { 'a:1': { n: 2 } }, remove: ['x:1'] }),
      change({ remove: ['a:1'] }),
      change({ put: { 'a:1': { n: 3 }, 'x:1': { n: 4 } } }),
      change({ remove: ['x:1'] }),
    ]
    await Promise.all(changes.map((one) => store.commit('p1', one)))
    expect(rowsOf('p1').map(([, key, value]) => [key, value])).toEqual([['a:1', '{"n":3}']])
    await put('x:1', { n: 5 })
    await reopen()
    expect(await keysOf(store)).toEqual(['a:1', 'x:1'])
    expect(await store.findDamage().next()).toEqual({ done: false, value: [] })
  })

  test('has an index that follows from the records, also after a release, and transactions then go on', async () => {
    await reopen({ cacheBytes: 0 })
    for (const i of ['c', 'a', 'b']) await put(`e:${i}`, { i })
    expect(await entriesOf('i')).toEqual(['a', 'b', 'c'])
    const { revision } = (await store.read('p1', readRequest({ ranges: [{ index: 'i', limit: 1 }] })))!.ranges[0]!
    const adding = (i: string) =>
      store.commit('p1', change({ put: { [`e:${i}`]: { i } }, expect: expectation({ indexes: new Map([['i', revision]]) }) }))
    expect({ d: await adding('d'), e: await adding('e'), entries: await entriesOf('i') }).toEqual({
      d: 'done',
      e: 'conflict',
      entries: ['a', 'b', 'c', 'd'],
    })
    expect((await store.metrics()).partitionReleases).toBeGreaterThan(4)
  })
})

describe('the memory of a folder', () => {
  test('answers with records while the indexes are being filled, and with ranges afterwards', async () => {
    await store.commit('p1', change({ put: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`e:${i}`, {}])) }))
    const filled: string[] = []
    await reopen({ entriesOf: (key) => (filled.push(key), [['i', key]]) })
    const ranges = store.read('p1', readRequest({ ranges: [{ index: 'i', limit: 9999 }] }))
    const { records } = (await store.read('p1', readRequest({ records: ['e:4999'] })))!
    expect(records[0]!.stored!.value).toEqual({})
    expect(filled.length).toBeLessThan(5000)
    expect({ entries: (await ranges)!.ranges[0]!.entries.length, filled: filled.length }).toEqual({ entries: 5000, filled: 5000 })
  })

  test('of a workspace that cannot be read has nothing, for whoever waits for it', async () => {
    await put('a:1')
    await store.close()
    damageRecord(path, 'p1')
    store = await openFolder(path)
    for (const ask of [{ records: ['a:1'] }, { counts: ['i'] }])
      await expect(store.read('p1', readRequest(ask))).rejects.toThrow('is damaged in the workspace p1')
    const both = [{ records: ['a:1'] }, { counts: ['i'] }].map((ask) => errorOf(store.read('p1', readRequest(ask))))
    expect(await Promise.all(both)).toMatchObject([{ name: 'StorageUnavailable' }, { name: 'StorageUnavailable' }])
  })

  test('has the partitions that were used last', async () => {
    for (const name of ['p1', 'p2', 'p3']) await put('a:1', { text: 'x'.repeat(10_000) }, name)
    await reopen({ cacheBytes: 50_000 })
    const use = (name: string) => store.read(name, readRequest({ records: ['a:1'] }))
    for (const name of ['p1', 'p2', 'p1', 'p3', 'p1', 'p2']) await use(name)
    // The third one releases p2, and the last one p3.
    expect(await store.metrics()).toMatchObject({ loadedPartitions: 2, partitionLoads: 4, partitionReleases: 2 })
  })

  test('keeps a partition during its use, and one that was used last, whatever its size', async () => {
    for (const name of ['p1', 'p2']) await put('a:1', { text: 'x'.repeat(10_000) }, name)
    await reopen({ cacheBytes: 1 })
    await store.hold('p1', async () => {
      await Promise.all([keysOf(store), keysOf(store, 'p2')])
      expect((await store.metrics()).partitionReleases).toBe(1)
    })
    await keysOf(store)
    expect(await store.metrics()).toMatchObject({ loadedPartitions: 1, partitionLoads: 2 })
  })

  test('releases a partition with a lease only after its end', async () => {
    await reopen({ cacheBytes: 0 })
    const lease = await store.takeLease('p1')
    await store.commit('p1', { ...change({ put: { 'a:1': {} } }), lease: lease.id })
    expect((await store.metrics()).loadedPartitions).toBe(1)
    lease.end()
    await keysOf(store)
    expect((await store.metrics()).loadedPartitions).toBe(0)
  })

  test('is not needed to know whether a partition has a due tombstone', async () => {
    for (const [name, at] of [
      ['p1', '2026-11-25'],
      ['p1', '2026-11-24'],
      ['p2', '2026-11-26'],
    ] as const)
      await put(`tombstone:${at}`, { not_before: at }, name)
    await put('other:1', { not_before: '2020-01-01' }, 'p3')
    await reopen()
    const due = (time: string) => ['p1', 'p2', 'p3', 'p4'].map((name) => store.mayHaveTombstoneBefore(name, time))
    expect([due('2026-11-24'), due('2026-11-25'), due('2026-11-27')]).toEqual([
      [false, false, false, false],
      [true, false, false, false],
      [true, true, false, false],
    ])
    expect((await store.metrics()).loadedPartitions).toBe(0)
  })
})

describe('the writer of a folder', () => {
  /** Opens the folder with a writer that writes in another way. */
  const withWriter = (write: (writer: Writer, ...given: Parameters<Writer['write']>) => ReturnType<Writer['write']>) =>
    reopen({
      openWriter: async (...given) => {
        const writer = await openWriter(...given)
        return { ...writer, write: (...changes) => write(writer, ...changes) }
      },
    })

  test('makes one transaction of all that waits, and nobody sees it before', async () => {
    let release: () => void
    const held = new Promise<void>((resolve) => (release = resolve))
    const sizes: number[] = []
    await withWriter(async (writer, changes, onlyRemoves) => {
      sizes.push(changes.length)
      await held
      return writer.write(changes, onlyRemoves)
    })
    const writes = [put('a:1'), put('a:2')]
    let isSettled = false
    let conflict: unknown
    try {
      while (sizes.length === 0) await nextTurn()
      writes.push(...Array.from({ length: 5 }, (_, i) => put(`b:${i}`)))
      await nextTurn()
      expect(await keysOf(store)).toEqual([])
      // It conflicts with what is pending, and waits for it.
      const expect1 = expectation({ records: new Map([['a:1', null]]) })
      conflict = store.commit('p1', change({ expect: expect1 })).finally(() => (isSettled = true))
      await nextTurn()
      expect(isSettled).toBe(false)
    } finally {
      release!()
    }
    expect({ conflict: await conflict, writes: await Promise.all(writes), sizes }).toEqual({
      conflict: 'conflict',
      writes: Array.from({ length: 7 }, () => 'done'),
      sizes: [2, 5],
    })
  })

  test('writes nothing that was accepted on top of a failed change', async () => {
    for (const failure of [{ full: 'full' }, { failed: 'disk I/O error' }]) {
      const written: number[] = []
      let fail: () => void
      const failing = new Promise<void>((resolve) => (fail = resolve))
      await withWriter(async (_writer, changes) => {
        written.push(changes.length)
        await failing
        return failure
      })
      const first = errorOf(put('a:1'))
      while (written.length === 0) await nextTurn()
      const second = errorOf(put('a:2'))
      await nextTurn()
      fail!()
      expect(await Promise.all([first, second])).toMatchObject([{ outcomeKnown: 'full' in failure }, { outcomeKnown: true }])
      expect({ written, keys: await keysOf(store) }).toEqual({ written: [1], keys: [] })
    }
  })

  test('that finds the disk full changes nothing, and changes that only remove are tried alone', async () => {
    await put('a:1')
    let isFull = true
    await withWriter(async (writer, changes, onlyRemoves) =>
      isFull && !onlyRemoves ? { full: 'full' } : writer.write(changes, onlyRemoves),
    )
    const results = await Promise.allSettled([
      put('a:2'),
      store.commit('p1', { ...change({ remove: ['a:1'] }), onlyRemoves: true }),
      put('a:3'),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected'])
    expect(await errorOf(put('a:2'))).toMatchObject({ name: 'StorageUnavailable', message: 'the disk is full', outcomeKnown: true })
    isFull = false
    await put('a:2')
    expect({ keys: await keysOf(store), rows: rowsOf('p1').map(([, key]) => key) }).toEqual({ keys: ['a:2'], rows: ['a:2'] })
  })

  test.each(['fails', 'ends'])('that %s leaves the outcome open, and nothing is written any more', async (how) => {
    await withWriter(async () => {
      if (how === 'fails') return { failed: 'disk I/O error' }
      throw new Error('the thread has ended')
    })
    expect(await errorOf(put('a:1'))).toMatchObject({ name: 'StorageUnavailable', outcomeKnown: false })
    expect(await errorOf(put('a:2'))).toMatchObject({ outcomeKnown: true, message: expect.stringContaining('until a restart') })
    await expect(store.ready()).rejects.toThrow('nothing is written until a restart')
    expect(await keysOf(store)).toEqual([])
  })

  test('that has ended is noticed before the next change', async () => {
    await reopen({
      openWriter: async (...given) => ({ ...(await openWriter(...given)), hasSpace: () => Promise.reject(new Error('it has ended')) }),
    })
    expect(await errorOf(store.ready())).toMatchObject({ name: 'StorageUnavailable', message: expect.stringContaining('until a restart') })
  })

  test('refuses a partition that another program has changed', async () => {
    await put('a:1')
    await put('a:1', {}, 'p2')
    const database = openDatabase(`${path}/records.db`)
    database.exec("UPDATE partitions SET revision = 'other' WHERE name = 'p2'")
    database.close()
    await put('a:2')
    expect(await errorOf(put('a:2', {}, 'p2'))).toMatchObject({
      outcomeKnown: false,
      cause: new Error('another program has changed or replaced records.db; nothing is written until a restart'),
    })
    expect(rowsOf('p2')).toHaveLength(1)
  })

  test.each(['records.db', 'records.db-wal'])('stops when %s was removed', async (name) => {
    await put('a:1')
    rmSync(`${path}/${name}`)
    expect(await errorOf(put('a:2'))).toMatchObject({ outcomeKnown: false })
    await expect(store.ready()).rejects.toThrow('nothing is read or written until a restart')
    await store.close()
    rmSync(path, { recursive: true })
    store = await openFolder(path)
  })

  test('writes nothing after the end of the store', async () => {
    await store.close()
    expect(await errorOf(put('a:1'))).toEqual(new StorageUnavailable('the store is closed'))
    store = await openFolder(path)
    expect(await keysOf(store)).toEqual([])
  })

  test('counts what it has done in its metrics', async () => {
    await reopen({ checkpointAt: 1 })
    await Promise.all([put('a:1'), put('a:2')])
    await nextTurn()
    await nextTurn()
    expect(await store.metrics()).toMatchObject({ transactions: 1, rowsWritten: 2, checkpoints: 2, checkpointFailures: 0 })
    const { databaseBytes, logBytes, freeBytes } = await store.metrics()
    expect(databaseBytes).toBeGreaterThan(8192)
    expect(logBytes).toBeGreaterThan(0)
    expect(freeBytes).toBeGreaterThan(0)
  })
})
