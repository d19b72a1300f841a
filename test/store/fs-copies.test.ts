import { expect, test } from 'vitest'
import { StorageDamaged } from '../../src/store/fs/journal.ts'
import { openFsStore, type FsStore } from '../../src/store/fs/store.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { Commits, compare } from '../support/commits.ts'
import { effort } from '../support/effort.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { quiet } from '../support/log.ts'
import { seededRandom, type RandomInteger } from '../support/random.ts'

const PATH = '/var/data'
const PARTITIONS = ['p1', 'p2', 'p3']
const open = (disk: FaultyDisk) => openFsStore(PATH, { log: quiet, disk, compactAt: 3000 })

/** Copies the folder file by file, in any order and slowly, as a backup program does. */
async function copyFolder(disk: FaultyDisk, random: RandomInteger): Promise<FaultyDisk> {
  const copy = new FaultyDisk(1)
  await copy.makeFolder(PATH)
  const pause = [2, 10, 50, 300][random(4)]!
  const shuffled = (names: readonly string[]) =>
    names
      .map((name) => [random(1e6), name] as const)
      .toSorted()
      .map(([, name]) => name)
  const copyFile = async (path: string): Promise<void> => {
    for (let turns = random(pause); turns > 0; turns--) await undefined
    const bytes = await disk.read(path)
    if (bytes !== undefined) await (await copy.create(path)).write(bytes)
  }
  for (const name of shuffled(await disk.list(PATH))) {
    if (name.endsWith('.json')) {
      await copyFile(`${PATH}/${name}`)
      continue
    }
    await copy.makeFolder(`${PATH}/${name}`)
    for (const one of shuffled(await disk.list(`${PATH}/${name}`))) await copyFile(`${PATH}/${name}/${one}`)
  }
  return copy
}

/** What a copy is when it is opened: a refusal, or an empty list, or violations. */
async function openCopy(copy: FaultyDisk, commits: Commits): Promise<'refused' | string[]> {
  let store: FsStore
  try {
    store = await open(copy)
  } catch (error) {
    if (error instanceof StorageDamaged) return 'refused'
    throw error
  }
  // It may have any state that the folder had, so it is not known which commits it has.
  const unknown = new Commits(
    1,
    'copy',
    commits.attempts.map((attempt) => ({ ...attempt, outcome: 'unknown' as const })),
  )
  try {
    return await compare(store, unknown)
  } catch (error) {
    if (error instanceof StorageUnavailable && error.cause instanceof StorageDamaged) return 'refused'
    throw error
  } finally {
    await store.close()
  }
}

test('a copy of a folder in use, file by file, is refused, or has a state that the folder had', async () => {
  const outcomes = { refused: 0, opened: 0 }
  for (let seed = 1; seed <= effort(150); seed++) {
    const random = seededRandom(seed)
    const disk = new FaultyDisk(seed)
    const commits = new Commits(seed)
    const store = await open(disk)
    for (let i = 0; i < 3; i++) await commits.round(store, PARTITIONS)
    let copied = false
    const copying = copyFolder(disk, random).finally(() => (copied = true))
    while (!copied) {
      await commits.round(store, PARTITIONS.slice(random(3)))
      if (random(4) === 0) await store.compact()
    }
    await store.close()
    const outcome = await openCopy(await copying, commits)
    if (outcome === 'refused') outcomes.refused++
    else {
      expect([seed, outcome]).toEqual([seed, []])
      outcomes.opened++
    }
  }
  console.log(`copies: ${outcomes.refused} refused, ${outcomes.opened} opened`)
  expect(outcomes.refused).toBeGreaterThan(0)
  expect(outcomes.opened).toBeGreaterThan(0)
})
