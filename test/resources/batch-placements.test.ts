import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { keys, type Key } from '../../src/store/keys.ts'
import { Writes } from '../../src/store/writes.ts'
import { placementKinds, planBatch, withIds, type Choice } from '../stress/histories/batch-requests.ts'
import { compareOrder, compareSubtasks } from '../stress/histories/compare.ts'
import type { ModelColumn } from '../stress/histories/model.ts'
import { TestBoard } from '../support/board.ts'
import { sampledRuns } from '../support/sample.ts'
import { expectEqual } from '../support/expect-equal.ts'
import { findDamage } from '../support/findings.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'

/**
 * The positions that the items of each list have before the first batch. `tight`: of 40 characters, and a place between two of them
 * rebalances the list. `same`: as concurrent requests may get them.
 */
const STARTS = {
  roomy: undefined,
  tight: (i: number) => `a1${'0'.repeat(37)}${i + 1}`,
  same: () => 'a1',
} as const
type Start = keyof typeof STARTS

const number = fc.nat(99)
const kind = fc.oneof(fc.constantFrom(...placementKinds), fc.constantFrom('create card', 'move card', 'move subtask', 'delete subtask'))
const choice: fc.Arbitrary<Choice> = fc.record({ kind, item: number, list: number, side: number, neighbor: number })
const batches = fc.array(fc.array(choice, { minLength: 5, maxLength: 20, size: 'max' }), { minLength: 1, maxLength: 3 })

interface World {
  readonly board: TestBoard
  readonly columns: ModelColumn[]
}

/** A board with three columns, one of them without cards, and with archived cards between the others. */
async function createWorld(service: Service, start: Start): Promise<World> {
  const workspaceId = await service.workspace()
  const board = await TestBoard.create(service, await service.person(workspaceId))
  const names = ['A', 'B', 'C']
  const operations = [
    ...names.map((name) => ({ operation: 'columns.create', body: { name } })),
    ...['$0', '$0', '$0', '$0', '$0', '$0', '$1'].map((column_id) => ({ operation: 'cards.create', body: { column_id, title: 'Card' } })),
    ...['$3', '$3', '$3', '$3', '$9'].map((card_id) => ({ operation: 'subtasks.create', params: { card_id }, body: { title: 'Subtask' } })),
    { operation: 'cards.archive', params: { card_id: '$4' } },
    { operation: 'cards.archive', params: { card_id: '$6' } },
  ]
  const { results } = (await board.post(`/boards/${board.id}/batch`, { operations })).body.data
  const ids: string[] = results.map(({ data }: any) => data.id)
  const positionOf = STARTS[start]
  if (positionOf !== undefined)
    await service.write(workspaceId, async (tx) => {
      const lists = [ids.slice(0, 3), ids.slice(3, 9), ids.slice(9, 10), ids.slice(10, 14), ids.slice(14, 15)]
      for (const list of lists)
        for (const [i, id] of list.entries()) {
          const key = keyOf(id)
          tx.put(key, { ...(await tx.get(key))!, position: positionOf(i) })
        }
    })
  const all = (path: string) => board.all(path)
  const columns: ModelColumn[] = (await all(`/boards/${board.id}/columns`)).map(({ id }) => ({ id, archived: false, cards: [] }))
  const cards = [...(await all(`/boards/${board.id}/cards`)), ...(await all(`/boards/${board.id}/cards?archived=true`))]
  for (const { id, column_id, title, archived_at } of cards.toSorted((a, b) => (entryOf(a) < entryOf(b) ? -1 : 1))) {
    const subtasks = (await all(`/cards/${id}/subtasks`)).map((subtask) => ({ id: subtask.id, title: subtask.title }))
    const rest = { done: false, assignees: [], labels: [], comments: [], attachments: [], cover: null }
    columns.find((column) => column.id === column_id)!.cards.push({ id, title, archived: archived_at !== null, subtasks, ...rest })
  }
  return { board, columns }
}

const entryOf = ({ position, id }: { position: string; id: string }) => `${position} ${id}`
const keyOf = (id: string): Key<any> => ({ col: keys.column, crd: keys.card, sub: keys.subtask })[id.slice(0, 3)]!(id)

/** Performs the batches one after the other, and compares the lists with the model after each. @returns how many operations were made */
async function performAll(service: Service, start: Start, all: readonly (readonly Choice[])[]): Promise<number> {
  let { board, columns } = await createWorld(service, start)
  let performed = 0
  for (const choices of all) {
    const planned = planBatch(columns, choices)
    if (planned.operations.length === 0) continue
    const reply = await board.send('POST', `/boards/${board.id}/batch`, { operations: planned.operations })
    if (reply.status !== 200) expectEqual([planned.operations, reply.text], [planned.operations, ''])
    const { results } = reply.body.data
    columns = withIds(planned.columns, results)
    performed += results.length
    const isDistinct = start !== 'same'
    const readAll = (path: string) => board.all(path)
    const listed = await compareOrder({ id: board.id, columns }, readAll, isDistinct)
    for (const [card] of listed) if (card.subtasks.length > 0) await compareSubtasks(card, readAll, isDistinct)
    // What has an ETag is answered as it is after the batch.
    for (const { operation, data, etag } of results) {
      if (etag === null) continue
      const read = await board.get(`/${operation.split('.')[0]}/${data.id}`)
      expectEqual([operation, data, etag], [operation, read.body.data, read.headers.get('etag')])
    }
  }
  // With room between the positions, nothing has to be rebalanced.
  if (start === 'roomy') {
    const keysOfOrders = (await service.recordKeys(board.creator.workspaceId)).filter((key) => key.startsWith('order:'))
    expectEqual(keysOfOrders, [])
  }
  return performed
}

/** How many histories are made with each start. */
const RUNS = 25
/** How many are made until one finds the seeded bug. One in four does, so that 12 have missed it in 2 of 48 searches. */
const MOST_RUNS = 100

describe('the lists of a board after batches of placements', () => {
  afterEach(() => vi.restoreAllMocks())

  const search = async (start: Start, parameters = sampledRuns(RUNS, 12)): Promise<number> => {
    const service = await Service.start(memory)
    let performed = 0
    try {
      const property = fc.asyncProperty(batches, async (all) => void (performed += await performAll(service, start, all)))
      await fc.assert(property, parameters)
      expectEqual((await findDamage(service.adminDeps)).findings, [])
    } finally {
      await service.stop()
    }
    return performed
  }

  test.each(Object.keys(STARTS) as Start[])('have the order of the model, from %s positions', async (start) => {
    const performed = await search(start)
    expect(performed).toBeGreaterThan(RUNS)
    console.log(`batches from ${start} positions: ${performed} operations compared with the model`)
  })

  test('a seeded bug is found: a record that is written twice is read where it was written first', async () => {
    const { indexes, set } = Writes.prototype
    const stale = new WeakMap<Writes, ReturnType<typeof indexes>>()
    vi.spyOn(Writes.prototype, 'set').mockImplementation(function (this: Writes, key, value) {
      if (!this.put.has(key)) stale.delete(this)
      set.call(this, key, value)
    })
    vi.spyOn(Writes.prototype, 'indexes').mockImplementation(function (this: Writes, before) {
      const known = stale.get(this) ?? indexes.call(this, before)
      stale.set(this, known)
      return known
    })
    await expect(search('roomy', { ...sampledRuns(RUNS, 12), numRuns: MOST_RUNS })).rejects.toThrow('Property failed')
  })
})
