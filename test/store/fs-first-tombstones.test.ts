import { beforeEach, describe, expect, test } from 'vitest'
import type { FsStore } from '../../src/store/fs/store.ts'
import { change, readRequest } from '../support/changes.ts'
import { effort } from '../support/effort.ts'
import { seededRandom } from '../support/random.ts'
import { StoreFolder } from '../support/store-folder.ts'

/** Turns of the event loop after which everything that can be released is. */
const TURNS = 50
const rest = async () => {
  for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate)
}
/** An entry of a tombstone that is due at this time. */
const entry = (time: number, id = 1) => `${String(time).padStart(3, '0')} ${id}`
const add = (...entries: string[]) => change({ index: { tombstones: { add: entries }, other: { add: ['000 0'] } } })
const remove = (...entries: string[]) => change({ index: { tombstones: { remove: entries } } })

describe.each([
  ['releases all partitions', 0],
  ['keeps all partitions in memory', 1e9],
])('whether a partition of a folder that %s may have a tombstone that is due', (_what, cacheBytes) => {
  let folder: StoreFolder
  let store: FsStore
  beforeEach(async () => {
    folder = new StoreFolder()
    store = await folder.open(Infinity, cacheBytes)
  })
  /** The first time before which `p1` may have a tombstone; undefined without one. */
  const known = (name = 'p1') => Array.from({ length: 10 }, (_, i) => i).find((time) => store.mayHaveTombstoneBefore(name, entry(time, 2)))
  const reads = () => folder.read()
  /** Opens the folder in the next process, and forgets what was done on its disk before. */
  const restart = async (how: 'shutdown' | 'kill') => {
    if (how === 'shutdown') await store.close()
    folder = new StoreFolder(folder.disk.afterKill())
    store = await folder.open(Infinity, cacheBytes)
    folder.recording.operations.length = 0
  }

  test.each(['shutdown', 'kill'] as const)('it is known without loading it: while it is loaded, released, and after a %s', async (how) => {
    await store.commit('p1', add(entry(7), entry(5)))
    expect(known()).toBe(5)
    await rest()
    folder.recording.operations.length = 0
    expect([known(), known('p2'), reads()]).toEqual([5, undefined, []])
    await restart(how)
    expect([known(), known('p2'), reads()]).toEqual([5, undefined, []])
    await store.commit('p1', remove(entry(5)))
    await rest()
    await restart('shutdown')
    expect([known(), reads()]).toEqual([7, []])
    await store.commit('p1', remove(entry(7)))
    expect(known()).toBeUndefined()
    await restart('shutdown')
    expect([known(), reads()]).toEqual([undefined, []])
  })

  test('one that was added and removed in the journal is not expected after a crash', async () => {
    await store.commit('p1', add(entry(3), entry(6)))
    await store.commit('p1', remove(entry(3)))
    await restart('kill')
    expect([known(), reads()]).toEqual([6, []])
  })

  test('an entry of the manifest is expected until the partition is read, also if the journal has removed it', async () => {
    await store.commit('p1', add(entry(3)))
    await rest()
    await store.compact()
    await store.commit('p1', add(entry(2), entry(4)))
    await store.commit('p1', remove(entry(3), entry(2)))
    await restart('kill')
    expect(known()).toBe(3)
    await store.read('p1', readRequest({}))
    expect(known()).toBe(4)
  })

  test('it is never denied while there is one, in random histories with releases, compactions, shutdowns and crashes', async () => {
    for (let seed = 1; seed <= effort(20); seed++) {
      const random = seededRandom(seed)
      folder = new StoreFolder()
      store = await folder.open(Infinity, cacheBytes)
      const model = new Map(['p1', 'p2', 'p3'].map((name) => [name, new Set<string>()]))
      for (let step = 0; step < 40; step++) {
        const [name, entries] = [...model][random(3)]!
        const chosen = entry(random(9), random(3))
        const kind = random(9)
        if (kind < 3) await store.commit(name, add(chosen)).then(() => entries.add(chosen))
        else if (kind < 6)
          await store
            .commit(name, remove(...[...entries].slice(0, 2)))
            .then(() => [...entries].slice(0, 2).forEach((one) => entries.delete(one)))
        else if (kind === 6) await Promise.all([store.compact(), random(2) === 0 ? store.read(name, readRequest({})) : rest()])
        else if (kind === 7) await rest()
        else await restart(random(2) === 0 ? 'shutdown' : 'kill')
        for (const [other, present] of model) {
          const first = [...present].toSorted()[0]
          if (first !== undefined)
            expect([seed, step, other, store.mayHaveTombstoneBefore(other, `${first}~`)]).toEqual([seed, step, other, true])
        }
      }
      await rest()
      await store.close()
    }
  })
})
