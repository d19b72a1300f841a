import { beforeEach, describe, expect, test, vi } from 'vitest'
import { StorageUnavailable } from '../../src/store/port.ts'
import { change, readRequest } from '../support/changes.ts'
import { errorOf } from '../support/error-of.ts'
import { entriesOf, keysOf, PATH, put, putOne, StoreFolder } from '../support/store-folder.ts'

describe('the store in a folder', () => {
  let folder: StoreFolder
  beforeEach(() => {
    folder = new StoreFolder()
  })

  test('it is named "fs"', async () => {
    const store = await folder.open()
    expect(store.driver).toBe('fs')
  })

  test('a folder that was used is not created again', async () => {
    await (await folder.open()).close()
    folder.recording.operations.length = 0
    await (await folder.open()).close()
    expect(folder.recording.operations.filter((one) => one.startsWith('makeFolder'))).toEqual([])
  })

  test('a partition to which nothing was written is empty, and is looked for at each use', async () => {
    const store = await folder.open()
    await store.ready()
    folder.recording.operations.length = 0
    for (let use = 0; use < 2; use++) expect([await keysOf(store), await entriesOf(store)]).toEqual([[], []])
    expect(folder.recording.operations).toEqual(Array(4).fill(`readParts ${PATH}/records/p1`))
  })

  test('a folder is read correctly if a crash left the files of the journal that a checkpoint replaces', async () => {
    let store = await folder.open()
    await put(store, 'a:1')
    await store.commit('p1', change({ remove: ['a:1'], index: { i: { remove: ['a:1'] } } }))
    // The files of the journal remain, as after a crash before their removal.
    folder.fail('remove', 'EIO')
    await store.compact()
    await store.close()
    folder.repair()
    expect(await folder.journal()).toEqual(['0000000001.log', '0000000003.log'])
    store = await folder.open()
    await put(store, 'a:2')
    expect([await keysOf(store), await entriesOf(store)]).toEqual([['a:2'], ['a:2']])
  })

  describe('after a sync has failed', () => {
    test('every commit is refused, also one that would conflict, and ready() says why', async () => {
      const store = await folder.open()
      await put(store, 'a:1')
      folder.fail(`sync ${PATH}/journal`, 'EIO')
      const error = await errorOf(put(store, 'a:2'))
      expect([error instanceof StorageUnavailable, error.outcomeKnown]).toEqual([true, false])
      folder.repair()
      const conflicting = change({ put: { 'a:1': {} }, expect: { records: new Map([['a:1', null]]) } })
      const refusal = await errorOf(store.commit('p1', conflicting))
      expect([refusal.outcomeKnown, refusal.message]).toEqual([true, error.message])
      expect(await errorOf(store.ready())).toBe(refusal)
      expect(await keysOf(store)).toEqual(['a:1'])
    })

    test('a compaction changes nothing, and logs nothing more', async () => {
      const store = await folder.open()
      await put(store, 'a:1')
      folder.fail(`syncFolder ${PATH}/records`, 'EIO')
      await store.compact()
      expect(folder.log.lines).toEqual([
        expect.objectContaining({ level: 50, msg: 'the journal could not be compacted and keeps growing' }),
      ])
      await expect(store.ready()).rejects.toThrow('the disk failed to sync written data; nothing is written until a restart')
      folder.repair()
      const names = await folder.journal()
      await store.compact()
      expect([await folder.journal(), folder.log.lines.length]).toEqual([names, 1])
    })
  })

  test('a change that was not written is not expected by later ones', async () => {
    const store = await folder.open()
    const first = putOne('a:1')
    await store.commit('p1', first)
    folder.fail('write', 'ENOSPC')
    const update = (revision: string) =>
      change({
        put: { 'a:1': {} },
        index: { i: { add: ['a:2'] } },
        expect: { records: new Map([['a:1', revision]]), capacity: new Map([['i', 1]]) },
      })
    expect((await errorOf(store.commit('p1', update(first.revision)))).outcomeKnown).toBe(true)
    folder.repair()
    expect(await store.commit('p1', update(first.revision))).toBe('done')
  })

  test('a conflict does not wait for the changes of other partitions', async () => {
    const store = await folder.open()
    await put(store, 'a:1')
    let write!: () => void
    const written = new Promise<void>((resolve) => (write = resolve))
    folder.before = (operation) => (operation.startsWith('write') ? written : undefined)
    const other = put(store, 'a:1', 'p2')
    await expect.poll(() => folder.recording.operations.at(-1)).toMatch(/^write/)
    const conflicting = change({ put: { 'a:1': {} }, expect: { records: new Map([['a:1', null]]) } })
    expect(await store.commit('p1', conflicting)).toBe('conflict')
    write()
    expect(await other).toBe('done')
  })

  test('a commit waits for the lease of another in its partition, and for no other lease', async () => {
    // A lease ends by itself; not in this test.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const store = await folder.open()
      const lease = await store.takeLease('p1')
      const order: string[] = []
      const other = put(store, 'a:1').then(() => order.push('another'))
      await store.commit('p1', { ...putOne('a:2'), lease: lease.id }).then(() => order.push('its own'))
      await put(store, 'a:1', 'p2').then(() => order.push('another partition'))
      lease.end()
      await other
      expect(order).toEqual(['its own', 'another partition', 'another'])
      await store.close()
    } finally {
      vi.useRealTimers()
    }
  })

  test('concurrent first uses of a partition load it once', async () => {
    let store = await folder.open()
    await put(store, 'a:1')
    await store.compact()
    await store.close()
    store = await folder.open()
    folder.recording.operations.length = 0
    await Promise.all([entriesOf(store), put(store, 'a:2'), put(store, 'a:3')])
    await Promise.all([entriesOf(store), keysOf(store)])
    expect(folder.recording.operations.filter((one) => one === `readParts ${PATH}/records/p1`)).toHaveLength(4)
    expect(await keysOf(store)).toEqual(['a:1', 'a:2', 'a:3'])
  })

  test('a partition that cannot be read is unavailable, which is logged, and is read again at its next use', async () => {
    let store = await folder.open()
    await put(store, 'a:1')
    await store.close()
    store = await folder.open()
    folder.fail(`readParts ${PATH}/records/p1`, 'EIO')
    const error = await errorOf(store.read('p1', readRequest({})))
    expect(error).toMatchObject({ name: 'StorageUnavailable', message: 'records could not be read', cause: { code: 'EIO' } })
    expect(folder.log.lines).toEqual([expect.objectContaining({ level: 50, partition: 'p1', msg: 'records could not be read' })])
    folder.repair()
    expect(await keysOf(store)).toEqual(['a:1'])
  })
})
