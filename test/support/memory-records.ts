import { beforeEach } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import type { Key } from '../../src/store/keys.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { IndexRange, Store } from '../../src/store/port.ts'
import { transact } from '../../src/store/transact.ts'
import { Transaction } from '../../src/store/transaction.ts'

/** The records of one partition of a storage in memory. It is read as if it were a server. */
class MemoryRecords {
  store!: Store
  /** the keys that the last commit wrote or removed */
  written: string[] = []
  /** the ranges of each read */
  ranges: (readonly IndexRange[])[] = []

  readonly #partition: string

  constructor(partition: string) {
    this.#partition = partition
  }

  reset(): void {
    this.store = Object.assign(createMemoryStore(createDerivations()), { isRemote: true })
    this.ranges = []
    const { commit, read } = this.store
    this.store.commit = (partition, change) => {
      this.written = [...change.put.keys(), ...change.remove].toSorted()
      return commit.call(this.store, partition, change)
    }
    this.store.read = (partition, request) => {
      if (request.ranges.length > 0) this.ranges.push(request.ranges)
      return read.call(this.store, partition, request)
    }
  }

  begin = (): Transaction => new Transaction(this.store, this.#partition, systemRandom)
  work = <T>(run: (tx: Transaction) => T | Promise<T>): Promise<T> => transact(this.store, this.#partition, systemRandom, run)
  read = <T>(key: Key<T>): Promise<T | undefined> => this.work((tx) => tx.get(key))
  /** Creates records with their index entries. */
  add = (records: Readonly<Record<string, object>>): Promise<void> =>
    this.work((tx) => {
      for (const [key, value] of Object.entries(records)) tx.create(key, value)
    })
  /** Writes a record, whether or not there is one. */
  put = <T extends object>(key: Key<T>, record: T): Promise<void> =>
    this.work(async (tx) => {
      await tx.get(key)
      tx.put(key, record)
    })
  edit = async <T extends object>(key: Key<T>, members: Partial<T>): Promise<void> =>
    this.put(key, { ...(await this.read(key))!, ...members })
}

/** Registers the hook of a suite. @returns records that are new for each test */
export function setUpRecords(partition = 'w'): MemoryRecords {
  const records = new MemoryRecords(partition)
  beforeEach(() => records.reset())
  return records
}
