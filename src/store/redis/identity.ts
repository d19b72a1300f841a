import { randomUUID } from 'node:crypto'
import { Cluster } from 'ioredis'
import { StorageUnavailable } from '../port.ts'
import type { Connection } from './client.ts'
import type { Pool, Run } from './pool.ts'
import { masterOf, rangeOf, slotOf, tagsOfRanges, type SlotTable } from './slots.ts'

/** In a cluster, each range of 256 slots has an identity. */
const RANGES = 64
const TAGS = tagsOfRanges(RANGES)

/**
 * Checks that Redis holds the same data as at the start. Otherwise valid tokens would be unknown after it was emptied, or
 * started without its data, and clients would throw them away. It is identified by random texts: by one, or in a cluster by one
 * for each range of slots, because each of its nodes can lose its data. A master with fewer slots than two ranges may have none.
 */
export class Identity {
  readonly #prefix: string
  /** key → what it had at the start */
  readonly #texts: ReadonlyMap<string, string | null>

  constructor(prefix: string, texts: ReadonlyMap<string, string | null>) {
    this.#prefix = prefix
    this.#texts = texts
  }

  /**
   * Reads the identity of a Redis, and chooses it if it has none.
   * @throws {CommandFailed}
   */
  static async open(pool: Pool, prefix: string): Promise<Identity> {
    const keys = pool.isCluster ? TAGS.map((tag) => `${prefix}:id:{${tag}}`) : [`${prefix}:id`]
    return new Identity(
      prefix,
      new Map(await Promise.all(keys.map(async (key) => [key, await readOnce(pool, key, randomUUID())] as const))),
    )
  }

  /**
   * Checks the server that has a partition.
   * @throws {StorageUnavailable}
   */
  async check(run: Run, partition: string): Promise<void> {
    requireSame(await run((client) => this.#isSame(client, this.#keyFor(client, partition))))
  }

  /**
   * Checks all servers.
   * @throws {StorageUnavailable}
   */
  async checkAll(run: Run): Promise<void> {
    await Promise.all([...this.#texts.keys()].map(async (key) => requireSame(await run((client) => this.#isSame(client, key)))))
  }

  async #isSame(client: Connection, key: string): Promise<boolean> {
    return (await client.get(key)) === this.#texts.get(key)
  }

  #keyFor(client: Connection, partition: string): string {
    if (!(client instanceof Cluster)) return `${this.#prefix}:id`
    const table = client as unknown as SlotTable
    const slot = slotOf(partition)
    const nearest = TAGS[rangeOf(slot, RANGES)]!
    // The border between two masters may be within the range.
    const sameMaster = (tag: string): boolean => masterOf(table, slotOf(tag)) === masterOf(table, slot)
    return `${this.#prefix}:id:{${sameMaster(nearest) ? nearest : (TAGS.find(sameMaster) ?? nearest)}}`
  }
}

function requireSame(isSame: boolean): void {
  if (!isSame) throw new StorageUnavailable('Redis was emptied, or holds other data than at the start')
}

/** Reads a text, and writes it only when it is absent: a Redis that is out of memory can then still be read and exported. */
export async function readOnce(pool: Pool, key: string, initial: string): Promise<string | null> {
  const present = await pool.run((client) => client.get(key))
  if (present !== null) return present
  await pool.run((client) => client.set(key, initial, 'NX'))
  return pool.run((client) => client.get(key))
}
