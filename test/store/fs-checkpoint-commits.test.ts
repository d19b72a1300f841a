import { describe, expect, test } from 'vitest'
import type { FsStore } from '../../src/store/fs/store.ts'
import type { Change } from '../../src/store/port.ts'
import { change, readRequest } from '../support/changes.ts'
import type { FaultyDisk } from '../support/faulty-disk.ts'
import { PATH, StoreFolder } from '../support/store-folder.ts'

/** More records than three chunks of a checkpoint have. */
const COUNT = 1700
const key = (n: number) => `k:${String(n).padStart(4, '0')}`

/** All records and index entries of the partition p1. */
async function contentOf(store: FsStore): Promise<unknown> {
  const records = Array.from({ length: COUNT + 2 }, (_one, n) => key(n))
  const found = (await store.read('p1', readRequest({ records, ranges: [{ index: 'i', limit: 2 * COUNT }] })))!
  return [found.records.map(({ stored }) => stored), found.ranges[0]]
}

/** Every record of the partition, with an entry. */
function fill(): Change {
  const names = Array.from({ length: COUNT }, (_one, n) => key(n))
  return change({ put: Object.fromEntries(names.map((name) => [name, { n: 0 }])), index: { i: { add: names } } })
}

/** Changes, removes and adds records, in what is written first and in what is written last. */
function changeAll(): Change {
  const changed = [0, 3, 600, COUNT - 1].map((n) => [key(n), { n: 1 }] as const)
  const removed = [1, 601, COUNT - 2].map(key)
  const added = [key(COUNT), key(COUNT + 1)]
  return change({
    put: Object.fromEntries([...changed, ...added.map((name) => [name, { n: 2 }] as const)]),
    remove: removed,
    index: { i: { add: added, remove: removed } },
  })
}

/** What the partition must have after these changes. */
function expected(changes: readonly [Change, Change]): unknown {
  const [records, entries] = [new Map<string, unknown>(), new Set<string>()]
  for (const { revision, put, remove, indexes } of changes) {
    for (const [name, value] of put) records.set(name, { value, revision })
    for (const name of remove) records.delete(name)
    for (const name of indexes.get('i')!.remove) entries.delete(name)
    for (const name of indexes.get('i')!.add) entries.add(name)
  }
  const all = Array.from({ length: COUNT + 2 }, (_one, n) => records.get(key(n)) ?? null)
  return [all, { entries: [...entries].toSorted(), revision: changes[1].revision, records: [] }]
}

describe.each([
  ['compaction', Infinity, (store: FsStore) => store.compact()],
  [
    'release from memory',
    0,
    async (store: FsStore) => {
      await store.read('p1', readRequest({}))
      for (let turn = 0; turn < 2000 && (await store.metrics()).loadedPartitions !== 0; turn++) await new Promise(setImmediate)
      expect((await store.metrics()).loadedPartitions).toBe(0)
    },
  ],
] as const)('a commit while the checkpoint of a %s is written', (_why, cacheBytes, write) => {
  test.each([1, 2, 3, 4, 5])('is whole in the partition, also after a power loss, if it comes at write %i', async (at) => {
    const folder = new StoreFolder()
    const store = await folder.open(Infinity, cacheBytes)
    const changes = [fill(), changeAll()] as const
    let writes = 0
    let committing: Promise<unknown> | undefined
    const images: FaultyDisk[] = []
    folder.before = async (operation) => {
      // The checkpoint has just replaced the one before it. Another one may follow, which has the commit.
      if (committing !== undefined && operation === `syncFolder ${PATH}/records`) images.push(folder.disk.after('all kept'))
      if (operation !== `write ${PATH}/records/.p1.tmp` || ++writes !== at) return
      committing = store.commit('p1', changes[1])
      await committing
    }
    await store.commit('p1', changes[0])
    await write(store)
    expect(await committing).toBe('done')
    expect(await contentOf(store)).toEqual(expected(changes))
    expect(images.length).toBeGreaterThan(0)
    for (const image of [...images, folder.disk.after('nothing kept')]) {
      const restarted = await new StoreFolder(image).open()
      expect(await contentOf(restarted)).toEqual(expected(changes))
      await restarted.close()
    }
    // A further checkpoint removes the journal that the first one needs.
    await store.commit('p2', fill())
    await store.compact()
    const later = await new StoreFolder(folder.disk.after('nothing kept')).open()
    expect(await contentOf(later)).toEqual(expected(changes))
  })
})
