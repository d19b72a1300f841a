import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RecordWriter, type RowChange } from '../../src/store/fs/record-writer.ts'
import { change } from '../support/changes.ts'
import { errorOf } from '../support/error-of.ts'
import { openFolder } from '../support/folders.ts'
import { StoreProcess } from '../support/store-process.ts'
import { eachInFolder } from '../support/temporary-folder.ts'

let path: string
eachInFolder((created) => (path = created))
const RESERVE = 200_000

describe('the writer of a folder whose file may not grow', () => {
  let writer: RecordWriter
  let numbers = 0
  const insert = (length: number): RowChange => {
    const number = ++numbers
    return {
      partition: 'p1',
      revision: `r${number}`,
      insert: [[number, `a:${number}`, JSON.stringify('x'.repeat(length))]],
      update: [],
      remove: [],
    }
  }
  const remove = (number: number): RowChange => ({ partition: 'p1', revision: `d${number}`, insert: [], update: [], remove: [number] })
  beforeEach(async () => {
    numbers = 0
    await (await openFolder(path)).close()
    writer = new RecordWriter(path, {
      checkpointAt: 1e6,
      reserveSize: RESERVE,
      settings: 'PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA max_page_count = 250',
    })
  })
  afterEach(() => writer.close())
  const fill = () => {
    while ('written' in writer.write([insert(20_000)], false));
    numbers--
  }

  test('writes nothing of a change without space, and goes on with changes that have space', () => {
    fill()
    expect(writer.write([remove(1), insert(50_000)], false)).toMatchObject({ full: expect.stringContaining('full') })
    expect(writer.write([insert(100)], false)).toEqual({ written: true })
    const last = numbers
    expect(writer.write([remove(1), remove(2), remove(3)], true)).toEqual({ written: true })
    expect({ outcome: writer.write([insert(20_000)], false), hasSpace: writer.hasSpace(), numbers }).toEqual({
      outcome: { written: true },
      hasSpace: true,
      numbers: last + 1,
    })
  })

  test('gives up the reserve for changes that only remove, and fills it up again', () => {
    fill()
    // More than there is: the reserve is no help here, and is given up for it.
    expect(writer.write([insert(50_000)], true)).toMatchObject({ full: expect.stringContaining('full') })
    expect(() => readFileSync(`${path}/reserve`)).toThrow('ENOENT')
    expect(writer.write([remove(1)], false)).toEqual({ written: true })
    expect(readFileSync(`${path}/reserve`).length).toBe(RESERVE)
    writeFileSync(`${path}/reserve`, 'short')
    expect({ hasSpace: writer.hasSpace(), reserve: readFileSync(`${path}/reserve`).length }).toEqual({ hasSpace: true, reserve: RESERVE })
  })

  test('must be given up if the file is replaced', () => {
    writeFileSync(`${path}/other`, readFileSync(`${path}/records.db`))
    rmSync(`${path}/records.db`)
    expect(writer.write([insert(1)], false)).toEqual({
      failed: expect.stringContaining('changed or replaced records.db'),
      isForeign: true,
    })
  })
})

/** Mounts a file system of 6 MiB, for the process that follows only. */
const MOUNT = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs -o size=6m tmpfs "$0" && exec "$@"']
const canMount = await promisify(execFile)('unshare', [...MOUNT.slice(1), '/mnt', 'true']).then(
  () => true,
  () => false,
)
if (!canMount) console.error('A FULL DISK IS NOT TESTED: this user may not mount a file system')

describe.skipIf(!canMount)('a folder on a disk that is full', () => {
  test('refuses what adds, does what removes, is not ready, and goes on when there is room', async () => {
    const process = new StoreProcess(`${path}/data`, '', [...MOUNT, path])
    expect(await process.started).toBeUndefined()
    const put = (key: string, length: number) => process.commit('p1', change({ put: { [key]: { text: 'x'.repeat(length) } } }))
    const remove = (key: string) => process.commit('p1', { ...change({ remove: [key] }), onlyRemoves: true })
    await process.ready()
    let count = 0
    const refused = async (): Promise<unknown> => {
      for (; ; count++) {
        const error = await put(`a:${count}`, 60_000).then(
          () => undefined,
          (reason: unknown) => reason,
        )
        if (error !== undefined) return error
      }
    }
    expect(await refused()).toMatchObject({ outcomeKnown: true, message: expect.stringContaining('the disk is full') })
    expect(count).toBeGreaterThan(20)
    while ((await put('b:1', 3000).catch(() => 'refused')) === 'done');
    expect(await errorOf(process.ready())).toMatchObject({ message: expect.stringContaining('the disk is full') })
    for (let i = 0; i < count; i++) expect(await remove(`a:${i}`)).toBe('done')
    await process.ready()
    for (let i = 0; i < count - 10; i++) expect(await put(`c:${i}`, 60_000)).toBe('done')
    await process.kill()
  })
})
