import type { Logger } from 'pino'
import { setTimeout as after } from 'node:timers/promises'
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
import { COMMAND_TIMEOUT, type Connection } from './client.ts'
import { CommandFailed, Pool, unavailable } from './pool.ts'

/** How long it is known that a commit was done, in milliseconds: far longer than anyone asks. */
const REMEMBER = 60_000
/** The same where it was sent twice: longer than the first try can be under way, which ends where TCP gives up. */
const REMEMBER_RESENT = 30 * 60_000
/** For so long a commit that was not heard of is asked about again. */
const FIND_OUT = 2 * COMMAND_TIMEOUT
const FORMAT = '2'
const DUMP_PIECE = 1000

export interface RedisStoreOptions {
  readonly log: Logger
  /** how many connections share the work */
  readonly connections?: number
  /** what all keys begin with */
  readonly prefix?: string
}

/**
 * Records in Redis, over the clients of unstorage's redis driver. Each read is one script and each commit is one
 * script; what they mean to each other is in `redis/scripts.ts`. Any number of processes may share one Redis.
 * @throws {StorageUnavailable} where it cannot be reached, or holds data of a newer format
 * @throws {BadRedisUrl}
 */
export async function openRedisStore(url: string, { log, connections = 2, prefix = 'lk' }: RedisStoreOptions): Promise<RedisStore> {
  let pool: Pool | undefined
  try {
    pool = await Pool.open(url, connections, log)
    const format = await readFormat(pool, `${prefix}:format`)
    if (format !== FORMAT)
      throw new StorageUnavailable(`this Redis holds data of format ${format}; this version of Lanekeeper knows format ${FORMAT}`)
    await warnOfEviction(pool, log)
  } catch (error) {
    pool?.close()
    if (!(error instanceof CommandFailed)) throw error
    throw new StorageUnavailable(`${error.refused ? 'Redis refused' : 'Redis cannot be reached'}: ${error.message}`, { cause: error })
  }
  return new RedisStore(pool, prefix)
}

/** Written only where it is not there: what is full can still be read, and saved. */
async function readFormat(pool: Pool, key: string): Promise<string | null> {
  const found = await pool.ask((client) => client.get(key))
  if (found !== null) return found
  await pool.ask((client) => client.set(key, FORMAT, 'NX'))
  return pool.ask((client) => client.get(key))
}

async function warnOfEviction(pool: Pool, log: Logger): Promise<void> {
  // A user who may not ask that is let alone.
  const memory = await pool.ask((client) => client.info('memory')).catch(() => '')
  const policy = /maxmemory_policy:(\S+)/.exec(memory)?.[1]
  if (policy !== undefined && policy !== 'noeviction')
    log.warn(`this Redis forgets what it has where memory is short (maxmemory-policy ${policy}): data will be lost; set noeviction`)
}

/** A store in Redis. */
export class RedisStore implements Store {
  readonly driver = 'redis'
  readonly #pool: Pool
  readonly #prefix: string

  constructor(pool: Pool, prefix: string) {
    this.#pool = pool
    this.#prefix = prefix
  }

  async read(partition: string, { records, ranges, counts, expect }: ReadRequest): Promise<Snapshot | null> {
    const request = JSON.stringify({ ...expectation(expect), references: records, ranges: ranges.map(plain), counts })
    const answer = (await this.#ask((client) => client.lkRead(this.#key(partition), request))) as Answer | null
    return answer === null ? null : snapshot(answer)
  }

  async commit(partition: string, { revision, expect, put, remove, indexes }: Change): Promise<'done' | 'conflict'> {
    const request = JSON.stringify({
      revision,
      ...expectation(expect),
      capacity: [...expect.capacity],
      put: [...put].map(([key, value]) => [key, JSON.stringify(value)]),
      remove: [...remove],
      changes: [...indexes].map(([name, { add, remove: gone }]) => [name, add, gone]),
    })
    return (await this.#commitOnce(this.#key(partition), request)) === 1 ? 'done' : 'conflict'
  }

  /** Reads piece by piece, and all of it again where somebody wrote meanwhile; at last in one piece. */
  async *dump(partition: string): AsyncGenerator<(readonly [string, Value])[]> {
    for (const limit of [DUMP_PIECE, DUMP_PIECE, DUMP_PIECE, 1_000_000_000]) {
      const pieces = await this.#dumpOnce(this.#key(partition), limit)
      if (pieces === undefined) continue
      yield* pieces
      return
    }
  }

  async #dumpOnce(key: string, limit: number): Promise<(readonly [string, Value])[][] | undefined> {
    const pieces: (readonly [string, Value])[][] = []
    let revision: string | undefined
    for (let after = ''; ;) {
      const [now, keys, values] = (await this.#ask((client) => client.lkDump(key, after, limit))) as [string, string[], string[]]
      if (revision !== undefined && revision !== now) return undefined
      revision = now
      pieces.push(keys.map((key, i) => [key, stored(values[i]!)!.value] as const))
      if (keys.length < limit) return pieces
      after = keys.at(-1)!
    }
  }

  async ready(): Promise<void> {
    await this.#pool.probe(`${this.#prefix}:ready`).catch(rethrow)
  }

  async close(): Promise<void> {
    this.#pool.close()
  }

  /**
   * Sends a commit, and where no answer came sends it again: the script itself knows whether it was done. So it
   * is done once or not at all; only where Redis stays silent is it not known which.
   */
  async #commitOnce(key: string, request: string): Promise<unknown> {
    const end = Date.now() + FIND_OUT
    let sent = false
    for (let attempt = 1; ; attempt++) {
      try {
        const [remember, again] = sent ? [REMEMBER_RESENT, '1'] : [REMEMBER, '0']
        return await this.#pool.ask((client) => client.lkCommit(key, request, remember, again))
      } catch (error) {
        const { refused, unsent } = error as CommandFailed
        // Redis answered that it will not (out of memory, a replica, loading …), so it did nothing now; but an
        // earlier try may still be under way.
        if (refused && !sent) throw unavailable(error)
        sent ||= !refused && !unsent
        if (Date.now() > end) throw new StorageUnavailable('Redis did not answer', { certain: !sent, cause: error })
        await after(Math.min(25 * 2 ** attempt, 400))
      }
    }
  }

  #ask<T>(command: (client: Connection) => Promise<T>): Promise<T> {
    return this.#pool.ask(command).catch(rethrow)
  }

  #key(partition: string): string {
    return `${this.#prefix}:{${partition}}:n`
  }
}

type Answer = [records: [string | null, string | null][], ranges: [string | null, string[], (string | null)[]][], counts: number[]]

function rethrow(error: unknown): never {
  throw unavailable(error)
}

function expectation({ records, indexes }: Expectation) {
  const listed = (map: ReadonlyMap<string, string | null>) => [...map].map(([name, revision]) => [name, revision ?? ''])
  return { records: listed(records), indexes: listed(indexes) }
}

function plain({ index, after: from, before, reverse, limit, fetch }: IndexRange) {
  return { index, after: from, before, reverse: reverse === true, limit, fetch }
}

function snapshot([records, ranges, counts]: Answer): Snapshot {
  return {
    records: records.map(([key, text]) => ({ key, stored: stored(text) })),
    ranges: ranges.map(([revision, entries, values]) => ({ revision, entries, records: values.map(stored) })),
    counts,
  }
}

function stored(text: string | null): Stored | null {
  if (text === null) return null
  const space = text.indexOf(' ')
  return { revision: text.slice(0, space), value: JSON.parse(text.slice(space + 1)) as Value }
}
