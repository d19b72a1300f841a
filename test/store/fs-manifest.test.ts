import { crc32 } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import { encodeFrame, StorageDamaged } from '../../src/store/fs/journal.ts'
import { entriesOf, keysOf, PATH, put, putOne, StoreFolder } from '../support/store-folder.ts'

const ADVICE = '; restore the last backup, see "Damaged folders" in src/admin/README.md'
const JOURNAL = `${PATH}/journal/0000000003.log`
const frame = (sequence: number, partition = 'p1') => encodeFrame(sequence, [{ partition, ...putOne(`z:${sequence}`) }])
const withChecksum = (text: string) => `${text}{"crc":"${crc32(text).toString(16).padStart(8, '0')}"}\n`
const OPEN = withChecksum('{"start":3,"sequence":2,"checkpoints":[["p1",2],["p2",2]],"tombstones":[]}\n')
const CLOSED = `${withChecksum('{"start":3,"sequence":6,"checkpoints":[["p1",2],["p2",2]],"tombstones":[]}\n')}{"closed":true}\n`

describe('the manifest of a folder', () => {
  let folder: StoreFolder
  beforeEach(() => {
    folder = new StoreFolder()
  })
  const write = async (path: string, content: string | Buffer) => (await folder.disk.create(path)).write(Buffer.from(content))
  const read = async (path: string) => (await folder.disk.read(path))!
  const remove = (path: string) => folder.disk.remove(path)
  /** All files of the folder with their contents. */
  const contents = async () => {
    const files = ['format.json', 'manifest.json']
    for (const name of ['journal', 'records']) files.push(...(await folder.disk.list(`${PATH}/${name}`)).map((one) => `${name}/${one}`))
    return Promise.all(files.map(async (name) => [name, (await folder.disk.read(`${PATH}/${name}`))?.toString('latin1')] as const))
  }
  /** Fills two partitions, with checkpoints of frame 2 and a journal of the frames 3 to 6. Returns an open store. */
  const fill = async () => {
    const store = await folder.open()
    for (const name of ['p1', 'p2']) await put(store, 'a:1', name)
    await store.compact()
    for (const key of ['a:2', 'a:3']) for (const name of ['p1', 'p2']) await put(store, key, name)
    return store
  }
  const fillAndClose = async () => (await fill()).close()
  /** A folder that is used and not closed: that is also how a crash leaves it. */
  const fillAndCrash = async () => void (await fill())
  const refusal = async () => {
    const before = await contents()
    const error = await folder.open().then(
      () => expect.unreachable('the folder was opened'),
      (reason: unknown) => reason as Error,
    )
    expect(error).toBeInstanceOf(StorageDamaged)
    expect(await contents()).toEqual(before)
    return error.message
  }
  const outcomeOf = (name: string, store: Awaited<ReturnType<StoreFolder['open']>>) =>
    keysOf(store, name).catch((error: Error) => [error.name, (error.cause as Error).message])

  test('it names the start of the journal, what the journal has reached, the checkpoints, and a clean shutdown', async () => {
    const store = await folder.open()
    expect((await read(`${PATH}/manifest.json`)).toString()).toBe(
      withChecksum('{"start":1,"sequence":0,"checkpoints":[],"tombstones":[]}\n'),
    )
    await store.close()
    folder = new StoreFolder()
    const filled = await fill()
    expect((await read(`${PATH}/manifest.json`)).toString()).toBe(OPEN)
    await filled.close()
    expect((await read(`${PATH}/manifest.json`)).toString()).toBe(CLOSED)
    // Its mark is gone before anything else can be written.
    await folder.open()
    expect((await read(`${PATH}/manifest.json`)).toString()).toBe(CLOSED.replace('{"closed":true}\n', ''))
  })

  describe('after a clean shutdown', () => {
    beforeEach(fillAndClose)

    test('a journal that is cut anywhere is refused', async () => {
      const intact = await read(JOURNAL)
      for (let size = 0; size < intact.byteLength; size += 3) {
        await write(JOURNAL, intact.subarray(0, size))
        expect(await refusal()).toMatch(/journal ends at frame [2-5], but had reached frame 6: its end is cut off or damaged; restore/)
      }
    })

    test('a journal with zeros from anywhere to its end is refused', async () => {
      const intact = await read(JOURNAL)
      for (let size = 0; size < intact.byteLength; size += 3) {
        await write(JOURNAL, Buffer.concat([intact.subarray(0, size), Buffer.alloc(intact.byteLength - size)]))
        await refusal()
      }
      await write(JOURNAL, Buffer.concat([intact, Buffer.alloc(50)]))
      expect(await refusal()).toBe(`${PATH}/journal has 50 bytes after frame 6, with which it was closed${ADVICE}`)
    })

    test('a flipped bit anywhere in the journal is refused, also in its last frame', async () => {
      const intact = await read(JOURNAL)
      for (let bit = 0; bit < intact.byteLength * 8; bit += 5) {
        const damaged = Buffer.from(intact)
        damaged[bit >> 3]! ^= 1 << (bit & 7)
        await write(JOURNAL, damaged)
        await refusal()
      }
    })

    test('a journal that continues is refused', async () => {
      await write(JOURNAL, Buffer.concat([await read(JOURNAL), frame(7)]))
      expect(await refusal()).toBe(`${PATH}/journal continues after frame 6, with which it was closed${ADVICE}`)
    })

    test('a journal without its file, or without its first frames, is refused', async () => {
      const intact = await read(JOURNAL)
      await remove(JOURNAL)
      expect(await refusal()).toContain('journal ends at frame 0, but had reached frame 6')
      await write(`${PATH}/journal/0000000005.log`, intact.subarray(intact.indexOf('lk1 5 ')))
      expect(await refusal()).toBe(`${PATH}/journal begins at frame 5: frame 3 is missing${ADVICE}`)
    })

    test('a manifest that is missing, damaged or of an earlier time is refused', async () => {
      const manifest = await read(`${PATH}/manifest.json`)
      await remove(`${PATH}/manifest.json`)
      expect(await refusal()).toBe(`${PATH}/manifest.json is missing${ADVICE}`)
      for (let bit = 0; bit < manifest.byteLength * 8; bit++) {
        const damaged = Buffer.from(manifest)
        damaged[bit >> 3]! ^= 1 << (bit & 7)
        await write(`${PATH}/manifest.json`, damaged)
        expect(await refusal()).toBe(`${PATH}/manifest.json is damaged${ADVICE}`)
      }
      await write(`${PATH}/manifest.json`, withChecksum('{"start":1,"sequence":0,"checkpoints":[],"tombstones":[]}\n'))
      expect(await refusal()).toBe(`${PATH}/journal begins at frame 3: frame 1 is missing${ADVICE}`)
    })

    test('a full disk can be opened and read', async () => {
      folder.fail('create', 'ENOSPC')
      const store = await folder.open()
      expect([await keysOf(store), await entriesOf(store)]).toEqual([
        ['a:1', 'a:2', 'a:3'],
        ['a:1', 'a:2', 'a:3'],
      ])
      // Commits that succeed nonetheless are kept, although the folder was not closed after them.
      await put(store, 'a:4')
      await store.close()
      folder.repair()
      const next = await folder.open()
      expect(await keysOf(next)).toEqual(['a:1', 'a:2', 'a:3', 'a:4'])
    })

    test('a folder that is opened again and crashes is opened once more', async () => {
      await (await folder.open()).commit('p1', putOne('a:4'))
      const store = await folder.open()
      expect(await keysOf(store)).toEqual(['a:1', 'a:2', 'a:3', 'a:4'])
    })
  })

  describe('after a crash', () => {
    beforeEach(fillAndCrash)

    test('an incomplete entry at the end of the journal is moved to a file, which is logged', async () => {
      const intact = await read(JOURNAL)
      const torn = frame(7).subarray(0, 30)
      await write(JOURNAL, Buffer.concat([intact, torn]))
      const store = await folder.open()
      const file = `${JOURNAL}.${intact.byteLength}.torn`
      expect([await read(file), await read(JOURNAL)]).toEqual([torn, intact])
      expect(folder.log.lines).toEqual([expect.objectContaining({ level: 40, file, msg: expect.stringContaining('incomplete entry') })])
      expect(await keysOf(store, 'p2')).toEqual(['a:1', 'a:2', 'a:3'])
      // It is kept when the journal is compacted.
      await store.compact()
      expect(await folder.journal()).toEqual([file.split('/').at(-1), '0000000007.log'])
    })

    test('a journal that ends before what it had reached is refused', async () => {
      await write(JOURNAL, '')
      await (await folder.open()).close()
      await remove(JOURNAL)
      expect(await refusal()).toContain('journal ends at frame 0, but had reached frame 2')
    })

    test('a checkpoint that is missing, older, or newer than the journal makes its partition unavailable, and no other', async () => {
      const checkpoint = (await read(`${PATH}/records/p1`)).toString()
      const changed = (from: string, to: string) => withChecksum(checkpoint.replace(from, to).replace(/\{"crc.*\n/, ''))
      for (const [damage, message] of [
        [undefined, `${PATH}/records/p1 is missing`],
        [changed('"sequence":2', '"sequence":1'), `${PATH}/records/p1 has the state of frame 1, and must have that of frame 2`],
        [changed('{"end":2}', '{"end":7}'), 'the journal ends at frame 6, before the checkpoint of p1 at frame 7'],
      ] as const) {
        if (damage === undefined) await remove(`${PATH}/records/p1`)
        else await write(`${PATH}/records/p1`, damage)
        const store = await folder.open()
        expect(await outcomeOf('p1', store)).toEqual(['StorageUnavailable', message])
        expect(await outcomeOf('p2', store)).toEqual(['a:1', 'a:2', 'a:3'])
      }
    })
  })

  test('the shutdown is not recorded after a failed sync, and a failure to record it is logged', async () => {
    const store = await fill()
    folder.fail(`sync ${PATH}/journal`, 'EIO')
    await expect(async () => put(store, 'a:9')).rejects.toThrow('sync')
    folder.repair()
    await store.close()
    expect((await read(`${PATH}/manifest.json`)).toString()).toBe(OPEN)
    folder = new StoreFolder()
    const other = await fill()
    folder.fail('create', 'ENOSPC')
    await other.close()
    expect([(await read(`${PATH}/manifest.json`)).toString(), folder.log.lines]).toEqual([
      OPEN,
      [expect.objectContaining({ level: 40, msg: expect.stringContaining('the shutdown could not be recorded') })],
    ])
  })
})
