import { randomUUID } from 'node:crypto'
import { StorageUnavailable, type Value } from '../port.ts'
import { decodeStored } from './codec.ts'
import { throwUnavailable, toUnavailable, type CommandFailed, type Pool } from './pool.ts'

/** How long Redis keeps a dump of a process that has died, in milliseconds. */
const TTL = 60_000
/** The maximum numbers of keys and bytes of a batch: it takes a few milliseconds in Redis. */
const [BATCH_KEYS, BATCH_BYTES] = [500, 1024 * 1024]

type Reply = [commits: string, last: string, done: 0 | 1, entries: string[]]
type Batch = (readonly [key: string, value: Value])[]

/**
 * Reads all records of a partition as they were when the dump began, in batches ordered by key (see `dump-scripts.ts`). If
 * Redis refuses writes, for example because it is a replica, it cannot save what commits replace. The records must then not
 * change meanwhile.
 * @param key the key `n` of the partition
 * @throws {StorageUnavailable} also when they change, and when Redis has forgotten the dump
 */
export async function* dumpPartition(pool: Pool, key: string): AsyncGenerator<Batch> {
  const id = await begin(pool, key)
  // The consumer may need longer for a batch than Redis keeps the dump.
  const renewal = id === '' ? undefined : setInterval(() => void renew(pool, key, id), TTL / 3).unref()
  try {
    let firstCommits: string | undefined
    for (let after = '', done: 0 | 1 = 0; done === 0;) {
      const reply = (await pool
        .runRead((client) => client.lkDump(key, id, after, TTL, BATCH_KEYS, BATCH_BYTES))
        .catch(throwUnavailable)) as Reply | null
      if (reply === null) throw new StorageUnavailable('Redis has forgotten the dump: after a failover, or because it was not continued')
      const [commits, last, isLast, entries] = reply
      firstCommits ??= commits
      if (id === '' && commits !== firstCommits) throw new StorageUnavailable('Redis refuses writes, but its records change')
      if (entries.length > 0) yield toBatch(entries)
      after = last
      done = isLast
    }
  } finally {
    clearInterval(renewal)
    // If this fails, the dump expires.
    if (id !== '') pool.run((client) => client.lkEndDump(key, id)).catch(() => undefined)
  }
}

/** @returns the id of the dump; "" when Redis refuses writes */
async function begin(pool: Pool, key: string): Promise<string> {
  const id = randomUUID()
  try {
    await pool.runRead((client) => client.lkBeginDump(key, id, TTL))
    return id
  } catch (error) {
    const unavailable = toUnavailable(error)
    if ((error as CommandFailed).refused) return ''
    throw unavailable
  }
}

async function renew(pool: Pool, key: string, id: string): Promise<void> {
  const dumps = key.replace(/n$/, 'd')
  for (const name of [dumps, `${dumps}:${id}`]) await pool.run((client) => client.pexpire(name, TTL)).catch(() => undefined)
}

function toBatch(entries: readonly string[]): Batch {
  return Array.from({ length: entries.length / 2 }, (_, i) => [entries[2 * i]!, decodeStored(entries[2 * i + 1]!)!.value] as const)
}
