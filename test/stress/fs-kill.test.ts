import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Commits } from '../support/commits.ts'
import { effort } from '../support/effort.ts'
import { CLIENTS, endUnderLoad, verifyFolder } from '../support/folder-load.ts'
import { StoreProcess } from '../support/store-process.ts'

/** Kills per folder: each process starts with the data that the previous one left. */
const KILLS_PER_FOLDER = 5

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
      const holder = new StoreProcess(path, bug)
      findings.commits += await endUnderLoad(holder, commits, blobIds, () => holder.kill())
      findings.violations.push(...(await verifyFolder(path, commits, blobIds)).map((text) => `kill ${kill}: ${text}`))
    }
    findings.blobs += blobIds.length
    await rm(path, { recursive: true })
  }
  return findings
}

test('a process that is killed under load loses no acknowledged commit or blob', async () => {
  const kills = effort(20)
  const { violations, commits, blobs } = await killRepeatedly(kills)
  expect(violations).toEqual([])
  // Each process acknowledges at least one commit to each client, and one blob, before it is killed.
  expect(commits).toBeGreaterThanOrEqual(kills * CLIENTS.length)
  expect(blobs).toBeGreaterThanOrEqual(kills)
  console.log(`${kills} kills: ${commits} commits and ${blobs} blobs are intact`)
})

test('the kill test finds the seeded bug: writes are delayed in the process', async () => {
  for (let attempt = 0; attempt < 10; attempt++) if ((await killRepeatedly(2, 'lazy')).violations.length > 0) return
  expect.unreachable('the seeded bug was not found')
})
