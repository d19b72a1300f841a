import { describe, expect, test } from 'vitest'
import { openFsStore } from '../../src/store/fs/store.ts'
import { Commits, compare } from '../support/commits.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { quiet } from '../support/log.ts'
import { seededRandom } from '../support/random.ts'

const open = (disk: FaultyDisk, compactAt = 3000) => openFsStore('/var/data', { log: quiet, disk, compactAt })
const journalSize = async (disk: FaultyDisk) => {
  const names = await disk.list('/var/data/journal')
  const files = await Promise.all(names.map((name) => disk.read(`/var/data/journal/${name}`)))
  return files.reduce((sum, bytes) => sum + bytes!.byteLength, 0)
}
const noSpace = () => Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))

describe('compaction of the journal across restarts', () => {
  test('the journal does not grow without limit when restarts are frequent', async () => {
    const disk = new FaultyDisk(1)
    const commits = new Commits(1)
    for (let start = 0; start < 20; start++) {
      const store = await open(disk)
      await commits.commit(store, 'p1')
      await store.close()
    }
    expect(await journalSize(disk)).toBeLessThan(4000)
  })

  test('a large journal is compacted at the start, without waiting for a commit', async () => {
    const disk = new FaultyDisk(1)
    const commits = new Commits(1)
    const withoutCompaction = await open(disk, Infinity)
    for (let i = 0; i < 10; i++) await commits.round(withoutCompaction, ['p1', 'p2'])
    await withoutCompaction.close()
    const store = await open(disk)
    await store.close()
    expect(await journalSize(disk)).toBe(0)
    const next = await open(disk)
    expect(await compare(next, commits)).toEqual([])
    await next.close()
  })

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
    await next.close()
  })
})
