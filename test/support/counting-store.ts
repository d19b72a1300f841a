import type { Change, ReadRequest, Snapshot, Store } from '../../src/store/port.ts'

/** A store that tells what it was asked for. */
export class CountingStore implements Store {
  readonly driver: string
  /** keys and indexes that were read, in their order */
  readonly touched: string[] = []
  /** calls of read and commit */
  trips = 0
  /** called before each read: to fail it */
  beforeRead: ((partition: string) => Promise<void>) | undefined
  /** called before the next commit: to let others in between, or to fail it */
  beforeCommit: (() => Promise<void>) | undefined
  /** called after the next commit: to fail what was done */
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
    const hook = this.beforeCommit
    this.beforeCommit = undefined
    await hook?.()
    const done = await this.#inner.commit(partition, change)
    const after = this.afterCommit
    this.afterCommit = undefined
    await after?.()
    return done
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
