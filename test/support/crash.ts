import type { Disk } from '../../src/store/fs/disk.ts'
import { openFsStore, type FsStore } from '../../src/store/fs/store.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { compare, Commits } from './commits.ts'
import { effort } from './effort.ts'
import { FaultyDisk, type Fault, type Operation } from './faulty-disk.ts'
import { quiet } from './log.ts'
import { seededRandom } from './random.ts'

/** A seeded bug: wraps the disk so that the driver behaves as if it used the disk incorrectly. */
export type Bug = (disk: Disk) => Disk
const noBug: Bug = (disk) => disk

/** The result of a search, and how much it covered. */
export interface Findings {
  readonly violations: string[]
  /** operations of the workload without a fault */
  operations: number
  /** injected faults */
  points: number
  /** disks that were verified after a fault */
  images: number
}

export interface SearchOptions {
  readonly bug?: Bug
  readonly seed?: number
  /** tests every n-th operation only */
  readonly every?: number
  /** injects failures into operations of this name only */
  readonly only?: Operation
  /** images with random losses per crash, besides "nothing kept" and "all kept" */
  readonly randomImages?: number
  /** stops at the first violation */
  readonly stopAtFirst?: boolean
  /** the memory for partitions, in bytes; with 0, each is released when it is not in use */
  readonly cacheBytes?: number
}

/** The options of a search that the opening of a folder needs. */
type Opening = Required<Pick<SearchOptions, 'bug' | 'cacheBytes'>>

const open = (disk: Disk, { bug, cacheBytes }: Opening): Promise<FsStore> =>
  openFsStore('/var/data', { log: quiet, disk: bug(disk), compactAt: 3000, reserveSize: 1000, cacheBytes })

