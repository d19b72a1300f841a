import type { Change, ReadRequest, Snapshot, Store } from '../../src/store/port.ts'

/** A store that tells what it was asked for. */
export class CountingStore implements Store {
  readonly driver: string
  /** keys and indexes that were read, in their order */
  readonly touched: string[] = []
  /** calls of read and commit */
  trips = 0
  /** called before each commit: to let others in between */
  beforeCommit: (() => Promise<void>) | undefined
  readonly #inner: Store

  constructor(inner: Store) {
    this.#inner = inner
    this.driver = inner.driver
  }

  async read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
    this.trips++
    const snapshot = await this.#inner.read(partition, request)
    this.touched.push(...request.ranges.map(({ index }) => index), ...request.counts)
    for (const [i, { key }] of (snapshot?.records ?? []).entries()) this.touched.push(key ?? request.records[i]!)
    return snapshot
  }

  async commit(partition: string, change: Change): Promise<'done' | 'conflict'> {
    this.trips++
    const hook = this.beforeCommit
    this.beforeCommit = undefined
    await hook?.()
    return this.#inner.commit(partition, change)
  }

  dump(partition: string): ReturnType<Store['dump']> {
    return this.#inner.dump(partition)
  }

  ready(): Promise<void> {
    return this.#inner.ready()
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}
