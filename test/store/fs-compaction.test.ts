import { describe, expect, test } from 'vitest'
import { openFsStore } from '../../src/store/fs/open.ts'
import { Commits, compare } from '../support/commits.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { quiet } from '../support/log.ts'
import { dice } from '../support/random.ts'

const open = (disk: FaultyDisk, compactAt = 3000) => openFsStore('/var/data', { log: quiet, disk, compactAt })
const lengthOf = async (disk: FaultyDisk) => {
  const names = await disk.list('/var/data/journal')
  const files = await Promise.all(names.map((name) => disk.read(`/var/data/journal/${name}`)))
  return files.reduce((sum, bytes) => sum + bytes!.byteLength, 0)
}

describe('the journal, from start to start,', () => {
  test('does not grow by starts that follow each other quickly', async () => {
    const disk = new FaultyDisk(1)
    const commits = new Commits(1)
    for (let start = 0; start < 20; start++) {
      const store = await open(disk)
      await commits.commit(store, 'p1')
      await store.close()
    }
    expect(await lengthOf(disk)).toBeLessThan(4000)
  })

  test('that is found long is compacted without waiting for a write', async () => {
    const disk = new FaultyDisk(1)
    const commits = new Commits(1)
    const long = await open(disk, Infinity)
    for (let i = 0; i < 10; i++) await commits.round(long, ['p1', 'p2'])
    await long.close()
    const store = await open(disk)
    await store.close()
    expect(await lengthOf(disk)).toBe(0)
    const next = await open(disk)
    expect(await compare(next, commits)).toEqual([])
    await next.close()
  })

  test('that is gone, where there are checkpoints of it, is missed', async () => {
    const disk = new FaultyDisk(1)
    const commits = new Commits(1)
    const store = await open(disk)
    await commits.round(store, ['p1'])
    await store.compact()
    await store.close()
    for (const name of await disk.list('/var/data/journal')) await disk.remove(`/var/data/journal/${name}`)
    const next = await open(disk)
    const commit = await new Commits(2).commit(next, 'p1')
    expect(commit.outcome).toBe('not')
    await expect(compare(next, commits)).rejects.toMatchObject({
      cause: { name: 'Damaged', message: expect.stringContaining('the journal ends') },
    })
    await next.close()
  })

  test('is let go of file by file: the first ones never come back alone', async () => {
    for (let after = 1, over = false; !over; after++) {
      const disk = new FaultyDisk(1)
      const commits = new Commits(1)
      const store = await open(disk, Infinity)
      // Two that fail leave three files.
      const create = disk.create.bind(disk)
      disk.create = () => Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))
      for (let i = 0; i < 3; i++) {
        if (i > 0) await store.compact()
        await commits.round(store, ['p1', 'p2'])
      }
      disk.create = create
      expect(await disk.list('/var/data/journal')).toHaveLength(3)
      const at = disk.operations + after
      disk.fault = { at, kind: 'dies' }
      await store.compact()
      over = disk.operations < at
      for (let seed = 0; seed < 30; seed++) {
        const next = await open(disk.after(dice(seed)))
        expect([after, seed, await compare(next, commits.branch(1))]).toEqual([after, seed, []])
        await next.close()
      }
    }
  })

  test('may have a file behind it that could not be begun, and be torn before that', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const disk = new FaultyDisk(seed)
      const commits = new Commits(seed)
      const store = await open(disk, Infinity)
      await commits.commit(store, 'p1')
      disk.fault = { at: disk.operations + 1, kind: 'EIO', forever: false, done: 'all' }
      await store.compact()
      expect(await disk.list('/var/data/journal')).toHaveLength(2)
      expect((await commits.commit(store, 'p1')).outcome).toBe('done')
      await disk.syncFolder('/var/data/journal')
      // Its write is begun, and not its sync.
      disk.fault = { at: disk.operations + 2, kind: 'dies' }
      await commits.commit(store, 'p1')
      const next = await open(disk.after(dice(seed)))
      expect(await compare(next, commits)).toEqual([])
      await next.close()
    }
  })

  test('forgets nothing of a compaction that failed when the next one does not', async () => {
    const disk = new FaultyDisk(1)
    const commits = new Commits(1)
    const store = await open(disk, Infinity)
    await commits.round(store, ['p1', 'p2'])
    const create = disk.create.bind(disk)
    disk.create = () => Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))
    await store.compact()
    disk.create = create
    await commits.round(store, ['p3'])
    await store.compact()
    await store.close()
    const next = await open(disk)
    expect([await compare(next, commits), await lengthOf(disk)]).toEqual([[], 0])
    await next.close()
  })
})
