import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import {
  StorageUnavailable,
  type Change,
  type Expectation,
  type IndexRange,
  type ReadRequest,
  type Snapshot,
  type Store,
  type Stored,
  type Value,
} from '../port.ts'
import { isTemplate } from '../references.ts'
import { Turns, type Turn } from '../turns.ts'
import { COMMAND_TIMEOUT, type Connection } from './client.ts'
import { confirmGuess, Paths } from './paths.ts'
import { CommandFailed, Pool, toUnavailable } from './pool.ts'

/** The format of all keys and values. A Redis with data of another format is refused. */
const FORMAT = '2'
/** How long the outcome of a commit is stored, in milliseconds: much longer than a client resends it. */
const MARKER_TTL = 60_000
/** The same for a commit that was resent: longer than TCP keeps the first attempt in its buffers. */
const RESENT_MARKER_TTL = 30 * 60_000
/** How long an unanswered commit is resent, in milliseconds. */
const RESEND_FOR = 2 * COMMAND_TIMEOUT
/** How long a turn lasts at most in its process, in milliseconds: with the time in which it waits for the lease. */
const TURN_DURATION = 500
/** How long a turn lasts at most among the processes, in milliseconds, by default. */
const LEASE_DURATION = 250
/** The reply to a commit while another turn is held. */
const WAITING = 2
/** Records per batch of a dump. */
const DUMP_BATCH = 1000
/** Makes a dump read all records in one batch. */
const UNLIMITED = 1_000_000_000

export interface RedisStoreOptions {
  readonly log: Logger
  /** number of connections; 2 by default */
  readonly connections?: number
  /** the prefix of all keys; `lk` by default */
  readonly prefix?: string
  /** how long a turn lasts at most among the processes, in milliseconds; 250 by default */
  readonly lease?: number
  /** how long a read is repeated after its connection was lost, in milliseconds; 250 by default */
  readonly repeatReadsFor?: number
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
  { log, connections = 2, prefix = 'lk', lease, repeatReadsFor }: RedisStoreOptions,
): Promise<RedisStore> {
  let pool: Pool | undefined
  try {
    pool = await Pool.open(url, connections, log, repeatReadsFor)
    const format = await readOnce(pool, `${prefix}:format`, FORMAT)
    if (format !== FORMAT)
      throw new StorageUnavailable(`this Redis holds data of format ${format}; this version of Lanekeeper supports format ${FORMAT}`)
    const identity = await readOnce(pool, `${prefix}:id`, randomUUID())
    await warnOfEviction(pool, log)
    return new RedisStore(pool, prefix, lease, identity)
  } catch (error) {
    pool?.close()
    if (!(error instanceof CommandFailed)) throw error
    throw new StorageUnavailable(`${error.refused ? 'Redis refused' : 'Redis cannot be reached'}: ${error.message}`, { cause: error })
  }
}

/** A store in Redis. */
export class RedisStore implements Store {
  readonly driver = 'redis'
  readonly #pool: Pool
  readonly #prefix: string
  readonly #lease: number
  readonly #identity: string | null | undefined
  readonly #turns = new Turns(TURN_DURATION)
  readonly #paths = new Paths()

  /** @param identity what the storage must be identified by; undefined: that is not checked */
  constructor(pool: Pool, prefix: string, lease = LEASE_DURATION, identity?: string | null) {
    this.#pool = pool
    this.#prefix = prefix
    this.#lease = lease
    this.#identity = identity
  }

