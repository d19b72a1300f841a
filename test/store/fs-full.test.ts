import { beforeEach, describe, expect, test } from 'vitest'
import type { OpenFile } from '../../src/store/fs/disk.ts'
import { Reserve } from '../../src/store/fs/reserve.ts'
import { openFsStore, type FsStore } from '../../src/store/fs/store.ts'
import { change } from '../support/changes.ts'
import { errorOf } from '../support/error-of.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { captureLog } from '../support/log.ts'
import { diskError } from '../support/recording-disk.ts'
import { keysOf, PATH } from '../support/store-folder.ts'

const RESERVE = 200_000
const PART = 65_536

/** A disk with limited space. */
class SmallDisk extends FaultyDisk {
  capacity = Infinity
  #files = new Set<string>()

  override async append(path: string): Promise<OpenFile> {
    return this.#limit(path, await super.append(path))
  }
  override async create(path: string): Promise<OpenFile> {
    return this.#limit(path, await super.create(path))
  }
  override async rename(from: string, to: string): Promise<void> {
    await super.rename(from, to)
    this.#files.add(to)
  }
  /** The size of all files, in bytes. */
  async used(): Promise<number> {
    const sizes = await Promise.all([...this.#files].map(async (path) => (await this.read(path))?.byteLength ?? 0))
    return sizes.reduce((sum, size) => sum + size, 0)
  }
  #limit(path: string, file: OpenFile): OpenFile {
    this.#files.add(path)
    return {
      ...file,
      write: async (bytes) => {
        const free = Math.max(0, this.capacity - (await this.used()))
        await file.write(bytes.subarray(0, free))
        if (bytes.byteLength > free) throw diskError('ENOSPC')
      },
    }
  }
}

describe('a folder on a full disk', () => {
  let disk: SmallDisk
  let store: FsStore
  const open = (reserveSize = RESERVE) => openFsStore(PATH, { log: captureLog().log, disk, compactAt: Infinity, reserveSize })
  const create = (key: string, length = 1000) => store.commit('p1', change({ put: { [key]: { text: 'x'.repeat(length) } } }))
  const remove = (...keys: string[]) => store.commit('p1', { ...change({ remove: keys }), onlyRemoves: true })
  const reserveSize = async () => (await disk.read(`${PATH}/reserve`))!.byteLength
  /** Fills the disk, so that it has no space for the smallest change. */
  const fill = async () => (disk.capacity = await disk.used())
  beforeEach(async () => {
    disk = new SmallDisk(1)
    store = await open()
    for (const key of ['a:1', 'a:2', 'a:3']) await create(key)
  })

  test('a change that only revokes or removes succeeds, and survives a restart; any other is refused', async () => {
    await fill()
    const refused = await errorOf(create('a:4'))
    expect(refused).toMatchObject({ name: 'StorageUnavailable', outcomeKnown: true, message: 'the journal could not be written' })
    expect(await remove('a:1')).toBe('done')
    expect([await keysOf(store), await reserveSize()]).toEqual([['a:2', 'a:3'], RESERVE - PART])
    // What the reserve has given up is not for other changes.
    expect(await errorOf(create('a:4'))).toMatchObject({ name: 'StorageUnavailable', outcomeKnown: true, message: 'the disk is full' })
    expect(await remove('a:2')).toBe('done')
    store = await open()
    expect([await keysOf(store), await remove('a:3'), await keysOf(store)]).toEqual([['a:3'], 'done', []])
  })

  test('of changes that are written together, those that only revoke or remove succeed', async () => {
    await fill()
    const [, ...outcomes] = await Promise.allSettled([remove('a:9'), create('a:4'), remove('a:1'), create('a:5'), remove('a:2')])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled'])
    expect(await keysOf(store)).toEqual(['a:3'])
    store = await open()
    expect(await keysOf(store)).toEqual(['a:3'])
  })

  test('the service is not ready while changes are refused, and ready again when there is space', async () => {
    await store.ready()
    await fill()
    await store.ready()
    await errorOf(create('a:4'))
    expect(await errorOf(store.ready())).toMatchObject({ name: 'StorageUnavailable', message: 'the disk is full' })
    await remove('a:1')
    expect(await errorOf(store.ready())).toMatchObject({ message: 'the disk is full' })
    disk.capacity += RESERVE + 10_000
    await store.ready()
    expect([await create('a:4'), await reserveSize()]).toEqual(['done', RESERVE])
  })

  test('the first change after space was freed restores the reserve', async () => {
    await fill()
    await remove('a:1')
    disk.capacity = Infinity
    expect([await create('a:4'), await reserveSize()]).toEqual(['done', RESERVE])
    await store.ready()
  })

  test('when the reserve is used up, every change is refused', async () => {
    await fill()
    let removed = 0
    // Each has a frame of about 60,000 bytes.
    const reduce = () =>
      store.commit('p1', { ...change({ remove: Array.from({ length: 5000 }, (_, i) => `none:${i}`) }), onlyRemoves: true })
    while ((await reduce().catch(() => 'refused')) === 'done') removed++
    expect([removed > 1, removed < 5, await reserveSize()]).toEqual([true, true, 0])
    await expect(store.ready()).rejects.toThrow('the disk is full')
    expect(await keysOf(store)).toEqual(['a:1', 'a:2', 'a:3'])
  })

  test('a folder is opened without space for a reserve, and then is not ready', async () => {
    await store.close()
    await disk.remove(`${PATH}/reserve`)
    await fill()
    store = await open()
    expect(await keysOf(store)).toEqual(['a:1', 'a:2', 'a:3'])
    await expect(store.ready()).rejects.toThrow('the disk is full')
    disk.capacity = Infinity
    await store.ready()
    expect(await reserveSize()).toBe(RESERVE)
  })

  test('an intact reserve is not written again when the folder is opened, and an incomplete one is', async () => {
    await store.close()
    const before = await disk.read(`${PATH}/reserve`)
    await (await open()).close()
    expect(await disk.read(`${PATH}/reserve`)).toBe(before)
    await (await disk.append(`${PATH}/reserve`)).truncate(10)
    await (await open()).close()
    expect(await reserveSize()).toBe(RESERVE)
  })

  test('a sync that fails while the reserve is changed stops all writing', async () => {
    await fill()
    disk.fault = { at: disk.operations, kind: 'EIO', permanent: true, effect: 'none' }
    expect(await errorOf(remove('a:1'))).toMatchObject({ name: 'StorageUnavailable' })
    disk.fault = undefined
    await expect(store.ready()).rejects.toThrow('nothing is written until a restart')
  })

  test('a reserve of unknown size gives up nothing', async () => {
    expect(await new Reserve(disk, PATH, RESERVE).release()).toBe(false)
  })
})
