import { beforeEach, describe, expect, test } from 'vitest'
import type { FsStore } from '../../src/store/fs/store.ts'
import { change, readRequest } from '../support/changes.ts'
import { keysOf, PATH, StoreFolder } from '../support/store-folder.ts'

/** Records of a partition. */
const RECORDS = 20
/** Turns of the event loop after which everything that can be released is. */
const TURNS = 100

describe('the memory of a folder', () => {
  let folder: StoreFolder
  let store: FsStore
  beforeEach(() => {
    folder = new StoreFolder()
  })
  const rest = async () => {
    for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate)
  }
  const names = (count: number) => Array.from({ length: count }, (_, i) => `p${String(i).padStart(4, '0')}`)
  /** Creates partitions of the same size, with checkpoints. Returns the memory that one takes, by the estimate of the store. */
  const fill = async (count: number, records = RECORDS): Promise<number> => {
    store = await folder.open()
    const put = Object.fromEntries(Array.from({ length: records }, (_, i) => [`a:${i}`, { text: 'x'.repeat(400) }]))
    await Promise.all(names(count).map((name) => store.commit(name, change({ put }))))
    await store.compact()
    const { loadedBytes, loadedPartitions } = await store.metrics()
    expect(loadedPartitions).toBe(count)
    await store.close()
    return loadedBytes! / count
  }
  const use = (name: string) => store.read(name, readRequest({ records: ['a:1'] }))
  /** How many records are in memory. Every partition has the same number. */
  const recordsInMemory = async () => (await store.metrics()).loadedPartitions! * RECORDS

  test('its estimate is between one and four times the bytes of the records', async () => {
    const size = await fill(1)
    expect(size).toBeGreaterThan(RECORDS * 400)
    expect(size).toBeLessThan(4 * RECORDS * 400)
  })

  test('it is bounded while more partitions are read, written, dumped and compacted than fit', async () => {
    const size = await fill(60)
    store = await folder.open(20_000, 10.5 * size)
    let most = 0
    for (const [i, name] of [...names(60), ...names(60).toReversed()].entries()) {
      if (i % 3 === 0) await store.commit(name, change({ put: { 'a:1': { text: 'y'.repeat(400) } } }))
      else if (i % 3 === 1) expect((await keysOf(store, name)).length).toBe(RECORDS)
      else await use(name)
      await rest()
      most = Math.max(most, await recordsInMemory())
    }
    expect(most).toBe(10 * RECORDS)
    expect((await store.metrics()).partitionLoads).toBeGreaterThan(100)
  })

  test('partitions that were not used for the longest time are released first', async () => {
    const size = await fill(5)
    store = await folder.open(Infinity, 3.5 * size)
    for (const name of ['p0000', 'p0001', 'p0002', 'p0000', 'p0003', 'p0004']) await use(name)
    folder.recording.operations.length = 0
    for (const name of ['p0003', 'p0004', 'p0000']) await use(name)
    expect(folder.read()).toEqual([])
    await use('p0001')
    expect(folder.read()).toEqual(['p0001'])
    // That took the place of p0003.
    for (const name of ['p0004', 'p0000']) await use(name)
    expect(folder.read()).toEqual(['p0001'])
  })

  test('one that is larger than all the memory stays as long as it is the last one that was used', async () => {
    const size = await fill(2)
    store = await folder.open(Infinity, size / 2)
    folder.recording.operations.length = 0
    for (let i = 0; i < 3; i++) await use('p0000')
    expect(folder.read()).toEqual(['p0000'])
    await use('p0001')
    await use('p0000')
    expect(await store.metrics()).toMatchObject({ loadedPartitions: 1, partitionLoads: 3, partitionReleases: 2 })
  })

  test('a partition that grows counts with its new size', async () => {
    const size = await fill(3)
    store = await folder.open(Infinity, 4 * size)
    for (const name of names(3)) await use(name)
    expect((await store.metrics()).loadedPartitions).toBe(3)
    const put = Object.fromEntries(Array.from({ length: 2.5 * RECORDS }, (_, i) => [`b:${i}`, { text: 'x'.repeat(400) }]))
    await store.commit('p0002', change({ put }))
    await rest()
    expect((await store.metrics()).loadedPartitions).toBe(1)
    await store.commit('p0002', change({ remove: Object.keys(put) }))
    for (const name of names(3)) await use(name)
    expect((await store.metrics()).loadedPartitions).toBe(3)
  })

  test('at most four partitions are loaded at the same time', async () => {
    await fill(20)
    store = await folder.open(Infinity, 0)
    let most = 0
    folder.before = () => {
      most = Math.max(most, new Set([...folder.recording.inProgress].filter((one) => one.startsWith('readParts'))).size)
    }
    await Promise.all(names(20).map(use))
    expect([most, (await store.metrics()).partitionLoads]).toEqual([4, 20])
  })

  test('a dump, a scan and a compaction keep nothing that was not in memory before', async () => {
    await fill(4)
    store = await folder.open()
    await use('p0000')
    for (const name of names(4)) {
      for (const batches of [store.dump(name), store.scan(name)]) for await (const batch of batches) expect(batch).toHaveLength(RECORDS)
      for await (const batch of store.indexNames(name)) expect(batch).toEqual([])
    }
    expect((await store.metrics()).loadedPartitions).toBe(1)
    // The next process has the journal of this one.
    for (const name of names(4)) await store.commit(name, change({ put: { 'b:1': {} } }))
    folder = new StoreFolder(folder.disk.afterKill())
    store = await folder.open()
    await use('p0000')
    await store.compact()
    expect((await store.metrics()).loadedPartitions).toBe(1)
    expect(await folder.journal()).toHaveLength(1)
  })

  test('maintenance that changes a partition makes it the first one that is released', async () => {
    const size = await fill(4)
    store = await folder.open(Infinity, 3.5 * size)
    for (const name of ['p0000', 'p0001']) await use(name)
    await store.hold('p0002', async () => void (await store.commit('p0002', change({ put: { 'a:1': {} } }))))
    await use('p0003')
    await rest()
    folder.recording.operations.length = 0
    for (const name of ['p0000', 'p0001', 'p0003']) await use(name)
    expect(folder.read()).toEqual([])
  })

  describe('after a start with 1000 partitions', () => {
    const many = names(1000)

    test('nothing is loaded, whatever runs at the start', async () => {
      await fill(1000, 1)
      folder.recording.operations.length = 0
      store = await folder.open()
      await Promise.all([store.ready(), store.metrics(), store.partitions()])
      expect(await store.partitions()).toHaveLength(1000)
      await store.compact()
      expect(many.filter((name) => store.mayHaveTombstoneBefore(name, '~'))).toEqual([])
      await store.close()
      const { length } = folder.recording.operations.filter((one) => one.startsWith(`readParts ${PATH}/records`))
      expect(length).toBe(0)
    })
  })
})
