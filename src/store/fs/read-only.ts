import { Partition } from '../partition.ts'
import { StorageUnavailable, type Store } from '../port.ts'
import { damagedCheckpoints } from './checkpoint.ts'
import { realDisk } from './disk.ts'
import { checkFolder, UnusableFolder } from './folder.ts'
import { readJournal } from './journal.ts'
import { defaultCacheBytes } from './loaded-partitions.ts'
import { readManifest } from './manifest.ts'
import { Partitions } from './partitions.ts'
import type { FsStoreOptions } from './store.ts'

/** Codes of errors of a file system that cannot be written to, or not by this user. */
const CODES = new Set<string | undefined>(['EROFS', 'EACCES', 'EPERM'])

/** Whether an error means that a folder cannot be written to. */
export function isReadOnlyError(error: unknown): boolean {
  return CODES.has((error as NodeJS.ErrnoException).code)
}

type ReadOnlyOptions = Pick<FsStoreOptions, 'log' | 'disk' | 'cacheBytes'>

/**
 * Opens a store in a folder for reading only: nothing in the folder is changed. Its content is the same as that of
 * `openFsStore`, and so are the checks. Every commit fails.
 * @throws {UnusableFolder} {@link StorageDamaged}
 */
export async function openFsStoreForReading(path: string, options: ReadOnlyOptions): Promise<Store> {
  const { log, disk = realDisk, cacheBytes = defaultCacheBytes() } = options
  if (!(await checkFolder(path, disk))) throw new UnusableFolder(`${path} contains no Lanekeeper data`)
  const journal = await readJournal(disk, `${path}/journal`)
  const { manifest } = await readManifest(disk, path, journal)
  const journalEnd = () => journal.sequence
  const partitions = new Partitions({ disk, folder: `${path}/records`, log, journal, manifest, journalEnd, cacheBytes })
  const refuse = async (): Promise<never> => {
    throw new StorageUnavailable(`${path} cannot be written to; it is opened for reading only`)
  }
  return {
    driver: 'fs',
    isRemote: false,
    read: (partition, request) => partitions.use(partition, (loaded) => (loaded?.state ?? new Partition(new Map())).read(request)),
    commit: refuse,
    takeLease: refuse,
    dump: (partition) => partitions.read(partition, (state) => state.dump()),
    partitions: async () => partitions.names,
    scan: (partition) => partitions.read(partition, (state) => state.scan()),
    indexNames: (partition) => partitions.read(partition, (state) => state.indexNames()),
    hold: (partition, work) => partitions.hold(partition, work),
    mayHaveTombstoneBefore: (partition, entry) => partitions.mayHaveTombstoneBefore(partition, entry),
    findDamage: () => damagedCheckpoints(disk, `${path}/records`, [...manifest.checkpoints.keys()]),
    metrics: async () => partitions.metrics(),
    watch: () => () => undefined,
    ready: refuse,
    damaged: () => partitions.damaged,
    close: async () => undefined,
  }
}
