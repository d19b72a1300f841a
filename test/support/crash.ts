import type { Disk } from '../../src/store/fs/disk.ts'
import { openFsStore } from '../../src/store/fs/open.ts'
import type { FsStore } from '../../src/store/fs/store.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { compare, Commits } from './commits.ts'
import { FaultyDisk, type Fault } from './faulty-disk.ts'
import { quiet } from './log.ts'
import { dice } from './random.ts'

/** A planted bug: what the driver would do if it treated its disk otherwise. */
export type Bug = (disk: Disk) => Disk
const none: Bug = (disk) => disk

/** What a suite found, and how much it looked at. */
export interface Findings {
  readonly violations: string[]
  operations: number
  points: number
  images: number
}

export interface Search {
  readonly bug?: Bug
  readonly seed?: number
  /** every so many operations only */
  readonly every?: number
  /** mixed images at each point, besides "nothing kept" and "all kept" */
  readonly mixed?: number
  /** ends at the first violation */
  readonly first?: boolean
}

const open = (disk: Disk): Promise<FsStore> => openFsStore('/var/data', { log: quiet, disk, compactAt: 3000 })

/** What is done to a store: commits in three partitions, through many checkpoints, and closing and opening again. */
async function story(disk: FaultyDisk, commits: Commits, bug: Bug): Promise<void> {
  let store = await open(bug(disk))
  for (let i = 0; i < 4; i++) await commits.round(store, ['p1', 'p2', 'p3'])
  await store.close()
  store = await open(bug(disk))
  for (let i = 0; i < 3; i++) await commits.round(store, i === 0 ? ['p2'] : ['p1', 'p3'])
  await Promise.all([store.compact(), commits.round(store, ['p3', 'p1'])])
  await commits.round(store, ['p1', 'p2'])
  await store.compact()
  await commits.round(store, ['p4', 'p2'])
  await store.close()
}

/** Kills the story after every operation, and looks at every way in which the disk may be found then. */
export async function findCrashes({ bug = none, seed = 1, every = 1, mixed = 4, first = false }: Search = {}): Promise<Findings> {
  const found: Findings = { violations: [], operations: await operationsOf(story, seed, bug), points: 0, images: 0 }
  for (let at = 1; at <= found.operations + 1; at += every) {
    const disk = new FaultyDisk(seed)
    const commits = new Commits(seed)
    disk.fault = { at, kind: 'dies' }
    await story(disk, commits, bug).catch(onlyOf(disk, commits))
    disk.fault = undefined
    const losses = ['nothing kept', ...Array.from({ length: mixed }, (_, i) => dice(at * 100 + i)), 'all kept'] as const
    for (const [i, loss] of losses.entries()) {
      // "All kept" is a process that was killed while the machine went on: what it did not sync still is not.
      const left = loss === 'all kept' ? disk : disk.after(loss)
      const about = `killed at operation ${at}, ${typeof loss === 'string' ? loss : `mixed ${i}`}`
      found.violations.push(...(await survive(left, commits.branch(i), bug, at * 7 + i)).map((text) => `${about}: ${text}`))
      found.images++
    }
    found.points++
    if (first && found.violations.length > 0) break
  }
  return found
}

/** Lets every operation fail in every way, and looks at what was said about it: at once, and at the end. */
export async function findFalseAnswers({ bug = none, seed = 1, every = 1, first = false }: Search = {}): Promise<Findings> {
  const found: Findings = { violations: [], operations: await operationsOf(failing, seed, bug), points: 0, images: 0 }
  for (let at = 1; at <= found.operations; at += every) {
    for (const fault of faultsAt(at)) {
      const disk = new FaultyDisk(seed)
      const commits = new Commits(seed)
      disk.fault = fault
      const left: (readonly [when: string, disk: FaultyDisk, commits: Commits])[] = []
      const look = (when: string, ...disks: readonly FaultyDisk[]) =>
        left.push(...disks.map((disk, i) => [when, disk, commits.branch(i)] as const))
      await failing(disk, commits, bug, () => look('after the failure', disk.after('nothing kept'), disk.after(dice(at))))
      look('at the end', disk.after('nothing kept'), disk)
      for (const [i, [when, image, branch]] of left.entries()) {
        image.fault = undefined
        const about = `${fault.kind} ${fault.forever ? 'from' : 'at'} operation ${at}, ${fault.done} of it done, ${when}`
        found.violations.push(...(await survive(image, branch, bug, at * 7 + i)).map((text) => `${about}: ${text}`))
        found.images++
      }
      found.points++
    }
    if (first && found.violations.length > 0) break
  }
  return found
}

