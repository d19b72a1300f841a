import { describe, expect, test } from 'vitest'
import { openFsStore, type FsStore } from '../../src/store/fs/store.ts'
import { StorageUnavailable, type Change } from '../../src/store/port.ts'
import { readRequest } from '../support/changes.ts'
import { Commits, compare } from '../support/commits.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { quiet } from '../support/log.ts'
import { seededRandom } from '../support/random.ts'

const open = (disk: FaultyDisk, compactAt = 3000) => openFsStore('/var/data', { log: quiet, disk, compactAt })
const changeExpecting = (revision: string | null): Change => ({
  revision: 'expecting',
  expect: { records: new Map([['latest:1', revision]]), indexes: new Map(), capacity: new Map() },
  put: new Map(),
  remove: new Set(),
  indexes: new Map(),
})

/** A disk that is so slow that of two writers one always waits while the other's change is written. */
function slowDisk(): FaultyDisk {
  const disk = new FaultyDisk(1)
  disk.turns = 100
  return disk
}

/** Starts two writers that commit without pause. */
async function startLoad(store: FsStore, commits: Commits): Promise<{ stop: () => Promise<unknown> }> {
  let stopped = false
  await commits.commit(store, 'p1')
  const write = async (): Promise<void> => {
    // Limited, so that the test fails instead of hanging when the load blocks everything else.
    for (let i = 0; !stopped && i < 500; i++) await commits.commit(store, 'p1')
  }
  const first = write()
  for (let turns = 0; turns < 20; turns++) await undefined
  const both = Promise.all([first, write()])
  return { stop: async () => ((stopped = true), both) }
}

const journalSize = async (disk: FaultyDisk) => {
  const names = await disk.list('/var/data/journal')
  const files = await Promise.all(names.map((name) => disk.read(`/var/data/journal/${name}`)))
  return files.reduce((sum, bytes) => sum + bytes!.byteLength, 0)
}
const noSpace = () => Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))

describe('the journal of the fs driver', () => {
  test('the journal is compacted under constant load', async () => {
    const commits = new Commits(1)
    const store = await open(slowDisk(), Infinity)
    const load = await startLoad(store, commits)
    await store.compact()
    expect(commits.attempts.length).toBeLessThan(100)
    await load.stop()
  })

  test('a conflict is reported under constant load', async () => {
    const commits = new Commits(1)
    const store = await open(slowDisk(), Infinity)
    const load = await startLoad(store, commits)
    expect(await store.commit('p1', changeExpecting('another revision'))).toBe('conflict')
    expect(commits.attempts.length).toBeLessThan(100)
    await load.stop()
  })

  test('after a conflict the conflicting change is visible, also during a rotation of the journal', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const store = await open(new FaultyDisk(seed), Infinity)
      const commits = new Commits(seed)
      await commits.commit(store, 'p1')
      const compacted = store.compact()
      const first = commits.commit(store, 'p1')
      expect(await store.commit('p1', changeExpecting(commits.attempts[0]!.change.revision))).toBe('conflict')
      const { records } = (await store.read('p1', readRequest({ records: ['latest:1'] })))!
      expect(records[0]!.stored!.revision).toBe(commits.attempts[1]!.change.revision)
      expect(await store.commit('p1', changeExpecting(commits.attempts[1]!.change.revision))).toBe('done')
      await Promise.all([compacted, first])
      await store.close()
    }
  })

  test('a conflict on a failing disk results in a conflict or StorageUnavailable', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const disk = new FaultyDisk(seed)
      const store = await open(disk, Infinity)
      const commits = new Commits(seed)
      await commits.commit(store, 'p1')
      disk.fault = { at: disk.operations + 1, kind: 'EIO', permanent: true, effect: 'none' }
      const compacted = store.compact()
      const first = commits.commit(store, 'p1')
      expect(await store.commit('p1', changeExpecting('another revision')).catch((error: unknown) => error)).toSatisfy(
        (outcome) => outcome === 'conflict' || outcome instanceof StorageUnavailable,
      )
      await Promise.all([compacted, first])
      expect(commits.violations).toEqual([])
    }
  })

  test('nothing is written to the folder after the store is closed, whatever was in progress', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const disk = new FaultyDisk(seed)
      const store = await open(disk, 100)
      const commits = new Commits(seed)
      const round = commits.round(store, ['p1', 'p2'])
      for (let turns = seededRandom(seed)(40); turns > 0; turns--) await undefined
      const compacted = [seed % 2 === 0 && store.compact()]
      await store.close()
      const { operations } = disk
      await Promise.all([round, ...compacted, store.compact()])
      await new Promise((resolve) => setImmediate(resolve))
      expect([seed, disk.operations]).toEqual([seed, operations])
      const next = await open(disk)
      expect(await compare(next, commits)).toEqual([])
      await next.close()
    }
  })
})

describe('compaction of the journal after failures', () => {
  test('journal files are removed in order: after a crash an older file never exists without the newer ones', async () => {
    for (let after = 1, complete = false; !complete; after++) {
      const disk = new FaultyDisk(1)
      const commits = new Commits(1)
      const store = await open(disk, Infinity)
      // Two failed compactions leave three journal files.
      const create = disk.create.bind(disk)
      disk.create = noSpace
      for (let i = 0; i < 3; i++) {
        if (i > 0) await store.compact()
        await commits.round(store, ['p1', 'p2'])
      }
      disk.create = create
      expect(await disk.list('/var/data/journal')).toHaveLength(3)
      const at = disk.operations + after
      disk.fault = { at, kind: 'crash' }
      await store.compact()
      complete = disk.operations < at
      for (let seed = 0; seed < 30; seed++) {
        const next = await open(disk.after(seededRandom(seed)))
        expect([after, seed, await compare(next, commits.branch(1))]).toEqual([after, seed, []])
        await next.close()
      }
    }
  })

  test('a torn journal file is recovered when an empty file follows it', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const disk = new FaultyDisk(seed)
      const commits = new Commits(seed)
      const store = await open(disk, Infinity)
      await commits.commit(store, 'p1')
      disk.fault = { at: disk.operations + 1, kind: 'EIO', permanent: false, effect: 'full' }
      await store.compact()
      expect(await disk.list('/var/data/journal')).toHaveLength(2)
      expect((await commits.commit(store, 'p1')).outcome).toBe('done')
      await disk.syncFolder('/var/data/journal')
      // The crash comes after the write of the frame and before its sync.
      disk.fault = { at: disk.operations + 2, kind: 'crash' }
      await commits.commit(store, 'p1')
      const next = await open(disk.after(seededRandom(seed)))
      expect(await compare(next, commits)).toEqual([])
      await next.close()
    }
  })

  test('a compaction that succeeds includes the partitions of one that failed before', async () => {
    const disk = new FaultyDisk(1)
    const commits = new Commits(1)
    const store = await open(disk, Infinity)
    await commits.round(store, ['p1', 'p2'])
    const create = disk.create.bind(disk)
    disk.create = noSpace
    await store.compact()
    disk.create = create
    await commits.round(store, ['p3'])
    await store.compact()
    await store.close()
    const next = await open(disk)
    expect([await compare(next, commits), await journalSize(disk)]).toEqual([[], 0])
  })
})