/** Runs a search in which errors have no stack: it creates millions of them, and reads no stack. */
async function withoutStacks<T>(search: () => Promise<T>): Promise<T> {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return await search()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Turns of the microtask queue that a release of all partitions takes at most. */
const RELEASE_TURNS = 1000

/** Waits until nothing is in use and nothing is written any more, if partitions are released then. */
async function rest({ cacheBytes }: Opening): Promise<void> {
  if (cacheBytes === 0) for (let turns = 0; turns < RELEASE_TURNS; turns++) await undefined
}

/** Commits in several partitions, with many checkpoints, and with closing and reopening the store. */
async function workload(disk: FaultyDisk, commits: Commits, opening: Opening): Promise<void> {
  let store = await open(disk, opening)
  for (let i = 0; i < 4; i++) {
    await commits.round(store, ['p1', 'p2', 'p3'])
    if (i % 2 === 0) await rest(opening)
  }
  await store.close()
  store = await open(disk, opening)
  for (let i = 0; i < 3; i++) await commits.round(store, i === 0 ? ['p2'] : ['p1', 'p3'])
  await rest(opening)
  await Promise.all([store.compact(), commits.round(store, ['p3', 'p1'])])
  await commits.round(store, ['p1', 'p2'])
  await store.compact()
  await commits.round(store, ['p4', 'p2'])
  await rest(opening)
  await store.close()
}

/** Crashes the workload at every operation, and verifies several disk images that such a crash can leave. */
export const findCrashViolations = (options: SearchOptions = {}): Promise<Findings> => withoutStacks(() => searchCrashes(options))

async function searchCrashes({
  bug = noBug,
  seed = 1,
  every = 1,
  randomImages = 4,
  stopAtFirst = false,
  cacheBytes = 1e9,
}: SearchOptions): Promise<Findings> {
  const opening = { bug, cacheBytes }
  const findings: Findings = { violations: [], operations: (await operationsOf(workload, seed, opening)).length, points: 0, images: 0 }
  for (let at = 1; at <= findings.operations + 1; at += every) {
    const disk = new FaultyDisk(seed)
    const commits = new Commits(seed)
    disk.fault = { at, kind: 'crash' }
    await workload(disk, commits, opening).catch(ignoreDiskErrors(disk, commits))
    const losses = ['nothing kept', ...Array.from({ length: randomImages }, (_, i) => seededRandom(at * 100 + i)), 'all kept'] as const
    for (const [i, loss] of losses.entries()) {
      // "All kept": the process was killed and the machine went on. Unsynced data is still not synced.
      const image = loss === 'all kept' ? disk.afterKill() : disk.after(loss)
      const context = `crash at operation ${at}, ${typeof loss === 'string' ? loss : `random loss ${i}`}`
      const violations = await verifyRecovery(image, commits.branch(i), opening, at * 7 + i)
      findings.violations.push(...violations.map((text) => `${context}: ${text}`))
      findings.images++
    }
    findings.points++
    if (stopAtFirst && findings.violations.length > 0) break
  }
  return findings
}

/** Injects every kind of failure at every operation, and verifies the replies: right after the failure and at the end. */
export const findFailureViolations = (options: SearchOptions = {}): Promise<Findings> => withoutStacks(() => searchFailures(options))

async function searchFailures({
  bug = noBug,
  seed = 1,
  every = 1,
  only,
  stopAtFirst = false,
  cacheBytes = 1e9,
}: SearchOptions): Promise<Findings> {
  const opening = { bug, cacheBytes }
  const names = await operationsOf(failureWorkload, seed, opening)
  const findings: Findings = { violations: [], operations: names.length, points: 0, images: 0 }
  for (let at = 1; at <= findings.operations; at += every) {
    if (only !== undefined && names[at - 1] !== only) continue
    for (const fault of faultsAt(at)) {
      const disk = new FaultyDisk(seed)
      const commits = new Commits(seed)
      disk.fault = fault
      const images: (readonly [when: string, disk: FaultyDisk, commits: Commits])[] = []
      const capture = (when: string, ...disks: readonly FaultyDisk[]) =>
        images.push(...disks.map((image, i) => [when, image, commits.branch(i)] as const))
      await failureWorkload(disk, commits, opening, () =>
        capture('after the failure', disk.after('nothing kept'), disk.after(seededRandom(at))),
      )
      capture('at the end', disk.after('nothing kept'), disk.afterKill())
      for (const [i, [when, image, branch]] of images.entries()) {
        const context = `${fault.kind} ${fault.permanent ? 'from' : 'at'} operation ${at}, effect: ${fault.effect}, ${when}`
        const violations = await verifyRecovery(image, branch, opening, at * 7 + i)
        findings.violations.push(...violations.map((text) => `${context}: ${text}`))
        findings.images++
      }
      findings.points++
    }
    if (stopAtFirst && findings.violations.length > 0) break
  }
  return findings
}

function faultsAt(at: number): Exclude<Fault, { kind: 'crash' }>[] {
  return [
    { at, kind: 'EIO', permanent: false, effect: 'none' },
    { at, kind: 'EIO', permanent: false, effect: 'full' },
    { at, kind: 'EIO', permanent: true, effect: 'partial' },
    { at, kind: 'ENOSPC', permanent: false, effect: 'partial' },
    { at, kind: 'ENOSPC', permanent: true, effect: 'partial' },
  ]
}

/** The workload on a failing disk. @param onFailure is called after the first round of commits that met the failure */
async function failureWorkload(
  disk: FaultyDisk,
  commits: Commits,
  opening: Opening,
  onFailure: () => unknown = () => undefined,
): Promise<void> {
  let failureSeen = false
  let store = await open(disk, opening).catch(ignoreDiskErrors(disk, commits))
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
    const mustRefuse: boolean = i < 4 && isSync(disk.failed)
    const attemptsBefore = commits.attempts.length
    await Promise.all([(i === 2 || i === 5) && store.compact(), commits.round(store, partitions)])
    if (i % 2 === 1) await rest(opening)
    const done = commits.attempts.slice(attemptsBefore).find(({ outcome }) => outcome === 'done')
    if (mustRefuse && done !== undefined) commits.violations.push(`${done.change.revision} was written after a sync had failed`)
    if (disk.failed !== undefined && !failureSeen) {
      failureSeen = true
      onFailure()
      commits.violations.push(...(await findUndurableReads(store, commits)))
    }
    if (i !== 3) continue
    await store.close().catch(ignoreDiskErrors(disk, commits))
    store = await open(disk, opening).catch(ignoreDiskErrors(disk, commits))
  }
  await store?.close().catch(ignoreDiskErrors(disk, commits))
}

