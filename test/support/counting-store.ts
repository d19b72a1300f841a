import { decorateStore, type Change, type ReadRequest, type Snapshot, type Store } from '../../src/store/port.ts'

/** A store that records its reads, and that tests can interrupt. */
export class CountingStore implements Store {
  declare readonly driver: Store['driver']
  declare readonly derived: Store['derived']
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
  declare recall: Store['recall']
  declare takeLease: Store['takeLease']
  declare readonly dump: Store['dump']
  declare readonly partitions: Store['partitions']
  declare readonly scan: Store['scan']
  declare readonly indexNames: Store['indexNames']
  declare readonly findDamage: Store['findDamage']
  declare readonly hold: Store['hold']
  declare readonly mayHaveTombstoneBefore: Store['mayHaveTombstoneBefore']
  declare readonly watch: Store['watch']
  declare readonly ready: Store['ready']
  declare readonly metrics: Store['metrics']
  declare readonly damaged: Store['damaged']
  declare readonly close: Store['close']
  readonly #inner: Store

  constructor(inner: Store) {
    this.#inner = inner
    const { read: _read, commit: _commit, isRemote: _isRemote, ...others } = decorateStore(inner, {})
    Object.assign(this, others)
  }

  async read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
    this.trips++
    await this.beforeRead?.(partition)
    const snapshot = await this.#inner.read(partition, request)
    this.touched.push(...request.ranges.map(({ index }) => index), ...request.counts)
    for (const [i, { key }] of (snapshot?.records ?? []).entries()) this.touched.push(key ?? JSON.stringify(request.records[i]))
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
}
