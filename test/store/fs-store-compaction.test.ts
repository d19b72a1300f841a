import { beforeEach, describe, expect, test } from 'vitest'
import { encodeFrame } from '../../src/store/fs/journal.ts'
import { openFsStore } from '../../src/store/fs/store.ts'
import { type Change } from '../../src/store/port.ts'
import { PATH, put, putOne, StoreFolder } from '../support/store-folder.ts'

describe('when the journal of a folder is compacted', () => {
  let folder: StoreFolder
  beforeEach(() => {
    folder = new StoreFolder()
  })

  test('it writes the partitions that changed since the last one', async () => {
    const store = await folder.open()
    await put(store, 'a:1')
    await put(store, 'a:1', 'p2')
    await store.compact()
    folder.recording.operations.length = 0
    await put(store, 'a:2', 'p2')
    await store.compact()
    expect(folder.recording.operations.filter((one) => one.startsWith('rename'))).toEqual([
      `rename ${PATH}/records/.p2.tmp ${PATH}/records/p2`,
      `rename ${PATH}/.manifest.json.tmp ${PATH}/manifest.json`,
    ])
  })

  test('a second call while it runs waits for the same compaction; a later one begins another', async () => {
    const store = await folder.open()
    await put(store, 'a:1')
    const first = store.compact()
    expect(store.compact()).toBe(first)
    await first
    expect(store.compact()).not.toBe(first)
  })

  test('the journal of an earlier process counts too', async () => {
    for (const [key, expected] of [
      ['a:1', []],
      ['a:2', ['p1']],
    ] as const) {
      const store = await folder.open(2000)
      await store.commit('p1', putOne(key, 1000))
      await store.close()
      expect(await folder.checkpoints()).toEqual(expected)
    }
  })

  /** A change of the partition p2 whose frame has this size. */
  const changeOfSize = (size: number, sequence: number): Change => {
    const changeOf = (length: number) => ({ ...putOne('b:1', length), revision: 'r' })
    const sizeOf = (length: number) => encodeFrame(sequence, [{ partition: 'p2', ...changeOf(length) }]).byteLength
    const result = changeOf(size - (sizeOf(1000) - 1000))
    expect(sizeOf(size - (sizeOf(1000) - 1000))).toBe(size)
    return result
  }

  test.each([
    ['equals the limit', 2000, []],
    ['is one byte more than the limit', 2001, ['p2']],
  ])('a commit after which the journal %s results in the checkpoints %j', async (_what, size, expected) => {
    const store = await folder.open(2000)
    await store.commit('p2', changeOfSize(size, 1))
    await store.close()
    expect(await folder.checkpoints()).toEqual(expected)
  })

  test.each([
    [0, ['p1']],
    [1, ['p1', 'p2']],
  ])('a journal with %i bytes more than the last checkpoints results in the checkpoints %j', async (more, expected) => {
    const store = await folder.open(1000)
    await store.commit('p1', putOne('a:1', 1500))
    await store.compact()
    const { byteLength } = (await folder.disk.read(`${PATH}/records/p1`))!
    await store.commit('p2', changeOfSize(byteLength + more, 2))
    await store.close()
    expect(await folder.checkpoints()).toEqual(expected)
  })

  test('another file in the folder of the journal is kept', async () => {
    const store = await folder.open()
    await folder.disk.create(`${PATH}/journal/notes.txt`)
    await put(store, 'a:1')
    await store.compact()
    expect(await folder.journal()).toEqual(['0000000002.log', 'notes.txt'])
  })

  test('a second one without a change in between keeps the current file', async () => {
    const store = await folder.open()
    await put(store, 'a:1')
    await store.compact()
    await store.compact()
    expect(await folder.journal()).toEqual(['0000000002.log'])
  })

  test('a journal of exactly the limit does not trigger it', async () => {
    let store = await folder.open()
    await store.commit('p1', putOne('a:1', 1000))
    await store.close()
    const size = await folder.journalSize()
    for (const [limit, expected] of [
      [size, []],
      [size - 1, ['p1']],
    ] as const) {
      store = await folder.open(limit)
      await store.close()
      expect([limit, await folder.checkpoints()]).toEqual([limit, expected])
    }
  })

  /** Fills a partition and compacts, and returns how many commits of this size trigger the next compaction. */
  const commitsUntilNext = async (filled: number, compactAt: number, bytes: number) => {
    const first = await folder.open()
    for (let i = 0; i < filled; i++) await first.commit('p1', putOne(`a:${i}`, 1000))
    await first.close()
    const store = await folder.open(compactAt)
    await store.compact()
    const { length } = folder.recording.operations
    const isCompacting = () => folder.recording.operations.slice(length).some((one) => one.startsWith('rename'))
    let commits = 0
    while (!isCompacting() && commits < 100) {
      await store.commit('p2', putOne(`b:${commits++}`, bytes))
      await new Promise(setImmediate)
    }
    await store.compact()
    await store.close()
    return commits
  }

  test('the next one comes at the latest after 16 times the limit', async () => {
    // Each commit has about 1,080 bytes, so 15 are more than 16,000 and fewer than 17,000.
    expect(await commitsUntilNext(40, 1000, 1000)).toBe(15)
  })

  test.each([
    [16_777_216, []],
    [16_777_217, ['p1']],
  ])('by default a journal of %i bytes results in the checkpoints %j', async (size, expected) => {
    // A folder that was not closed.
    await folder.open()
    const frame = (length: number) =>
      encodeFrame(1, [
        { partition: 'p1', revision: 'r1', put: new Map([['a:1', { text: 'x'.repeat(length) }]]), remove: new Set(), indexes: new Map() },
      ])
    const overhead = frame(size - 100).byteLength - (size - 100)
    const file = await folder.disk.create(`${PATH}/journal/0000000001.log`)
    await file.write(frame(size - overhead))
    expect(await folder.journalSize()).toBe(size)
    const store = await openFsStore(PATH, { log: folder.log.log, disk: folder.disk })
    await store.close()
    expect(await folder.checkpoints()).toEqual(expected)
  })
})
