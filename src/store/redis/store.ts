import type { Logger } from 'pino'
import {
  StorageUnavailable,
  type Change,
  type DriverDamage,
  type ReadRequest,
  type Snapshot,
  type Store,
  type StoreMetrics,
  type Template,
  type Value,
} from '../port.ts'
import { CommitLeases, type CommitLease } from '../commit-leases.ts'
import { COMMAND_TIMEOUT, replicationOf, type Connection } from './client.ts'
import { encodeChange } from './codec.ts'
import { CommitSender, waitForLease, CommitPubSub } from './commits.ts'
import { dumpPartition } from './dump.ts'
import { Identity, readOnce } from './identity.ts'
import { ReadCache } from './read-cache.ts'
import { Reads } from './reads.ts'
import { CommandFailed, openClient, Pool, throwUnavailable, toUnavailable, withTimeout, type Run } from './pool.ts'
import { scanIndexNames, scanPartitions, scanRecords, scanUnlisted } from './scan.ts'

/** The format of all keys and values. A Redis with data of another format is refused. */
const FORMAT = '3'
/** A format that this version reads, too. It differs in the order of the last commits: a process that expects it must not start any more. */
const EARLIER_FORMAT = '2'
/** How long a lease lasts at most in its process, in milliseconds, including the wait for the lease. */
const LEASE_TIME = 500
/** How long a lease lasts at most among the processes, in milliseconds, by default. */
const LEASE_DURATION = 250
/** The number of connections for commits that wait for replicas. */
const WAITING_CONNECTIONS = 8
/** How long it may take to find out whether Redis is ready, in milliseconds. */
const READY_TIMEOUT = 2 * COMMAND_TIMEOUT

export interface RedisStoreOptions extends Pick<Store, 'derived'> {
  readonly log: Logger
  /** number of connections; 2 by default */
  readonly connections?: number
  /** the prefix of all keys; `lk` by default */
  readonly prefix?: string
  /** how long a lease lasts at most among the processes, in milliseconds; 250 by default */
  readonly lease?: number
  /** how long a read is repeated after its connection was lost, in milliseconds; 250 by default */
  readonly repeatReadsFor?: number
  /** the memory that what was read may take, in bytes; an eighth of the heap of the process by default */
  readonly cacheBytes?: number | undefined
}

/**
 * Opens a store in Redis, over the clients of unstorage's redis driver: each read and each commit is one script (see
 * `scripts.ts`), so it is atomic. The persistence settings of Redis determine what a commit survives. Any number of
 * processes per Redis.
 * @throws {StorageUnavailable} when Redis cannot be reached, or holds data of another format
 * @throws {BadRedisUrl}
 */
export async function openRedisStore(
  url: string,
  { log, derived, connections = 2, prefix = 'lk', lease, repeatReadsFor, cacheBytes }: RedisStoreOptions,
): Promise<RedisStore> {
  const pools: Pool[] = []
  const openPool = async (size: number): Promise<Pool> => {
    pools.push(await Pool.open(url, size, log, repeatReadsFor))
    return pools.at(-1)!
  }
  try {
    const replication = replicationOf(url)
    const pool = await openPool(connections)
    const format = await readOnce(pool, `${prefix}:format`, FORMAT)
    if (format === EARLIER_FORMAT) await pool.run((client) => client.set(`${prefix}:format`, FORMAT))
    else if (format !== FORMAT)
      throw new StorageUnavailable(
        `this Redis holds data of format ${format}, and this version of Lanekeeper reads format ${FORMAT}: use the version of Lanekeeper that wrote it, or another database`,
      )
    const identity = await Identity.open(pool, prefix)
    await warnOfEviction(pool, log)
    // While a commit waits for replicas, its connection does nothing else.
    const commits = replication && new CommitSender(await openPool(WAITING_CONNECTIONS), replication)
    const commitPubSub = new CommitPubSub(() => openClient(url, log), prefix)
    return new RedisStore(pool, prefix, {
      derived,
      lease,
      identity,
      commits,
      pools,
      commitPubSub,
      cache: new ReadCache(cacheBytes),
    })
  } catch (error) {
    for (const pool of pools) pool.close()
    if (!(error instanceof CommandFailed)) throw error
    throw new StorageUnavailable(`${error.refused ? 'Redis refused' : 'Redis cannot be reached'}: ${error.message}`, { cause: error })
  }
}

interface StoreParts extends Pick<Store, 'derived'> {
  /** how long a lease lasts at most among the processes, in milliseconds */
  readonly lease?: number | undefined
  /** how the storage must be identified; undefined: that is not checked */
  readonly identity?: Identity | undefined
  /** sends commits; undefined: over the pool of reads */
  readonly commits?: CommitSender | undefined
  /** the pools to close; undefined: only the pool of reads */
  readonly pools?: readonly Pool[]
  /** reports commits; undefined: only commits of this process are known */
  readonly commitPubSub?: CommitPubSub | undefined
  /** keeps what was read */
  readonly cache?: ReadCache
}

