import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDerivations } from '../../src/resources/derived.ts'
import { createBlobs } from '../../src/store/blobs.ts'
import { decorateStore } from '../../src/store/port.ts'
import { createFsBlobDriver } from '../../src/store/fs/blob-driver.ts'
import { openFsStore } from '../../src/store/fs/store.ts'
import { openDatabase } from '../../src/store/fs/sqlite.ts'
import { driversOf, type DriverName } from './driver-selection.ts'
import { quiet } from './log.ts'
import { keysOf, memory, type Driver } from './memory.ts'
import { redis } from './redis-driver.ts'

export type { Driver, OpenDriver } from './memory.ts'

const fs: Driver = {
  name: 'fs',
  async open() {
    const path = await mkdtemp(join(tmpdir(), 'lanekeeper-'))
    // A small value, so that every suite makes many checkpoints.
    const store = await openFsStore(path, { log: quiet, derived: createDerivations(), checkpointAt: 64 * 1024 })
    const bytes = createFsBlobDriver(`${path}/bytes`)
    return {
      store: decorateStore(store, { close: async () => (await store.close(), await rm(path, { recursive: true })) }),
      blobs: createBlobs(bytes),
      async recordKeys(partition) {
        const database = openDatabase(`${path}/records.db`, { readOnly: true })
        const rows = database.prepare('SELECT key FROM records WHERE partition = (SELECT id FROM partitions WHERE name = ?)').all(partition)
        database.close()
        return (rows as { key: string }[]).map(({ key }) => key)
      },
      blobKeys: () => keysOf(bytes),
    }
  },
}

const ALL: Readonly<Record<DriverName, Driver>> = { memory, fs, redis }

const selected = (suites: 'service' | 'contract') => driversOf(suites).map((name) => ALL[name])

/** The drivers that suites of the service run on, by the tier. LANEKEEPER_DRIVERS selects some of them, separated by commas. */
export const drivers: readonly Driver[] = selected('service')

/** The drivers that the contract of the storage is tested on. */
export const driversOfContract: readonly Driver[] = selected('contract')
