import { describe, expect, test } from 'vitest'
import { openFsStore, type FsStore } from '../../src/store/fs/store.ts'
import { StorageUnavailable, type Change } from '../../src/store/port.ts'
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

describe('the journal of the fs driver', () => {
  test('the journal is compacted under constant load', async () => {
    const commits = new Commits(1)
    const store = await open(slowDisk(), Infinity)
    const load = await startLoad(store, commits)
    await store.compact()
    expect(commits.attempts.length).toBeLessThan(100)
    await load.stop()
    await store.close()
  })

  test('a conflict is reported under constant load', async () => {
    const commits = new Commits(1)
    const store = await open(slowDisk(), Infinity)
    const load = await startLoad(store, commits)
    expect(await store.commit('p1', changeExpecting('another revision'))).toBe('conflict')
    expect(commits.attempts.length).toBeLessThan(100)
    await load.stop()
    await store.close()
  })

  test('after a conflict the conflicting change is visible, also during a rotation of the journal', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const store = await open(new FaultyDisk(seed), Infinity)
      const commits = new Commits(seed)
      await commits.commit(store, 'p1')
      const compacted = store.compact()
      const first = commits.commit(store, 'p1')
      expect(await store.commit('p1', changeExpecting(commits.attempts[0]!.change.revision))).toBe('conflict')
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

  test('ready() rejects after a sync of the journal has failed', async () => {
    const disk = new FaultyDisk(1)
    const store = await open(disk)
    await store.ready()
    // The commit reads the checkpoint, looks for the journal, writes a frame and syncs it.
    disk.fault = { at: disk.operations + 4, kind: 'EIO', permanent: false, effect: 'none' }
    const commits = new Commits(1)
    await commits.commit(store, 'p1')
    expect([disk.failed, commits.attempts[0]!.outcome]).toEqual(['sync', 'unknown'])
    await expect(store.ready()).rejects.toThrow(StorageUnavailable)
    await store.close()
  })
})