function faultsAt(at: number): Exclude<Fault, { kind: 'dies' }>[] {
  return [
    { at, kind: 'EIO', forever: false, done: 'nothing' },
    { at, kind: 'EIO', forever: false, done: 'all' },
    { at, kind: 'EIO', forever: true, done: 'part' },
    { at, kind: 'ENOSPC', forever: false, done: 'part' },
    { at, kind: 'ENOSPC', forever: true, done: 'part' },
  ]
}

/** The story on a disk that fails. @param failed called once the first commits have been answered after it did */
async function failing(disk: FaultyDisk, commits: Commits, bug: Bug, failed: () => unknown = () => undefined): Promise<void> {
  let told = false
  let store = await open(bug(disk)).catch(onlyOf(disk, commits))
  for (const [i, partitions] of [
    ['p1', 'p2', 'p3'],
    ['p1'],
    ['p3', 'p1'],
    ['p2', 'p1'],
    ['p2', 'p3'],
    ['p1', 'p2'],
    ['p3'],
    ['p4'],
  ].entries()) {
    if (store === undefined) return
    const stopped: boolean = i < 4 && isSync(disk.failed)
    const tried = commits.attempts.length
    await Promise.all([(i === 2 || i === 5) && store.compact(), commits.round(store, partitions)])
    const done = commits.attempts.slice(tried).find(({ outcome }) => outcome === 'done')
    if (stopped && done !== undefined) commits.faults.push(`${done.change.revision} was written after a sync had failed`)
    if (disk.failed !== undefined && !told) {
      told = true
      failed()
      commits.faults.push(...(await shownTooEarly(store, commits)))
    }
    if (i !== 3) continue
    await store.close().catch(onlyOf(disk, commits))
    store = await open(bug(disk)).catch(onlyOf(disk, commits))
  }
  await store?.close().catch(onlyOf(disk, commits))
}

/** Nothing is shown of which nobody can say whether it was kept. */
async function shownTooEarly(store: FsStore, commits: Commits): Promise<string[]> {
  const seen = commits.branch(0)
  const unsure = seen.attempts.filter(({ outcome }) => outcome === 'unknown')
  const violations = await compare(store, seen).catch((error: unknown) => (error instanceof StorageUnavailable ? [] : [String(error)]))
  return [
    ...violations,
    ...unsure.flatMap(({ outcome, change }) => (outcome === 'done' ? `${change.revision} is shown, and may be lost` : [])),
  ]
}

const isSync = (operation: string | undefined) => operation === 'sync' || operation === 'syncFolder'

/** Opens what was left, compares it, loses power, goes on, and compares again. */
async function survive(disk: FaultyDisk, commits: Commits, bug: Bug, seed: number): Promise<string[]> {
  const violations: string[] = []
  const look = async (on: FaultyDisk, when: string, work?: (store: FsStore) => Promise<unknown>): Promise<void> => {
    try {
      const store = await open(bug(on))
      violations.push(...(await compare(store, commits)).map((text) => `${when}: ${text}`))
      await work?.(store)
      await store.close()
    } catch (error) {
      violations.push(`${when}: it threw ${String(error)}`)
    }
  }
  // Killed once more, while it mends what it finds or goes on; and then the power may go too.
  disk.fault = { at: disk.operations + 1 + dice(seed)(seed % 2 === 0 ? 12 : 80), kind: 'dies' }
  await busy(disk, commits, bug).catch(onlyOf(disk, commits))
  disk.fault = undefined
  disk = seed % 3 === 0 ? disk : disk.after(dice(seed))
  await look(disk, 'at the next start')
  // What was shown then was shown to somebody.
  await look(disk.after('nothing kept'), 'shown, then lost')
  await look(disk, 'at work', (store) => commits.round(store, ['p1', 'p2', 'p4']))
  await look(disk.after('nothing kept'), 'after work')
  violations.push(...commits.faults)
  return violations
}

/** A start, and work through some checkpoints. */
async function busy(disk: FaultyDisk, commits: Commits, bug: Bug): Promise<void> {
  const store = await open(bug(disk))
  for (let i = 0; i < 4; i++) await commits.round(store, ['p1', 'p2', 'p4'])
  await store.close()
}

/** The story ends where its disk does; anything else that it throws is a fault. */
function onlyOf(disk: FaultyDisk, commits: Commits): (error: unknown) => undefined {
  return (error) => {
    if (disk.operations < (disk.fault?.at ?? Infinity) || !/EIO|ENOSPC|closed|cannot|could not|disk/.test(String(error)))
      commits.faults.push(`it threw ${String(error)}`)
  }
}

async function operationsOf(work: typeof story | typeof failing, seed: number, bug: Bug): Promise<number> {
  const disk = new FaultyDisk(seed)
  await work(disk, new Commits(seed), bug)
  return disk.operations
}
