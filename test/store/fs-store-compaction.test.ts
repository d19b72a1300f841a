import { beforeEach, describe, expect, test } from 'vitest'
import { encodeFrame } from '../../src/store/fs/journal.ts'
import { openFsStore } from '../../src/store/fs/store.ts'
import { StorageUnavailable, type Change } from '../../src/store/port.ts'
import { keysOf, PATH, putOne, StoreFolder } from '../support/store-folder.ts'

describe('when the journal of a folder is compacted', () => {
  let folder: StoreFolder
  beforeEach(() => {
    folder = new StoreFolder()
  })

  test('it writes the partitions that changed since the last one', async () => {
    const store = await folder.open()
    await store.commit('p1', putOne('a:1'))
    await store.commit('p2', putOne('a:1'))
    await store.compact()
    folder.recording.operations.length = 0
    await store.commit('p2', putOne('a:2'))
    await store.compact()
    expect(folder.recording.operations.filter((one) => one.startsWith('rename'))).toEqual([
      `rename ${PATH}/records/.p2.tmp ${PATH}/records/p2`,
      `rename ${PATH}/.manifest.json.tmp ${PATH}/manifest.json`,
    ])
    await store.close()
  })

  test('a second call while it runs waits for the same compaction; a later one begins another', async () => {
    const store = await folder.open()
    await store.commit('p1', putOne('a:1'))
    const first = store.compact()
    expect(store.compact()).toBe(first)
    await first
    expect(store.compact()).not.toBe(first)
    await store.close()
  })

  test('it removes the files of the journal one by one, each synced, and keeps the current one', async () => {
    const store = await folder.open()
    folder.fail('create', 'ENOSPC')
    for (const key of ['a:1', 'a:2', 'a:3']) {
      await store.commit(key === 'a:1' ? 'p2' : 'p1', putOne(key))
      if (key !== 'a:3') await store.compact()
    }
    const logged = 'the journal could not be compacted and keeps growing'
    expect(folder.log.lines.map(({ level, msg }) => [level, msg])).toEqual([
      [50, logged],
      [50, logged],
    ])
    folder.repair()
    folder.recording.operations.length = 0
    await store.compact()
    const [, ...rest] = folder.recording.operations.slice(folder.recording.operations.indexOf(`list ${PATH}/journal`))
    expect(rest).toEqual(
      ['0000000001.log', '0000000002.log', '0000000003.log'].flatMap((name) => [
        `remove ${PATH}/journal/${name}`,
        `syncFolder ${PATH}/journal`,
      ]),
    )
    expect([await folder.journal(), await folder.checkpoints()]).toEqual([['0000000004.log'], ['p1', 'p2']])
    await store.close()
  })

  test('it removes nothing if a checkpoint that it wrote cannot be read back', async () => {
    let store = await folder.open()
    await store.commit('p1', putOne('a:1'))
    await store.compact()
    await store.commit('p1', putOne('a:2'))
    const before = await folder.disk.read(`${PATH}/records/p1`)
    folder.before = async (operation) => {
      if (operation !== `sync ${PATH}/records/.p1.tmp`) return
      // The disk damages what was written.
      const bytes = Buffer.from((await folder.disk.read(`${PATH}/records/.p1.tmp`))!)
      bytes[20]! ^= 1
      await (await folder.disk.create(`${PATH}/records/.p1.tmp`)).write(bytes)
    }
    await store.compact()
    expect(folder.log.lines).toEqual([expect.objectContaining({ level: 50, msg: 'the journal could not be compacted and keeps growing' })])
    expect([await folder.disk.read(`${PATH}/records/p1`), await folder.checkpoints()]).toEqual([before, ['p1']])
    expect(await folder.journal()).toEqual(['0000000002.log', '0000000003.log'])
    await store.close()
    store = await folder.open()
    expect(await keysOf(store)).toEqual(['a:1', 'a:2'])
    await store.close()
  })

  test('it writes the manifest after the checkpoints and before it removes anything', async () => {
    const store = await folder.open()
    for (const name of ['p1', 'p2']) await store.commit(name, putOne('a:1'))
    folder.recording.operations.length = 0
    await store.compact()
    expect(folder.recording.operations.filter((one) => /^(rename|remove|syncFolder)/.test(one)).slice(1)).toEqual([
      `rename ${PATH}/records/.p1.tmp ${PATH}/records/p1`,
      `syncFolder ${PATH}/records`,
      `rename ${PATH}/records/.p2.tmp ${PATH}/records/p2`,
      `syncFolder ${PATH}/records`,
      `rename ${PATH}/.manifest.json.tmp ${PATH}/manifest.json`,
      `syncFolder ${PATH}`,
      `remove ${PATH}/journal/0000000001.log`,
      `syncFolder ${PATH}/journal`,
    ])
    await store.close()
  })

  test('it keeps what is committed while it runs', async () => {
    let store = await folder.open()
    await store.commit('p1', putOne('a:1'))
    folder.before = async (operation) => {
      if (!operation.startsWith('create')) return
      folder.repair()
      await store.commit('p1', putOne('a:2'))
      await store.commit('p2', putOne('a:1'))
    }
    await store.compact()
    expect(await folder.journal()).toEqual(['0000000002.log'])
    await store.compact()
    expect([await folder.journal(), await folder.checkpoints()]).toEqual([['0000000004.log'], ['p1', 'p2']])
    await store.close()
    store = await folder.open()
    expect([await keysOf(store), await keysOf(store, 'p2')]).toEqual([['a:1', 'a:2'], ['a:1']])
    await store.close()
  })

  test('a failed sync of the journal folder while files are removed stops all writing', async () => {
    const store = await folder.open()
    await store.commit('p1', putOne('a:1'))
    folder.before = (operation) => {
      if (operation.startsWith('remove')) folder.fail(`syncFolder ${PATH}/journal`, 'EIO')
    }
    await store.compact()
    await expect(store.ready()).rejects.toThrow(StorageUnavailable)
    await store.close()
  })

  test('a commit that fills the journal triggers it, and one that does not, does not', async () => {
    const store = await folder.open(2000)
    await store.commit('p1', putOne('a:1', 1000))
    expect(await folder.checkpoints()).toEqual([])
    await store.commit('p1', putOne('a:2', 1000))
    await store.close()
    expect([await folder.checkpoints(), await folder.journalSize()]).toEqual([['p1'], 0])
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
    await store.commit('p1', putOne('a:1'))
    await store.compact()
    expect(await folder.journal()).toEqual(['0000000002.log', 'notes.txt'])
    await store.close()
  })

  test('a second one without a change in between keeps the current file', async () => {
    const store = await folder.open()
    await store.commit('p1', putOne('a:1'))
    await store.compact()
    await store.compact()
    expect(await folder.journal()).toEqual(['0000000002.log'])
    await store.close()
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

  test('the next one comes after as many bytes as it has written', async () => {
    expect(await commitsUntilNext(1, 5000, 1000)).toBe(5)
    expect(await commitsUntilNext(20, 5000, 1000)).toBeGreaterThan(15)
  })

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
