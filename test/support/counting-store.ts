import type { Change, ReadRequest, Snapshot, Store } from '../../src/store/port.ts'

/** A store that records its reads, and that tests can interrupt. */
export class CountingStore implements Store {
  readonly driver: string
  /** counts what round trips would be, also on drivers that need none */
  isRemote = true
  /** keys and indexes that were read, in order */
  readonly touched: string[] = []
  /** number of round trips: calls of read and commit */
  trips = 0
  /** called before each read, for example to make it fail */
  beforeRead: ((partition: string) => Promise<void>) | undefined
  /** called once before the next commit, for example to run another commit first or to make it fail */
  beforeCommit: (() => Promise<void>) | undefined
  /** called once after the next commit, for example to make it fail although it is done */
  afterCommit: (() => Promise<void>) | undefined
  readonly #inner: Store

  constructor(inner: Store) {
    this.#inner = inner
    this.driver = inner.driver
  }

  async read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
    this.trips++
    await this.beforeRead?.(partition)
    const snapshot = await this.#inner.read(partition, request)
    this.touched.push(...request.ranges.map(({ index }) => index), ...request.counts)
    for (const [i, { key }] of (snapshot?.records ?? []).entries()) this.touched.push(key ?? request.records[i]!)
    return snapshot
  }

  async commit(partition: string, change: Change): Promise<'done' | 'conflict'> {
    this.trips++
    const before = this.beforeCommit
    this.beforeCommit = undefined
    await before?.()
    const outcome = await this.#inner.commit(partition, change)
    const after = this.afterCommit
    this.afterCommit = undefined
    await after?.()
    return outcome
  }

  watch(...watched: Parameters<Store['watch']>): ReturnType<Store['watch']> {
    return this.#inner.watch(...watched)
  }

  takeLease(partition: string): ReturnType<Store['takeLease']> {
    return this.#inner.takeLease(partition)
  }

  dump(partition: string): ReturnType<Store['dump']> {
    return this.#inner.dump(partition)
  }

  partitions(): ReturnType<Store['partitions']> {
    return this.#inner.partitions()
  }

  scan(partition: string): ReturnType<Store['scan']> {
    return this.#inner.scan(partition)
  }

  indexNames(partition: string): ReturnType<Store['indexNames']> {
    return this.#inner.indexNames(partition)
  }

  ready(): Promise<void> {
    return this.#inner.ready()
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}
