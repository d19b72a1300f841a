import { beforeEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import type { Index } from '../../src/store/indexes.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'
import { memberOf, partOf } from '../../src/store/reads.ts'
import { Transaction, TransactionConflict } from '../../src/store/transaction.ts'
import { change, readRequest } from '../support/changes.ts'

interface Board {
  readonly id: string
  readonly open: string
  readonly name: string
}
const board = 'board:1' as Key<Board>
const other = 'board:2' as Key<Board>
const card = 'card:1' as Key<{ board_id: string }>
const index: Index<Board> = { name: 'i', fetch: 'board:' }
const access = partOf(board, 'id', 'open')

let store: Store
let tx: Transaction
let reads: number
beforeEach(async () => {
  store = createMemoryStore([])
  await store.commit(
    'w1',
    change({ put: { [board]: { id: '1', open: 'yes', name: 'A' }, [card]: { board_id: '1' } }, index: { i: { add: ['x 1'] } } }),
  )
  const { read } = store
  reads = 0
  store.read = (partition, request) => (reads++, read.call(store, partition, request))
  tx = new Transaction(store, 'w1', systemRandom)
})
const rename = (name: string) => store.commit('w1', change({ put: { [board]: { id: '1', open: 'yes', name } } }))
const close = () => store.commit('w1', change({ put: { [board]: { id: '1', open: 'no', name: 'A' } } }))
/** Commits something else in the transaction. */
const commit = async () => {
  tx.create('note:1', {})
  return tx.commit()
}

const outcomeOfCommit = () =>
  commit().then(
    () => 'done',
    (error: unknown) => (error instanceof TransactionConflict ? 'conflict' : error),
  )

// What is relied on after several reads is tested in read-set.test.ts, and what meets that in partition.test.ts.
describe('a part of a record', () => {
  test.each<[what: string, outcome: 'done' | 'conflict', work: (() => unknown)[]]>([
    ['other members have changed', 'done', [() => tx.read([access]), () => rename('B')]],
    ['one of its members has changed', 'conflict', [() => tx.read([access]), close]],
    [
      'one that a later read relied on has changed',
      'conflict',
      [() => tx.read([partOf(board, 'open')]), () => rename('B'), () => tx.read([partOf(board, 'open', 'name'), card]), () => rename('C')],
    ],
  ])('if %s, the commit is %s', async (_what, outcome, work) => {
    for (const step of work) await step()
    expect(await outcomeOfCommit()).toBe(outcome)
  })

  test('is in conflict with every change if it was recalled: its other members may be old, too', async () => {
    const { records } = (await store.read('w1', readRequest({ records: [board] })))!
    store.recall = () => records
    await rename('B')
    tx.recall([access])
    expect({ known: tx.known(board)?.name, outcome: await outcomeOfCommit() }).toEqual({ known: 'A', outcome: 'conflict' })
  })

  test.each([
    ['it is read as a whole', async () => void (await tx.get(board))],
    ['it is written', async () => tx.put(board, { id: '1', open: 'yes', name: 'mine' })],
    ['it is removed', async () => tx.remove(board)],
    ['it is relied on as a whole', async () => tx.relyOnWhole(board)],
  ])('is in conflict with every change once %s, and nothing is read again', async (_what, then) => {
    await tx.read([access])
    await then()
    expect(reads).toBe(1)
    await rename('B')
    expect(await outcomeOfCommit()).toBe('conflict')
  })

  test('has an expectation with the revision and the members', async () => {
    const revision = (await tx.read([access]), tx.revisionOf(board))
    const { commit: inner } = store
    const expected: unknown[] = []
    const onlyRemoves: unknown[] = []
    store.commit = (partition, one) => (
      expected.push(...one.expect.records),
      onlyRemoves.push(one.onlyRemoves),
      inner.call(store, partition, one)
    )
    await commit()
    expect(expected).toContainEqual([board, { revision, members: { id: '1', open: 'yes' } }])
    const removal = new Transaction(store, 'w1', systemRandom)
    await removal.get('note:1')
    removal.remove('note:1')
    await removal.commit()
    expect(onlyRemoves).toEqual([false, true])
  })

  test('members that were not read cannot be relied on', () => {
    expect(() => tx.relyOnWhole(board)).toThrow(new TypeError('store: "board:1" must be read before it is written'))
  })
})

describe('a prefetch', () => {
  const ranges = [{ index, options: { limit: 5 } }]

  test('later reads of the same need no access to remote storage', async () => {
    Object.assign(store, { isRemote: true })
    await tx.prefetch({ records: [card, keys.board(memberOf(card, 'board_id')), other], ranges, counts: [index] })
    expect(await tx.read([other, card, keys.board(memberOf(card, 'board_id'))])).toEqual([
      undefined,
      { board_id: '1' },
      { id: '1', open: 'yes', name: 'A' },
    ])
    expect((await tx.range(index, { limit: 5 })).entries).toEqual(['x 1'])
    expect({ count: await tx.count(index, 1), counts: await tx.counts([index]) }).toEqual({ count: 1, counts: [1] })
    expect(reads).toBe(1)
  })

  test('storage in the process is asked for what nothing relies on when it is needed', async () => {
    const weak = { limit: 5, weak: true, entriesOnly: true } as const
    await tx.prefetch({ records: [card], ranges: [{ index, options: weak }, ...ranges], counts: [index] })
    await tx.range(index, { limit: 5 })
    expect(reads).toBe(1)
    expect([(await tx.range(index, weak)).entries, await tx.counts([index])]).toEqual([['x 1'], [1]])
    expect(reads).toBe(3)
  })

  test.each([
    ['another bound', { limit: 5, after: 'a' }],
    ['another bound at the end', { limit: 5, before: 'z' }],
    ['another limit', { limit: 6 }],
    ['another direction', { limit: 5, reverse: true }],
    ['another validation', { limit: 5, weak: true }],
    ['entries only', { limit: 5, entriesOnly: true }],
  ])('a range with %s is read', async (_what, options) => {
    await tx.prefetch({ ranges })
    await tx.range(index, options)
    expect(reads).toBe(2)
  })

  test('a range of another index, a record and a count that were not prefetched are read', async () => {
    await tx.prefetch({ records: [card], ranges, counts: [index] })
    await tx.range({ ...index, name: 'j' }, { limit: 5 })
    await tx.read([card, other])
    await tx.counts([index, { ...index, name: 'j' }])
    expect(reads).toBe(4)
  })

  test('a reference without a key needs no second read', async () => {
    const both = [other, keys.card(memberOf(other, 'id'))]
    await tx.prefetch({ records: both })
    expect(await tx.read(both)).toEqual([undefined, undefined])
    expect(reads).toBe(1)
  })

  test('the page of a range has the writes that the transaction has made meanwhile', async () => {
    await tx.prefetch({ ranges })
    tx.put(board, { id: '1', open: 'yes', name: 'mine' })
    expect((await tx.range(index, { limit: 5 })).values).toMatchObject([{ name: 'mine' }])
  })

  test.each([
    ['record', { records: [board] }],
    ['range', { ranges }],
  ])('a %s that was prefetched is expected, even if it is not read later', async (_what, request) => {
    await tx.prefetch(request)
    await rename('B')
    expect(await outcomeOfCommit()).toBe('conflict')
  })

  test('a capacity is expected by the commit only', async () => {
    expect(await tx.count(index, 1)).toBe(1)
    await store.commit('w1', change({ index: { i: { add: ['y 2'] } } }))
    expect(await tx.get(card)).toEqual({ board_id: '1' })
    expect(await outcomeOfCommit()).toBe('conflict')
  })

  test('a range of entries only has no values, and expects no records', async () => {
    const { read } = store
    store.read = (partition, request) => {
      expect(request.ranges.map(({ fetch }) => fetch)).toEqual([undefined])
      return read.call(store, partition, request)
    }
    expect(await tx.range(index, { limit: 5, entriesOnly: true })).toEqual({ entries: ['x 1'], values: [] })
    await rename('B')
    expect(await outcomeOfCommit()).toBe('done')
  })
})
