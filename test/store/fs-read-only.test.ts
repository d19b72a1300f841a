import { readdir, rm } from 'node:fs/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { takeKernelLock, lockFolder, lockFolderForReading } from '../../src/store/fs/lock.ts'
import { isReadOnlyError, openFsStoreForReading } from '../../src/store/fs/store.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { change } from '../support/changes.ts'
import { quiet } from '../support/log.ts'
import { recordDisk, diskError } from '../support/recording-disk.ts'
import { eachInFolder } from '../support/temporary-folder.ts'
import { entriesOf, keysOf, PATH, put, StoreFolder } from '../support/store-folder.ts'

/** Operations that change nothing. */
const READS = /^(read|readParts|list) /

describe('a folder that is opened for reading only', () => {
  let folder: StoreFolder
  beforeEach(() => {
    folder = new StoreFolder()
  })
  /** A disk that is mounted read-only. */
  const readOnlyDisk = () =>
    recordDisk(folder.disk, (operation) => {
      if (!READS.test(operation)) throw diskError('EROFS')
    })
  const open = async () => {
    const disk = readOnlyDisk()
    const store = await openFsStoreForReading(PATH, { log: quiet, disk })
    return { store, disk }
  }

  /** A folder with a checkpoint, and with changes after it in the journal. */
  const createFolder = async ({ closed = true } = {}): Promise<void> => {
    const store = await folder.open()
    for (const key of ['a:1', 'a:2', 'a:3']) await put(store, key)
    await store.compact()
    await store.commit('p1', change({ put: { 'a:2': { text: 'changed' } }, remove: ['a:1'], index: { i: { remove: ['a:1'] } } }))
    await put(store, 'b:1', 'p2')
    if (closed) await store.close()
  }

  test.each([true, false])(
    'a folder for reading has the records of the checkpoint and of the journal, and nothing is written (closed: %s)',
    async (closed) => {
      await createFolder({ closed })
      const { store, disk } = await open()
      expect([await keysOf(store), await keysOf(store, 'p2'), await keysOf(store, 'p3')]).toEqual([['a:2', 'a:3'], ['b:1'], []])
      expect(await entriesOf(store)).toEqual(['a:2', 'a:3'])
      expect([...(await store.partitions())].toSorted()).toEqual(['p1', 'p2'])
      await store.close()
      expect(disk.operations.filter((operation) => !READS.test(operation))).toEqual([])
    },
  )

  test('a folder for reading can be scanned, and its indexes have names', async () => {
    await createFolder()
    const { store } = await open()
    const all = async <T>(batches: AsyncIterable<readonly T[]>) => {
      const items: T[] = []
      for await (const batch of batches) items.push(...batch)
      return items
    }
    expect((await all(store.scan('p1'))).map(([key]) => key).toSorted()).toEqual(['a:2', 'a:3'])
    expect(await all(store.indexNames('p1'))).toEqual(['i'])
    expect(store.driver).toBe('fs')
  })

  test('every write to a folder for reading is refused, and nothing is written', async () => {
    await createFolder()
    const { store, disk } = await open()
    for (const attempt of [() => put(store, 'c:1'), () => store.ready()]) await expect(attempt()).rejects.toThrow(StorageUnavailable)
    await expect(async () => put(store, 'c:1')).rejects.toThrow('opened for reading only')
    expect(await keysOf(store)).toEqual(['a:2', 'a:3'])
    expect(disk.operations.filter((operation) => !READS.test(operation))).toEqual([])
  })

  test('an incomplete entry at the end of a journal is ignored in a folder for reading', async () => {
    await createFolder({ closed: false })
    const [name] = (await folder.journal()).slice(-1)
    const file = await folder.disk.append(`${PATH}/journal/${name}`)
    await file.write(Buffer.from('lk1 99 1000 00000000\n[['))
    await file.close()
    const before = await folder.journalSize()
    const { store } = await open()
    expect(await keysOf(store)).toEqual(['a:2', 'a:3'])
    expect(await folder.journalSize()).toBe(before)
  })

  test('a damaged folder is refused for reading too', async () => {
    await createFolder()
    for (const name of await folder.journal()) await folder.disk.remove(`${PATH}/journal/${name}`)
    await expect(open()).rejects.toMatchObject({ name: 'StorageDamaged' })
  })

  test('a damaged workspace of a folder for reading is named, and the others can be read', async () => {
    await createFolder()
    await folder.disk.remove(`${PATH}/records/p1`)
    const { store } = await open()
    await expect(keysOf(store)).rejects.toThrow(StorageUnavailable)
    expect([store.damaged(), await keysOf(store, 'p2')]).toEqual([['p1'], ['b:1']])
  })

  test('a folder without data is refused for reading', async () => {
    await expect(open()).rejects.toThrow('contains no Lanekeeper data')
  })

  test.each([
    ['EROFS', true],
    ['EACCES', true],
    ['EPERM', true],
    ['EIO', false],
    ['ENOENT', false],
    ['ENOSPC', false],
  ])('an error with the code %s means that a folder cannot be written to: %s', (code, expected) => {
    expect(isReadOnlyError(diskError(code))).toBe(expected)
  })
})

describe('the lock of a folder for reading', () => {
  let path: string
  eachInFolder((created) => (path = created))

  test('a lock for reading creates no file', async () => {
    const lock = await lockFolderForReading(path)
    expect(await readdir(path)).toEqual([])
    await lock.release()
  })

  test('a lock for reading is refused while a process holds the folder, whose socket it names', async () => {
    const lock = await lockFolder(path, () => undefined)
    await expect(lockFolderForReading(path)).rejects.toMatchObject({ name: 'FolderInUse', socket: expect.stringMatching(/\.sock$/) })
    await lock.release()
    await (await lockFolderForReading(path)).release()
  })

  test('a lock for reading is refused while a process holds the folder whose socket was removed', async () => {
    const lock = await lockFolder(path, () => undefined)
    await rm(`${path}/run`, { recursive: true })
    await expect(lockFolderForReading(path)).rejects.toMatchObject({ name: 'FolderInUse', socket: undefined })
    await lock.release()
  })

  test('several processes can lock a folder for reading, and meanwhile none can for writing', async () => {
    const locks = [await lockFolderForReading(path), await lockFolderForReading(path)]
    expect(await takeKernelLock(path)).toBe('held')
    for (const lock of locks) await lock.release()
    const free = await takeKernelLock(path)
    expect(free).not.toBe('held')
    if (typeof free === 'object') await free.release()
  })

  test('a lock for reading is taken without a lock of the operating system where there is none', async () => {
    const lock = await lockFolderForReading(path, async () => 'unsupported')
    expect(await lock.isHeld()).toBe(true)
    await lock.release()
  })
})