/** A change must not be readable while its outcome is unknown. */
async function findUndurableReads(store: FsStore, commits: Commits): Promise<string[]> {
  const branch = commits.branch(0)
  const unknown = branch.attempts.filter(({ outcome }) => outcome === 'unknown')
  const violations = await compare(store, branch).catch((error: unknown) => (error instanceof StorageUnavailable ? [] : [String(error)]))
  return [
    ...violations,
    ...unknown.flatMap(({ outcome, change }) => (outcome === 'done' ? `${change.revision} can be read and may still be lost` : [])),
  ]
}

const isSync = (operation: string | undefined) => operation === 'sync' || operation === 'syncFolder'

/** Opens a disk image, compares it with the commits, simulates power losses and further commits, and compares again. */
async function verifyRecovery(disk: FaultyDisk, commits: Commits, opening: Opening, seed: number): Promise<string[]> {
  const violations: string[] = []
  const verify = async (image: FaultyDisk, when: string, work?: (store: FsStore) => Promise<unknown>): Promise<void> => {
    try {
      const store = await open(image, opening)
      violations.push(...(await compare(store, commits)).map((text) => `${when}: ${text}`))
      await work?.(store)
      await store.close()
    } catch (error) {
      violations.push(`${when}: it threw ${String(error)}`)
    }
  }
  // By default, two of five images crash a second time, and in a long run all of them.
  if (seed % 5 >= 2 && effort(1) === 1) {
    await verify(disk, 'at the next start')
    await verify(disk.after('nothing kept'), 'after a power loss')
    violations.push(...commits.violations)
    return violations
  }
  // A second crash during recovery or the work after it, sometimes with a power loss.
  disk.fault = { at: disk.operations + 1 + seededRandom(seed)(seed % 2 === 0 ? 12 : 80), kind: 'crash' }
  await restartWorkload(disk, commits, opening).catch(ignoreDiskErrors(disk, commits))
  const image = seed % 3 === 0 ? disk.afterKill() : disk.after(seededRandom(seed))
  await verify(image, 'at the next start')
  // What could be read at that start must survive a power loss.
  await verify(image.after('nothing kept'), 'after a power loss')
  await verify(image, 'during further commits', (store) => commits.round(store, ['p1', 'p2', 'p4']))
  await verify(image.after('nothing kept'), 'after further commits and a power loss')
  violations.push(...commits.violations)
  return violations
}

/** A start, and commits that lead to several checkpoints. */
async function restartWorkload(disk: FaultyDisk, commits: Commits, opening: Opening): Promise<void> {
  const store = await open(disk, opening)
  for (let i = 0; i < 4; i++) {
    await commits.round(store, ['p1', 'p2', 'p4'])
    if (i === 1) await rest(opening)
  }
  await store.close()
}

/** Ignores an error that follows from the injected fault. Any other error is a violation. */
function ignoreDiskErrors(disk: FaultyDisk, commits: Commits): (error: unknown) => undefined {
  return (error) => {
    if (disk.operations < (disk.fault?.at ?? Infinity) || !/EIO|ENOSPC|closed|cannot|could not|disk/.test(String(error)))
      commits.violations.push(`it threw ${String(error)}`)
  }
}

async function operationsOf(work: typeof workload | typeof failureWorkload, seed: number, opening: Opening): Promise<readonly Operation[]> {
  const disk = new FaultyDisk(seed)
  await work(disk, new Commits(seed), opening)
  return disk.names
}
