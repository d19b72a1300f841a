import { describe, expect, test } from 'vitest'
import { openFsStore } from '../../src/store/fs/open.ts'
import type { FsStore } from '../../src/store/fs/store.ts'
import { StorageUnavailable, type Change } from '../../src/store/port.ts'
import { Commits, compare } from '../support/commits.ts'
import { dice } from '../support/random.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { quiet } from '../support/log.ts'

const open = (disk: FaultyDisk, compactAt = 3000) => openFsStore('/var/data', { log: quiet, disk, compactAt })
const relyingOn = (expected: string | null): Change => ({
  revision: 'mine',
  expect: { records: new Map([['latest:1', expected]]), indexes: new Map(), capacity: new Map() },
  put: new Map(),
  remove: new Set(),
  indexes: new Map(),
})

/** A disk so slow that of two who write one always waits while the other is written. */
function slowDisk(): FaultyDisk {
  const disk = new FaultyDisk(1)
  disk.turns = 100
  return disk
}

async function writing(store: FsStore, commits: Commits): Promise<{ stop: () => Promise<unknown> }> {
  let going = true
  await commits.commit(store, 'p1')
  const one = async (): Promise<void> => {
    // Ends by itself where nothing else comes to its turn.
    for (let i = 0; going && i < 500; i++) await commits.commit(store, 'p1')
  }
  const first = one()
  for (let turns = 0; turns < 20; turns++) await undefined
  const both = Promise.all([first, one()])
  return { stop: async () => ((going = false), both) }
}

describe('the journal', () => {
  test('is compacted while others write all the time', async () => {
    const commits = new Commits(1)
    const store = await open(slowDisk(), Infinity)
    const load = await writing(store, commits)
    await store.compact()
    expect(commits.attempts.length).toBeLessThan(100)
    await load.stop()
    await store.close()
  })

  test('lets a conflict be answered while others write all the time', async () => {
    const commits = new Commits(1)
    const store = await open(slowDisk(), Infinity)
    const load = await writing(store, commits)
    expect(await store.commit('p1', relyingOn('something else'))).toBe('conflict')
    expect(commits.attempts.length).toBeLessThan(100)
    await load.stop()
    await store.close()
  })

  test('shows whoever met a conflict what it was about, also while a new file is begun', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const store = await open(new FaultyDisk(seed), Infinity)
      const commits = new Commits(seed)
      await commits.commit(store, 'p1')
      const compacted = store.compact()
      const first = commits.commit(store, 'p1')
      expect(await store.commit('p1', relyingOn(commits.attempts[0]!.change.revision))).toBe('conflict')
      expect(await store.commit('p1', relyingOn(commits.attempts[1]!.change.revision))).toBe('done')
      await Promise.all([compacted, first])
      await store.close()
    }
  })

  test('throws Unavailable and nothing else where a conflict meets a disk that fails', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const disk = new FaultyDisk(seed)
      const store = await open(disk, Infinity)
      const commits = new Commits(seed)
      await commits.commit(store, 'p1')
      disk.fault = { at: disk.operations + 1, kind: 'EIO', forever: true, done: 'nothing' }
      const compacted = store.compact()
      const first = commits.commit(store, 'p1')
      expect(await store.commit('p1', relyingOn('something else')).catch((error: unknown) => error)).toSatisfy(
        (outcome) => outcome === 'conflict' || outcome instanceof StorageUnavailable,
      )
      await Promise.all([compacted, first])
      expect(commits.faults).toEqual([])
    }
  })

  test('is left alone once the store is closed, whatever was going on', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const disk = new FaultyDisk(seed)
      const store = await open(disk, 100)
      const commits = new Commits(seed)
      const round = commits.round(store, ['p1', 'p2'])
      for (let turns = dice(seed)(40); turns > 0; turns--) await undefined
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

  test('that stopped is told by ready()', async () => {
    const disk = new FaultyDisk(1)
    const store = await open(disk)
    await store.ready()
    // A write, and its sync.
    disk.fault = { at: disk.operations + 3, kind: 'EIO', forever: false, done: 'nothing' }
    const commits = new Commits(1)
    await commits.commit(store, 'p1')
    expect([disk.failed, commits.attempts[0]!.outcome]).toEqual(['sync', 'unknown'])
    await expect(store.ready()).rejects.toThrow(StorageUnavailable)
    await store.close()
  })
})
