import { execFileSync } from 'node:child_process'
import { readdir, readFile, rm } from 'node:fs/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { isReadOnlyError } from '../../src/store/fs/sqlite.ts'
import { openFsStoreForReading, type FsStore } from '../../src/store/fs/store.ts'
import { change } from '../support/changes.ts'
import { errorOf } from '../support/error-of.ts'
import { keysOf, openFolder } from '../support/folders.ts'
import { quiet } from '../support/log.ts'
import { eachInFolder } from '../support/temporary-folder.ts'

describe('a folder that is opened for reading only', () => {
  let path: string
  eachInFolder((created) => (path = `${created}/a folder ? # %41`))
  let store: FsStore
  beforeEach(async () => {
    store = await openFolder(path)
    await store.commit('p1', change({ put: { 'a:1': {}, 'a:2': {} } }))
    await store.commit('p2', change({ put: { 'b:1': {} } }))
  })
  const open = () => openFsStoreForReading(path, { log: quiet, derived: [] })
  const content = async () => Promise.all((await readdir(path)).map(async (name) => [name, await readFile(`${path}/${name}`)]))

  test('has its records, refuses changes, and is not changed', async () => {
    await store.close()
    const before = await content()
    const reading = await open()
    expect([await keysOf(reading), await keysOf(reading, 'p2'), await keysOf(reading, 'p3')]).toEqual([['a:1', 'a:2'], ['b:1'], []])
    expect({ partitions: await reading.partitions(), damage: await reading.findDamage().next() }).toEqual({
      partitions: ['p1', 'p2'],
      damage: { done: false, value: [] },
    })
    for (const attempt of [reading.commit('p1', change({ put: { 'c:1': {} } })), reading.ready()])
      expect(await errorOf(attempt)).toMatchObject({ name: 'StorageUnavailable', message: `${path} is opened for reading only` })
    await reading.close()
    expect(await content()).toEqual(before)
  })

  test('has the changes of its log, and is refused without a log that it needs', async () => {
    const copy = `${path} copy`
    execFileSync('cp', ['-r', path, copy])
    await store.close()
    path = copy
    const before = await content()
    const reading = await open()
    expect([await keysOf(reading), await keysOf(reading, 'p2')]).toEqual([['a:1', 'a:2'], ['b:1']])
    await reading.close()
    expect(await content()).toEqual(before)
    await rm(`${path}/records.db-wal`)
    expect(await errorOf(open())).toMatchObject({ name: 'StorageDamaged', message: expect.stringContaining('records.db-wal is missing') })
  })

  test('is refused without data', async () => {
    await store.close()
    path = `${path} other`
    await expect(open()).rejects.toThrow('contains no Lanekeeper data')
  })

  test.each([
    ['EROFS', true],
    ['EACCES', true],
    ['EPERM', true],
    ['EIO', false],
    ['ENOSPC', false],
  ])('an error with the code %s means that a folder cannot be written to: %s', (code, expected) => {
    expect(isReadOnlyError(Object.assign(new Error('x'), { code }))).toBe(expected)
  })

  test('an error of SQLite for a file that cannot be written to means the same', () => {
    expect([8, 8 | (4 << 8), 10].map((errcode) => isReadOnlyError(Object.assign(new Error('x'), { errcode })))).toEqual([true, true, false])
  })
})
