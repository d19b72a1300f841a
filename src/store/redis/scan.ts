import { Cluster, type Redis } from 'ioredis'
import type { DriverDamage, Stored } from '../port.ts'
import { decodeStored } from './codec.ts'
import type { Run } from './pool.ts'

/** Records per batch. */
const BATCH = 200
/** Keys that one step of SCAN looks at. */
const SCAN_COUNT = 1000

/**
 * Of some records that were missing: which are still listed and missing, at one moment. KEYS[1] is a key of the partition.
 * @returns their keys
 */
const LOST = `
local base, lost = string.sub(KEYS[1], 1, -3), {}
for _, key in ipairs(ARGV) do
  if redis.call('ZSCORE', base .. ':k', key) and redis.call('EXISTS', base .. ':r:' .. key) == 0 then lost[#lost + 1] = key end
end
return lost
`

/**
 * Of some records and indexes: which exist and are not listed, at one moment. ARGV: "r" or "i" before each name.
 * @returns these, in the same form
 */
const UNLISTED = `
local base, unlisted = string.sub(KEYS[1], 1, -3), {}
for _, item in ipairs(ARGV) do
  local kind, name = string.sub(item, 1, 1), string.sub(item, 2)
  local listed
  if kind == 'r' then
    listed = redis.call('ZSCORE', base .. ':k', name)
  else
    listed = redis.call('HEXISTS', base .. ':v', name) == 1
  end
  if not listed and redis.call('EXISTS', base .. ':' .. kind .. ':' .. name) == 1 then unlisted[#unlisted + 1] = item end
end
return unlisted
`

/** Reads all records of a partition in batches (see {@link Store.scan}). Redis loses records when it evicts data. */
export async function* scanRecords(run: Run, base: string): AsyncGenerator<(readonly [key: string, stored: Stored | null])[]> {
  for (let after = '-'; ;) {
    const keys = await run((client) => client.zrangebylex(`${base}:k`, after, '+', 'LIMIT', 0, BATCH))
    if (keys.length === 0) return
    const texts = await run((client) => client.mget(keys.map((key) => `${base}:r:${key}`)))
    const missing = keys.filter((_key, i) => texts[i] === null)
    // Most are missing because they were removed in between.
    const lost = missing.length === 0 ? [] : ((await run((client) => client.eval(LOST, 1, `${base}:n`, ...missing))) as string[])
    yield keys.flatMap((key, i): (readonly [string, Stored | null])[] => {
      const text = texts[i]!
      return text !== null ? [[key, decodeStored(text)]] : lost.includes(key) ? [[key, null]] : []
    })
    after = `(${keys.at(-1)!}`
  }
}

/** Reads the names of the indexes of a partition in batches. */
export async function* scanIndexNames(run: Run, base: string): AsyncGenerator<string[]> {
  for (let cursor = '0'; ;) {
    const [next, pairs] = await run((client) => client.hscan(`${base}:v`, cursor, 'COUNT', SCAN_COUNT))
    yield pairs.filter((_text, i) => i % 2 === 0)
    if (next === '0') return
    cursor = next
  }
}

/** The partitions with records or indexes. Looks at all keys of Redis. */
export async function scanPartitions(run: Run, prefix: string): Promise<string[]> {
  const found = new Set<string>()
  for await (const keys of scanKeys(run, prefix)) for (const { partition } of keys) found.add(partition)
  return [...found]
}

/** Finds the records and indexes that exist and are not listed. Looks at all keys of Redis. */
export async function* scanUnlisted(run: Run, prefix: string): AsyncGenerator<DriverDamage[]> {
  for await (const keys of scanKeys(run, prefix)) {
    const itemsOf = new Map<string, string[]>()
    for (const { partition, kind, name } of keys)
      if (kind !== 'k') itemsOf.set(partition, [...(itemsOf.get(partition) ?? []), `${kind}${name}`])
    for (const [partition, items] of itemsOf) {
      const unlisted = (await run((client) => client.eval(UNLISTED, 1, `${prefix}:{${partition}}:n`, ...items))) as string[]
      yield unlisted.map((item) => ({ partition, [item.startsWith('r') ? 'record' : 'index']: item.slice(1) }))
    }
  }
}

interface ScannedKey {
  readonly partition: string
  readonly kind: 'r' | 'i' | 'k'
  readonly name: string
}

/** The keys of records, indexes and lists of records, from every master. SCAN may return a key twice. */
async function* scanKeys(run: Run, prefix: string): AsyncGenerator<ScannedKey[]> {
  const pattern = new RegExp(`^${prefix}:\\{([^}]*)\\}:(?:([ri]):(.*)|(k))$`, 's')
  const nodes = await run(async (client) => (client instanceof Cluster ? client.nodes('master') : [client]))
  for (const node of nodes) {
    for (let cursor = '0'; ;) {
      const [next, keys] = await run((client) =>
        (client instanceof Cluster ? node : (client as Redis)).scan(cursor, 'MATCH', `${prefix}:{*}:*`, 'COUNT', SCAN_COUNT),
      )
      yield keys.flatMap((key): ScannedKey[] => {
        const [, partition, kind = 'k', name = ''] = pattern.exec(key) ?? []
        return partition === undefined ? [] : [{ partition, kind: kind as ScannedKey['kind'], name }]
      })
      if (next === '0') break
      cursor = next
    }
  }
}
