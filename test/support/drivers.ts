import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBlobs } from '../../src/store/blobs.ts'
import { decorateStore } from '../../src/store/port.ts'
import { readCheckpoint } from '../../src/store/fs/checkpoint.ts'
import { realDisk } from '../../src/store/fs/disk.ts'
import { createFsBlobDriver } from '../../src/store/fs/blob-driver.ts'
import { openFsStore } from '../../src/store/fs/store.ts'
import { driversOf, type DriverName } from './driver-selection.ts'
import { quiet } from './log.ts'
import { keysOf, memory, type Driver } from './memory.ts'
import { redis } from './redis-driver.ts'

export type { Driver, OpenDriver } from './memory.ts'

/** @param cacheBytes the memory for partitions; with 0, each is released when it is not in use */
const folder = (name: string, cacheBytes?: number): Driver => ({
  name,
  async open() {
    const path = await mkdtemp(join(tmpdir(), 'lanekeeper-'))
    // A small value, so that every suite writes many checkpoints.
    const store = await openFsStore(path, { log: quiet, compactAt: 64 * 1024, cacheBytes })
    const bytes = createFsBlobDriver(`${path}/bytes`)
    return {
      store: decorateStore(store, { close: async () => (await store.close(), await rm(path, { recursive: true })) }),
      blobs: createBlobs(bytes),
      async recordKeys(partition) {
        // Afterwards the checkpoints contain all records. The first compaction may have begun before the last commit.
        await store.compact()
        await store.compact()
        const checkpoint = (await readdir(`${path}/records`)).includes(partition)
          ? await readCheckpoint(realDisk, `${path}/records`, partition)
          : undefined
        return [...(checkpoint?.state.records.keys() ?? [])]
      },
      blobKeys: () => keysOf(bytes),
    }
  },
})

const fs = folder('fs')

const ALL: Readonly<Record<DriverName, Driver>> = { memory, fs, redis }

const selected = (suites: 'service' | 'contract') => driversOf(suites).map((name) => ALL[name])

/** The drivers that suites of the service run on, by the tier. LANEKEEPER_DRIVERS selects some of them, separated by commas. */
export const drivers: readonly Driver[] = selected('service')

/** Those of the contract of the storage, and a folder that keeps nothing in memory: each partition is loaded again for each use. */
export const driversOfContract: readonly Driver[] = selected('contract').flatMap((driver) =>
  driver === fs ? [fs, folder('fs without memory', 0)] : [driver],
)
