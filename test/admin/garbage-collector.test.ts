import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { GarbageCollector } from '../../src/admin/garbage-collection.ts'
import { createWorkspace } from '../../src/admin/workspaces.ts'
import { newId, systemRandom } from '../../src/model/ids.ts'
import { timestamp } from '../../src/model/time.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import { openStorage, type StorageHandle } from '../../src/store/open.ts'
import { keys } from '../../src/store/keys.ts'
import { transact } from '../../src/store/transact.ts'
import { captureLog, quiet } from '../support/log.ts'
import { newFolder } from '../support/run.ts'

const HOUR = 3_600_000
/** Workspaces where nothing is due, and one where something is. */
const IDLE = 20

describe('the garbage collector on a folder with many workspaces', () => {
  let path: string
  let storage: StorageHandle
  let now = Date.now()
  let due: string
  const open = async () => {
    storage = await openStorage(`fs:${path}`, { log: quiet, derived: createDerivations() })
  }
  const deps = (): AdminDeps => ({ store: storage.store, blobs: storage.blobs, clock: () => now, random: systemRandom })
  /** Leaves a tombstone that is due after some time. */
  const leave = (workspaceId: string, after: number) =>
    transact(storage.store, workspaceId, systemRandom, async (tx) => {
      const id = newId('tombstone', systemRandom)
      tx.create(keys.tombstone(id), { id, kind: 'blob', target: newId('blob', systemRandom), not_before: timestamp(() => now + after) })
    })
  beforeEach(async () => {
    path = newFolder()
    await open()
    due = (await createWorkspace(deps(), 'Due')).id
    await leave(due, HOUR)
    for (let i = 0; i < IDLE; i++) {
      const { id } = await createWorkspace(deps(), `Idle ${i}`)
      // Much later, or never.
      if (i % 2 === 0) await leave(id, 1000 * HOUR)
    }
    await storage.close()
    await open()
  })
  afterEach(() => storage.close())
  const tombstonesOf = async (workspaceId: string) => {
    const found: string[] = []
    for await (const batch of storage.store.dump(workspaceId))
      found.push(...batch.map(([key]) => key).filter((key) => key.startsWith('tombstone:')))
    return found.length
  }
  const state = async () => {
    const { loadedPartitions, partitionLoads } = await storage.store.metrics()
    return { loadedPartitions, partitionLoads }
  }
  /** Runs the collection of a start. */
  const collect = async () => {
    const { log, lines } = captureLog()
    const collector = new GarbageCollector(deps(), log)
    await collector.start()
    await collector.stop()
    expect(lines).toEqual([])
  }

  test('loads the workspace where something has become due, collects it, and does not load it again', async () => {
    now += 2 * HOUR
    await collect()
    expect((await state()).partitionLoads).toBe(2)
    await collect()
    expect((await state()).partitionLoads).toBe(2)
    await storage.close()
    await open()
    await collect()
    expect(await state()).toEqual({ loadedPartitions: 1, partitionLoads: 1 })
    expect(await tombstonesOf(due)).toBe(0)
  })
})
