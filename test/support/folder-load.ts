import { expect } from 'vitest'
import { setTimeout as delay } from 'node:timers/promises'
import { createBlobs } from '../../src/store/blobs.ts'
import { createFsBlobDriver } from '../../src/store/fs/blob-driver.ts'
import { lockFolder } from '../../src/store/fs/lock.ts'
import { compare, type Commits } from './commits.ts'
import { openFolder } from './folders.ts'
import type { StoreProcess } from './store-process.ts'

/** Size of each blob, in bytes. */
const BLOB_SIZE = 300_000
/** The partitions that clients commit to, one commit at a time each. */
export const CLIENTS = ['p1', 'p1', 'p2', 'p3']

/**
 * Lets several clients use a process, and ends it after it has acknowledged something to each of them.
 * @param blobIds gets the ids of the blobs that the process acknowledged
 * @param end ends the process
 * @returns the number of acknowledged commits
 */
export async function endUnderLoad(holder: StoreProcess, commits: Commits, blobIds: string[], end: () => Promise<void>): Promise<number> {
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
  await end()
  await Promise.all(clients.map((client) => client.end))
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

/**
 * Opens a folder, and compares it with what was acknowledged.
 * @param continues whether the next process continues with this folder; it then gets some commits first
 * @returns the violations
 */
export async function verifyFolder(
  path: string,
  commits: Commits,
  blobIds: readonly string[],
  { continues = true } = {},
): Promise<string[]> {
  const lock = await lockFolder(path, () => undefined)
  try {
    const store = await openFolder(path, { checkpointAt: 20_000 })
    const violations = await compare(store, commits)
    // These commits are verified after the next kill.
    if (continues) await commits.round(store, ['p1', 'p2'])
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
    try {
      for await (const part of blobs.read(id, 0, BLOB_SIZE)) parts.push(part)
    } catch (error) {
      violations.push(`the bytes of ${id} cannot be read: ${String(error)}`)
      continue
    }
    if (!Buffer.concat(parts).equals(Buffer.alloc(BLOB_SIZE, id))) violations.push(`the bytes of ${id} differ from what was written`)
  }
  return violations
}
