import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createBlobs } from '../../src/store/blobs.ts'
import { durableDriver } from '../../src/store/fs/blob-driver.ts'
import { lockFolder } from '../../src/store/fs/lock.ts'
import { openFsStore } from '../../src/store/fs/open.ts'
import { Commits, compare } from '../support/commits.ts'
import { effort } from '../support/effort.ts'
import { quiet } from '../support/log.ts'
import { StoreProcess } from '../support/store-process.ts'

const PIECES = 300_000

/** Kills a process under load again and again, and looks each time at what it left. */
async function killings(moments: number, planted = ''): Promise<{ violations: string[]; acknowledged: number; bytes: number }> {
  const found = { violations: [] as string[], acknowledged: 0, bytes: 0 }
  for (let moment = 0; moment < moments;) {
    const path = await mkdtemp(join(tmpdir(), 'lanekeeper-kill-'))
    const commits = new Commits(moment)
    const files: string[] = []
    // Some on the same folder: what one leaves the next one finds.
    for (let i = 0; i < 5 && moment < moments; i++, moment++) {
      await oneKilling(path, planted, commits, files)
      found.violations.push(...(await lookAt(path, commits, files)).map((text) => `moment ${moment}: ${text}`))
    }
    found.acknowledged += commits.attempts.filter(({ outcome }) => outcome === 'done').length
    found.bytes += files.length
    await rm(path, { recursive: true })
  }
  return found
}

async function oneKilling(path: string, planted: string, commits: Commits, files: string[]): Promise<void> {
  const holder = new StoreProcess(path, planted)
  expect(await holder.started).toBeUndefined()
  const writers = ['p1', 'p1', 'p2', 'p3'].map(async (partition) => {
    while (!holder.gone) await commits.commit(holder, partition)
  })
  const uploads = async (): Promise<void> => {
    while (!holder.gone) {
      const id = `file${files.length}of${commits.attempts.length}`
      const outcome = await holder.writeBytes(id, PIECES).catch(() => undefined)
      if (outcome === 'done') files.push(id)
    }
  }
  const uploading = uploads()
  await after(Math.random() * 100)
  await holder.kill()
  await Promise.all([...writers, uploading])
}

async function lookAt(path: string, commits: Commits, files: readonly string[]): Promise<string[]> {
  const lock = await lockFolder(path, () => undefined)
  try {
    const store = await openFsStore(path, { log: quiet, compactAt: 20_000 })
    const violations = await compare(store, commits)
    // What it goes on with is checked the next time.
    await commits.round(store, ['p1', 'p2'])
    await store.close()
    return [...violations, ...(await missing(path, files)), ...commits.faults]
  } catch (error) {
    return [`it threw ${String(error)}`]
  } finally {
    await lock.release()
  }
}

async function missing(path: string, files: readonly string[]): Promise<string[]> {
  const blobs = createBlobs(durableDriver(`${path}/bytes`))
  const violations: string[] = []
  for (const id of files) {
    const parts: Uint8Array[] = []
    for await (const part of blobs.read(id, 0, PIECES)) parts.push(part)
    if (!Buffer.concat(parts).equals(Buffer.alloc(PIECES, id))) violations.push(`the bytes of ${id} are not what was written`)
  }
  return violations
}

test('killed at any moment under load, it loses nothing that it acknowledged', async () => {
  const moments = effort(20)
  const { violations, acknowledged, bytes } = await killings(moments)
  expect(violations).toEqual([])
  console.log(`killed at ${moments} moments: ${acknowledged} commits and ${bytes} files were there`)
}, 3_600_000)

test('the same finds a planted bug: what was written still waits in the process', async () => {
  for (let tries = 0; tries < 10; tries++) if ((await killings(2, 'lazy')).violations.length > 0) return
  expect.unreachable('it was not found')
})
