import type { Logger } from 'pino'
import { Partition } from '../partition.ts'
import { StorageUnavailable, type Store } from '../port.ts'
import { realDisk, type Disk } from './disk.ts'
import { checkFolder, hasManifest, schemaOf, UnusableFolder } from './folder.ts'
import { readJournal } from './journal.ts'
import { listCheckpoints, readManifest } from './manifest.ts'
import { Partitions } from './partitions.ts'

/** Codes of errors of a file system that cannot be written to, or not by this user. */
const CODES = new Set<string | undefined>(['EROFS', 'EACCES', 'EPERM'])

/** Whether an error means that a folder cannot be written to. */
export function isReadOnlyError(error: unknown): boolean {
  return CODES.has((error as NodeJS.ErrnoException).code)
}

/**
 * Opens a store in a folder for reading only: nothing in the folder is changed. Its content is the same as that of
 * `openFsStore`, and so are the checks. Every commit fails.
 * @throws {UnusableFolder} {@link StorageDamaged}
 */
export async function openFsStoreForReading(path: string, { log, disk = realDisk }: { log: Logger; disk?: Disk }): Promise<Store> {
  const format = await checkFolder(path, disk)
  if (format === undefined) throw new UnusableFolder(`${path} contains no Lanekeeper data`)
  const journal = await readJournal(disk, `${path}/journal`)
  const checkpoints = hasManifest(format)
    ? (await readManifest(disk, path, journal)).manifest.checkpoints
    : await listCheckpoints(disk, path)
  const partitions = new Partitions(disk, `${path}/records`, log, journal, checkpoints)
  const load = async (name: string): Promise<Partition> => (await partitions.load(name))?.state ?? new Partition(new Map())
  const refuse = async (): Promise<never> => {
    throw new StorageUnavailable(`${path} cannot be written to; it is opened for reading only`)
  }
  return {
    driver: 'fs',
    impliedSchema: schemaOf(format),
    read: async (partition, request) => (await load(partition)).read(request),
    commit: refuse,
    takeTurn: refuse,
    async *dump(partition) {
      yield* (await load(partition)).dump()
    },
    partitions: async () => partitions.names,
    async *scan(partition) {
      yield* (await load(partition)).scan()
    },
    async *indexNames(partition) {
      yield* (await load(partition)).indexNames()
    },
    ready: refuse,
    damaged: () => partitions.damaged,
    close: async () => undefined,
  }
}
