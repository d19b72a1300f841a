import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createBlobs } from '../../src/store/blobs.ts'
import { createFsBlobDriver } from '../../src/store/fs/blob-driver.ts'
import { lockFolder } from '../../src/store/fs/lock.ts'
import { openFsStore } from '../../src/store/fs/store.ts'
import { Commits, compare } from '../support/commits.ts'
import { effort } from '../support/effort.ts'
import { quiet } from '../support/log.ts'
import { StoreProcess } from '../support/store-process.ts'

/** Size of each blob, in bytes. */
const BLOB_SIZE = 300_000
/** Kills per folder: each process starts with the data that the previous one left. */
const KILLS_PER_FOLDER = 5
/** The partitions that clients commit to, one commit at a time each. */
const CLIENTS = ['p1', 'p1', 'p2', 'p3']

interface Findings {
  violations: string[]
  /** number of commits that a process acknowledged before its kill */
  commits: number
  /** number of blobs that a process acknowledged before its kill */
  blobs: number
}

/** Kills a process under load repeatedly, and verifies its folder each time. */
async function killRepeatedly(kills: number, bug = ''): Promise<Findings> {
  const findings: Findings = { violations: [], commits: 0, blobs: 0 }
  for (let kill = 0; kill < kills;) {
    const path = await mkdtemp(join(tmpdir(), 'lanekeeper-kill-'))
    const commits = new Commits(kill)
    const blobIds: string[] = []
    for (let i = 0; i < KILLS_PER_FOLDER && kill < kills; i++, kill++) {
      findings.commits += await killUnderLoad(path, bug, commits, blobIds)
      findings.violations.push(...(await verifyFolder(path, commits, blobIds)).map((text) => `kill ${kill}: ${text}`))
    }
    findings.blobs += blobIds.length
    await rm(path, { recursive: true })
  }
  return findings
}

/**
 * Kills a process that several clients use, after it has acknowledged something to each of them.
 * @returns the number of acknowledged commits
 */
async function killUnderLoad(path: string, bug: string, commits: Commits, blobIds: string[]): Promise<number> {
  const holder = new StoreProcess(path, bug)
  expect(await holder.started).toBeUndefined()
  let acknowledged = 0
  const committing = CLIENTS.map((partition) =>
    repeat(holder, async () => {
      const { outcome } = await commits.commit(holder, partition)
      if (outcome === 'done') acknowledged++
      return outcome === 'done'
    }),
  )
  const writing = repeat(holder, async () => {
    const id = `file${blobIds.length}of${commits.attempts.length}`
    const outcome = await holder.writeBytes(id, BLOB_SIZE).catch(() => undefined)
    if (outcome === 'done') blobIds.push(id)
    return outcome === 'done'
  })
  const clients = [...committing, writing]
  await Promise.all(clients.map(({ first }) => first))
  await delay(Math.random() * 100)
  await holder.kill()
  await Promise.all(clients.map(({ end }) => end))
  return acknowledged
}

/** Repeats a piece of work until a process ends. `first` resolves after the first success, or at the end. */
function repeat(holder: StoreProcess, work: () => Promise<boolean>): { first: Promise<void>; end: Promise<void> } {
  let succeed: () => void
  const first = new Promise<void>((resolve) => (succeed = resolve))
  const loop = async (): Promise<void> => {
    while (!holder.ended) if (await work()) succeed()
    succeed()
  }
  return { first, end: loop() }
}

async function verifyFolder(path: string, commits: Commits, blobIds: readonly string[]): Promise<string[]> {
  const lock = await lockFolder(path, () => undefined)
  try {
    const store = await openFsStore(path, { log: quiet, compactAt: 20_000 })
    const violations = await compare(store, commits)
    // These commits are verified after the next kill.
    await commits.round(store, ['p1', 'p2'])
    await store.close()
    return [...violations, ...(await findDamagedBlobs(path, blobIds)), ...commits.violations]
  } catch (error) {
    return [`it threw ${String(error)}`]
  } finally {
    await lock.release()
  }
}

async function findDamagedBlobs(path: string, blobIds: readonly string[]): Promise<string[]> {
  const blobs = createBlobs(createFsBlobDriver(`${path}/bytes`))
  const violations: string[] = []
  for (const id of blobIds) {
    const parts: Uint8Array[] = []
    for await (const part of blobs.read(id, 0, BLOB_SIZE)) parts.push(part)
    if (!Buffer.concat(parts).equals(Buffer.alloc(BLOB_SIZE, id))) violations.push(`the bytes of ${id} differ from what was written`)
  }
  return violations
}

test('a process that is killed under load loses no acknowledged commit or blob', async () => {
  const kills = effort(20)
  const { violations, commits, blobs } = await killRepeatedly(kills)
  expect(violations).toEqual([])
  // Each process acknowledges at least one commit to each client, and one blob, before it is killed.
  expect(commits).toBeGreaterThanOrEqual(kills * CLIENTS.length)
  expect(blobs).toBeGreaterThanOrEqual(kills)
  console.log(`${kills} kills: ${commits} commits and ${blobs} blobs are intact`)
}, 3_600_000)

test('the kill test finds the seeded bug: writes are delayed in the process', async () => {
  for (let attempt = 0; attempt < 10; attempt++) if ((await killRepeatedly(2, 'lazy')).violations.length > 0) return
  expect.unreachable('the seeded bug was not found')
})