  async read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
    const keys = this.#paths.guess(partition, request.records)
    if (keys !== undefined) {
      const snapshot = await this.#readOnce(partition, { ...request, records: keys })
      if (snapshot === null) return null
      const records = confirmGuess(request.records, snapshot.records)
      if (records !== undefined) return { ...snapshot, records }
    }
    const snapshot = await this.#readOnce(partition, request)
    if (snapshot !== null) this.#paths.learn(partition, request.records, snapshot.records)
    return snapshot
  }

  /** Reads with one MGET if nothing but records is read. It is atomic too, and much cheaper than a script. */
  async #readOnce(partition: string, { records, ranges, counts, expect }: ReadRequest): Promise<Snapshot | null> {
    // An expectation is not met by a Redis that was emptied since the first read of a transaction.
    const isFirst = records.length > 0 && expect.records.size + expect.indexes.size === 0
    if (isFirst && ranges.length + counts.length === 0 && !records.some(isTemplate)) {
      const prefix = `${this.#prefix}:{${partition}}:r:`
      const texts = await this.#run((client) => client.mget(records.map((key) => prefix + key)))
      if (texts.every((text) => text === null)) await this.#requireIdentity()
      return { records: records.map((key, i) => ({ key, stored: decodeStored(texts[i]!) })), ranges: [], counts: [] }
    }
    const text = JSON.stringify({ ...encodeExpectation(expect), references: records, ranges: ranges.map(encodeRange), counts })
    const reply = (await this.#run((client) => client.lkRead(this.#key(partition), text))) as ReadReply | null
    if (reply === null) return null
    if (isFirst && reply[0].every(([, stored]) => stored === null)) await this.#requireIdentity()
    return decodeSnapshot(reply)
  }

  /**
   * Checks that Redis holds the same data as at the start. Otherwise valid tokens would be unknown after it was emptied, or
   * started without its data, and clients would throw them away.
   * @throws {StorageUnavailable}
   */
  async #requireIdentity(): Promise<void> {
    if (this.#identity === undefined) return
    const present = await this.#run((client) => client.get(`${this.#prefix}:id`))
    if (present !== this.#identity) throw new StorageUnavailable('Redis was emptied, or holds other data than at the start')
  }

  async commit(partition: string, { revision, turn, expect, put, remove, indexes }: Change): Promise<'done' | 'conflict'> {
    await this.#turns.pass(partition, turn)
    const request = JSON.stringify({
      revision,
      turn,
      ...encodeExpectation(expect),
      capacity: [...expect.capacity],
      put: [...put].map(([key, value]) => [key, JSON.stringify(value)]),
      remove: [...remove],
      changes: [...indexes].map(([name, entries]) => [name, entries.add, entries.remove]),
    })
    return (await this.#commit(this.#key(partition), request)) === 1 ? 'done' : 'conflict'
  }

  /**
   * Takes a turn among the requests of this process, and then a lease among the processes. Without the lease, the turn
   * has no effect on other processes.
   */
  async takeTurn(partition: string): Promise<Turn> {
    const turn = await this.#turns.take(partition)
    const key = `${this.#prefix}:{${partition}}:t`
    const lease = (client: Connection) => client.set(key, turn.id, 'PX', this.#lease, 'NX')
    while (this.#turns.isHeld(partition, turn.id) && (await this.#pool.run(lease).catch(throwUnavailable)) === null) await waitForTurn()
    const end = (): void => {
      turn.end()
      // If this fails, the lease expires.
      this.#pool.run((client) => client.lkEndTurn(key, turn.id)).catch(() => undefined)
    }
    return { id: turn.id, end }
  }

  /** Reads in batches, and starts again when another commit came in between. The last attempt uses one batch. */
  async *dump(partition: string): AsyncGenerator<(readonly [string, Value])[]> {
    for (const limit of [DUMP_BATCH, DUMP_BATCH, DUMP_BATCH, UNLIMITED]) {
      const batches = await this.#dumpBatches(this.#key(partition), limit)
      if (batches === undefined) continue
      yield* batches
      return
    }
  }

  async ready(): Promise<void> {
    await this.#pool.probe(`${this.#prefix}:ready`).catch(throwUnavailable)
    await this.#requireIdentity()
  }

  async close(): Promise<void> {
    this.#pool.close()
  }

  /**
   * Sends a commit, and resends it while no reply comes. The script detects a commit that is already applied, so it
   * is applied at most once. When Redis does not answer at all, the outcome is unknown.
   */
  async #commit(key: string, request: string): Promise<unknown> {
    const deadline = Date.now() + RESEND_FOR
    let sent = false
    for (let attempt = 1; ; attempt++) {
      try {
        const [markerTtl, resent] = sent ? ([RESENT_MARKER_TTL, '1'] as const) : ([MARKER_TTL, '0'] as const)
        const reply = await this.#pool.run((client) => client.lkCommit(key, request, markerTtl, resent))
        if (reply !== WAITING) return reply
        // Turns of other processes follow each other without a break. The caller takes one too, after several conflicts.
        if (Date.now() > deadline && !sent) return 0
        if (Date.now() > deadline) throw new StorageUnavailable('another process kept its turn', { outcomeKnown: false })
        await waitForTurn()
        attempt = 0
      } catch (error) {
        if (!(error instanceof CommandFailed)) throw error
        const { refused, unsent } = error
        // Redis refused this attempt (out of memory, a replica, loading …), so it changed nothing. An earlier attempt
        // may still be in progress.
        if (refused && !sent) throw toUnavailable(error)
        sent ||= !unsent
        if (Date.now() > deadline) throw new StorageUnavailable('Redis did not answer', { outcomeKnown: !sent, cause: error })
        await delay(Math.min(25 * 2 ** attempt, 400))
      }
    }
  }

  /** @returns undefined when another commit came between two batches */
  async #dumpBatches(key: string, limit: number): Promise<(readonly [string, Value])[][] | undefined> {
    const batches: (readonly [string, Value])[][] = []
    let firstRevision: string | undefined
    for (let after = ''; ;) {
      const reply = await this.#run((client) => client.lkDump(key, after, limit))
      const [revision, keys, values] = reply as [string, string[], string[]]
      firstRevision ??= revision
      if (revision !== firstRevision) return undefined
      batches.push(keys.map((recordKey, i) => [recordKey, decodeStored(values[i]!)!.value] as const))
      if (keys.length < limit) return batches
      after = keys.at(-1)!
    }
  }

  #run<T>(command: (client: Connection) => Promise<T>): Promise<T> {
    return this.#pool.runRead(command).catch(throwUnavailable)
  }

  #key(partition: string): string {
    return `${this.#prefix}:{${partition}}:n`
  }
}

