import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Partition } from '../../src/store/partition.ts'
import type { Value } from '../../src/store/port.ts'
import { change } from '../support/changes.ts'
import { seededRandom } from '../support/random.ts'

/** More than several steps of a dump. */
const COUNT = 23_000
const keyOf = (i: number) => `k:${(i * 7919) % COUNT}`

/** A partition with many records, inserted in an order other than that of their keys. */
function createPartition(): { partition: Partition; content: Map<string, Value> } {
  const content = new Map(Array.from({ length: COUNT }, (_none, i) => [keyOf(i), { n: i } as Value]))
  const partition = new Partition(new Map())
  partition.apply(change({ put: Object.fromEntries(content) }))
  return { partition, content }
}
const sorted = (content: Iterable<readonly [string, Value]>) => [...content].toSorted(([a], [b]) => (a < b ? -1 : 1))

async function collect(batches: AsyncIterable<(readonly [string, Value])[]>, onBatch: () => unknown = () => undefined) {
  const records: (readonly [string, Value])[] = []
  for await (const batch of batches) {
    records.push(...batch)
    await onBatch()
  }
  return records
}

test('a dump is the state of its beginning, whatever is changed during its steps', async () => {
  const { partition, content } = createPartition()
  const random = seededRandom(1)
  let stopped = false
  let changes = 0
  const changeSome = () => {
    const keys = Array.from({ length: 20 }, () => keyOf(random(COUNT)))
    const put = Object.fromEntries(keys.slice(0, 10).map((key) => [key, { n: -1 }]))
    const remove = keys.slice(10).filter((key) => !(key in put))
    // New records, also between the present ones, and records that were removed and are written again.
    partition.apply(change({ put: { ...put, [`k:${random(COUNT)}x`]: { n: -2 } }, remove }))
    partition.apply(change({ put: Object.fromEntries(remove.slice(0, 3).map((key) => [key, { n: -3 }])) }))
    changes++
  }
  const dumping = collect(partition.dump(), changeSome)
  const changing = (async () => {
    while (!stopped) {
      changeSome()
      await nextTurn()
    }
  })()
  const records = await dumping
  stopped = true
  await changing
  expect(records).toEqual(sorted(content))
  expect(changes).toBeGreaterThan(50)
})

test('other work runs between the steps of a dump', async () => {
  const { partition } = createPartition()
  let turns = 0
  let stopped = false
  const counting = (async () => {
    while (!stopped) {
      await nextTurn()
      turns++
    }
  })()
  await collect(partition.dump())
  stopped = true
  await counting
  // Each record is sorted and merged several times, in steps of 5000.
  expect(turns).toBeGreaterThan((3 * COUNT) / 5000)
})
