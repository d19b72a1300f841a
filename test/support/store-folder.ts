import { openFsStore, type FsStore } from '../../src/store/fs/store.ts'
import type { Change } from '../../src/store/port.ts'
import { change, readRequest } from './changes.ts'
import { FaultyDisk } from './faulty-disk.ts'
import { captureLog } from './log.ts'
import { diskError, recordDisk, type RecordingDisk } from './recording-disk.ts'

/** The path of the folder. */
export const PATH = '/var/data'

/** A folder of the fs driver on a disk in memory, whose operations are recorded and can be made to fail or to wait. */
export class StoreFolder {
  readonly disk: FaultyDisk
  readonly log = captureLog()
  /** is called before each operation, which waits for it */
  before: (operation: string) => unknown = () => undefined
  readonly recording: RecordingDisk

  constructor(disk = new FaultyDisk(1)) {
    this.disk = disk
    this.recording = recordDisk(disk, (operation) => this.before(operation))
  }

  /**
   * @param compactAt the size of the journal that triggers a compaction; by default none does
   * @param cacheBytes the memory for partitions
   */
  open(compactAt = Infinity, cacheBytes?: number): Promise<FsStore> {
    return openFsStore(PATH, { log: this.log.log, disk: this.recording, compactAt, cacheBytes })
  }

  /** Fails all operations whose names begin like this. */
  fail(operation: string, code: string): void {
    this.before = (one) => {
      if (one.startsWith(operation)) throw diskError(code)
    }
  }
  repair(): void {
    this.before = () => undefined
  }

  /** The partitions whose checkpoints were read in whole and in parts, in this order, without repetitions. */
  read(): string[] {
    const paths = this.recording.operations.filter((one) => one.startsWith(`readParts ${PATH}/records/`) && !one.endsWith('.tmp'))
    return [...new Set(paths.map((one) => one.slice(one.lastIndexOf('/') + 1)))]
  }

  /** The names of the files of the journal. */
  journal(): Promise<string[]> {
    return this.disk.list(`${PATH}/journal`)
  }
  /** The size of the journal, in bytes. */
  async journalSize(): Promise<number> {
    const files = await Promise.all((await this.journal()).map((name) => this.disk.read(`${PATH}/journal/${name}`)))
    return files.reduce((sum, bytes) => sum + bytes!.byteLength, 0)
  }
  /** The names of the checkpoints: the partitions that they contain. */
  checkpoints(): Promise<string[]> {
    return this.disk.list(`${PATH}/records`)
  }
}

/** A change of one record and one index entry. @param length the number of characters in the record */
export const putOne = (key: string, length = 0): Change =>
  change({ put: { [key]: { text: 'x'.repeat(length) } }, index: { i: { add: [key] } } })

/** Commits {@link putOne}. */
export function put(store: FsStore, key: string, partition = 'p1'): ReturnType<FsStore['commit']> {
  return store.commit(partition, putOne(key))
}

/** The keys of all records of a partition. */
export async function keysOf(store: FsStore, partition = 'p1'): Promise<string[]> {
  const keys: string[] = []
  for await (const batch of store.dump(partition)) keys.push(...batch.map(([key]) => key))
  return keys
}

/** The index entries of the partition p1. */
export async function entriesOf(store: FsStore): Promise<readonly string[]> {
  return (await store.read('p1', readRequest({ ranges: [{ index: 'i', limit: 99 }] })))!.ranges[0]!.entries
}