/** Waits for the turn of another process: a few milliseconds, at random, so that no process is always the first. */
async function waitForTurn(): Promise<void> {
  await delay(1 + Math.random() * 4)
}

/** Reads a text, and writes it only when it is absent: a Redis that is out of memory can then still be read and exported. */
async function readOnce(pool: Pool, key: string, initial: string): Promise<string | null> {
  const present = await pool.run((client) => client.get(key))
  if (present !== null) return present
  await pool.run((client) => client.set(key, initial, 'NX'))
  return pool.run((client) => client.get(key))
}

async function warnOfEviction(pool: Pool, log: Logger): Promise<void> {
  // A user without permission for INFO gets no warning.
  const memory = await pool.run((client) => client.info('memory')).catch(() => '')
  const policy = /maxmemory_policy:(\S+)/.exec(memory)?.[1]
  if (policy !== undefined && policy !== 'noeviction')
    log.warn(`this Redis evicts data when it is out of memory (maxmemory-policy ${policy}), and data will be lost; set noeviction`)
}

type ReadReply = [
  records: [key: string | null, stored: string | null][],
  ranges: [revision: string | null, entries: string[], records: (string | null)[]][],
  counts: number[],
]

function encodeExpectation({ records, indexes }: Expectation) {
  return {
    records: [...records].map(([key, expected]) =>
      expected === null || typeof expected === 'string' ? [key, expected ?? ''] : [key, expected.revision, expected.members],
    ),
    indexes: [...indexes].map(([name, revision]) => [name, revision ?? '']),
  }
}

function encodeRange({ index, after, before, reverse, limit, fetch }: IndexRange) {
  return { index, after, before, reverse: reverse === true, limit, fetch }
}

function decodeSnapshot([records, ranges, counts]: ReadReply): Snapshot {
  return {
    records: records.map(([key, text]) => ({ key, stored: decodeStored(text) })),
    ranges: ranges.map(([revision, entries, fetched]) => ({ revision, entries, records: fetched.map(decodeStored) })),
    counts,
  }
}

function decodeStored(text: string | null): Stored | null {
  if (text === null) return null
  const space = text.indexOf(' ')
  return { revision: text.slice(0, space), value: JSON.parse(text.slice(space + 1)) as Value }
}

function throwUnavailable(error: unknown): never {
  throw toUnavailable(error)
}
