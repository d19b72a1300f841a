import type { Driver } from 'unstorage'
import memoryDriver from 'unstorage/drivers/memory'
import { follow } from './follow.ts'
import { lastWord } from './indexes.ts'
import type { Change, Expectation, Range, ReadRequest, Snapshot, Store, Stored, Value } from './port.ts'
import { SortedIndex } from './sorted-index.ts'

/**
 * Records in unstorage's memory driver, indexes beside it. Each read and each commit is one synchronous step,
 * so nothing comes between. Nothing survives the process.
 */
export function createMemoryStore(driver: Driver = memoryDriver()): Store {
  const indexes = new Map<string, SortedIndex>()
  const recordAt = (partition: string, key: string) => (driver.getItem(`${partition}:${key}`) ?? null) as Stored | null
  const indexAt = (partition: string, name: string) => indexes.get(`${partition}:${name}`)

  function holds(partition: string, { records, indexes: revisions, room }: Expectation): boolean {
    for (const [key, revision] of records) if ((recordAt(partition, key)?.revision ?? null) !== revision) return false
    for (const [index, revision] of revisions) if ((indexAt(partition, index)?.revision ?? null) !== revision) return false
    for (const [index, most] of room) if ((indexAt(partition, index)?.size ?? 0) > most) return false
    return true
  }

  function readRange(partition: string, range: Range): Snapshot['ranges'][number] {
    const index = indexAt(partition, range.index)
    const entries = index?.range(range) ?? []
    const records = range.fetch === undefined ? [] : entries.map((entry) => recordAt(partition, range.fetch + lastWord(entry)))
    return { entries, revision: index?.revision ?? null, records }
  }

  return {
    driver: 'memory',
    async read(partition: string, { records, ranges, counts, expect }: ReadRequest): Promise<Snapshot | null> {
      if (!holds(partition, expect)) return null
      return {
        records: follow(records, (key) => recordAt(partition, key)),
        ranges: ranges.map((range) => readRange(partition, range)),
        counts: counts.map((index) => indexAt(partition, index)?.size ?? 0),
      }
    },
    async commit(partition: string, { revision, expect, put, remove, indexes: changes }: Change): Promise<'done' | 'conflict'> {
      if (!holds(partition, expect)) return 'conflict'
      for (const [key, value] of put) void driver.setItem!(`${partition}:${key}`, { value: freeze(value), revision } as never, {})
      for (const key of remove) void driver.removeItem!(`${partition}:${key}`, {})
      for (const [name, { add, remove: gone }] of changes) {
        const id = `${partition}:${name}`
        const index = indexes.get(id) ?? indexes.set(id, new SortedIndex()).get(id)!
        index.change(add, gone, revision)
      }
      return 'done'
    },
    async close(): Promise<void> {
      indexes.clear()
      await driver.dispose?.()
    },
  }
}

// Callers get the very record, so it must not be theirs to change.
function freeze(value: Value): Value {
  for (const member of Object.values(value)) if (Array.isArray(member)) Object.freeze(member)
  return Object.freeze(value)
}