/** A store in Redis. */
export class RedisStore implements Store {
  readonly driver = 'redis'
  readonly isRemote = true
  readonly derived: Store['derived']
  readonly #pool: Pool
  /** all that are to be closed */
  readonly #pools: readonly Pool[]
  readonly #commits: CommitSender
  readonly #prefix: string
  readonly #lease: number
  readonly #identity: Identity | undefined
  readonly #leases = new CommitLeases(LEASE_TIME)
  readonly #cache: ReadCache
  readonly #reads: Reads
  readonly #commitPubSub: CommitPubSub

  constructor(
    pool: Pool,
    prefix: string,
    { derived, lease = LEASE_DURATION, identity, commits, pools = [pool], commitPubSub, cache = new ReadCache() }: StoreParts,
  ) {
    this.derived = derived
    this.#pool = pool
    this.#pools = pools
    this.#prefix = prefix
    this.#lease = lease
    this.#identity = identity
    this.#cache = cache
    this.#reads = new Reads(this.#run, prefix, cache, identity)
    this.#commits = commits ?? new CommitSender(pool)
    this.#commitPubSub =
      commitPubSub ?? new CommitPubSub(() => Promise.reject(new Error('there is no connection for publish and subscribe')), prefix)
  }

  read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
    return this.#reads.read(partition, request)
  }

  recall(partition: string, records: readonly Template[]): Snapshot['records'] | undefined {
    return this.#reads.recall(partition, records)
  }

  async commit(partition: string, change: Change): Promise<'done' | 'conflict'> {
    await this.#leases.pass(partition, change.lease)
    const encoded = encodeChange(change)
    const send = () => this.#commits.send(this.#key(partition), encoded)
    if ((await this.#reads.whileSending(partition, { change, texts: encoded.texts }, send)) === 'conflict') return 'conflict'
    this.#commitPubSub.notify(partition, change)
    return 'done'
  }

  /**
   * Takes a lease among the requests of this process, and then one among the processes. Without the second, the first has no effect on
   * other processes: then because Redis refuses to write it, for example because it is out of memory.
   */
  async takeLease(partition: string): Promise<CommitLease> {
    const own = await this.#leases.take(partition)
    const key = `${this.#prefix}:{${partition}}:t`
    const share = (client: Connection) => client.set(key, own.id, 'PX', this.#lease, 'NX')
    while (this.#leases.isHeld(partition, own.id) && (await this.#pool.run(share).catch(acceptRefusal)) === null) await waitForLease()
    const end = (): void => {
      own.end()
      // If this fails, it expires.
      this.#pool.run((client) => client.lkEndLease(key, own.id)).catch(() => undefined)
    }
    return { id: own.id, end }
  }

  dump(partition: string): AsyncGenerator<(readonly [string, Value])[]> {
    return dumpPartition(this.#pool, this.#key(partition))
  }

  partitions(): Promise<readonly string[]> {
    return scanPartitions(this.#run, this.#prefix)
  }

  scan(partition: string): ReturnType<typeof scanRecords> {
    return scanRecords(this.#run, `${this.#prefix}:{${partition}}`)
  }

  indexNames(partition: string): AsyncGenerator<string[]> {
    return scanIndexNames(this.#run, `${this.#prefix}:{${partition}}`)
  }

  findDamage(): AsyncGenerator<DriverDamage[]> {
    return scanUnlisted(this.#run, this.#prefix)
  }

  hold<T>(_partition: string, work: () => Promise<T>): Promise<T> {
    return work()
  }

  mayHaveTombstoneBefore(): boolean {
    return true
  }

  damaged(): readonly [] {
    return []
  }

  async ready(): Promise<void> {
    const checked = (async () => {
      await this.#commits.probe(`${this.#prefix}:ready`)
      await this.#identity?.checkAll(this.#run)
    })()
    // A command whose node is silent is repeated elsewhere, each time with a time limit of its own.
    await withTimeout(READY_TIMEOUT, checked, new StorageUnavailable('Redis did not answer'))
  }

  async metrics(): Promise<StoreMetrics> {
    const states = this.#pools.map(({ connections }) => connections)
    const count = (state: 'open' | 'closed') => states.reduce((sum, pool) => sum + pool[state], 0)
    return { connections: { open: count('open'), closed: count('closed') }, loadedBytes: this.#cache.bytes }
  }

  watch(partition: string, index: string, listener: () => void): () => void {
    return this.#commitPubSub.watch(partition, index, listener)
  }

  async close(): Promise<void> {
    this.#commitPubSub.close()
    for (const pool of this.#pools) pool.close()
  }

  readonly #run: Run = (command, group) => this.#pool.runRead(command, group).catch(throwUnavailable)

  #key(partition: string): string {
    return `${this.#prefix}:{${partition}}:n`
  }
}

/** @throws {StorageUnavailable} unless Redis has refused the command */
function acceptRefusal(error: unknown): 'refused' {
  const unavailable = toUnavailable(error)
  if ((error as CommandFailed).refused) return 'refused'
  throw unavailable
}

async function warnOfEviction(pool: Pool, log: Logger): Promise<void> {
  // A user without permission for INFO gets no warning.
  const memory = await pool.run((client) => client.info('memory')).catch(() => '')
  const policy = /maxmemory_policy:(\S+)/.exec(memory)?.[1]
  if (policy !== undefined && policy !== 'noeviction')
    log.warn(`this Redis evicts data when it is out of memory (maxmemory-policy ${policy}), and data will be lost; set noeviction`)
}
