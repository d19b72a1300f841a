import { beforeEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { decorateStore, type Store } from '../../src/store/port.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { transact } from '../../src/store/transact.ts'
import { TransactionConflict, Transaction } from '../../src/store/transaction.ts'
import { card } from '../support/records.ts'

const a: Key<{ n: number }> = 'a:1'
const b: Key<{ n: number }> = 'b:1'
const board = (id: string) => ({
  id,
  name: id,
  description: '',
  cover_color: null,
  visibility: 'workspace' as const,
  creator_id: 'usr_1',
  created_at: '2026',
  updated_at: '2026',
})

// That a store fulfils what a transaction expects is tested by the contract, on each driver.
describe('a transaction', () => {
  let store: Store
  const begin = () => new Transaction(store, 'w1', systemRandom)
  const set = (key: Key<{ n: number }>, n: number) =>
    transact(store, 'w1', systemRandom, async (tx) => (await tx.get(key), tx.put(key, { n })))
  beforeEach(async () => {
    store = createMemoryStore()
    await set(a, 1)
  })

  test('a read conflicts when a record that was read before has changed', async () => {
    const tx = begin()
    await tx.get(a)
    await set(a, 2)
    await expect(async () => tx.get(b)).rejects.toThrow(TransactionConflict)
  })

  test('a page that was prefetched is read anew when the transaction has removed entries of it', async () => {
    const [first, second] = ['brd_1', 'brd_2']
    const page = { index: indexes.workspaceBoards(), options: { limit: 1 } }
    const setUp = begin()
    for (const id of [first!, second!]) setUp.create(keys.board(id), board(id))
    await setUp.commit()
    const tx = begin()
    await tx.prefetch({ records: [keys.board(first!)], ranges: [page] })
    tx.remove(keys.board(first!))
    expect(await tx.range(page.index, page.options)).toEqual({ entries: [`2026 ${second}`], values: [board(second!)] })
  })

  test('a commit that completes a card makes those ready that it blocked', async () => {
    const [blocker, blocked] = [card({ id: 'c1' }), card({ id: 'c2', blocker_ids: ['c1'] })]
    const stored = async () => {
      const tx = begin()
      const readiness = await tx.read([keys.readiness('c1'), keys.readiness('c2'), keys.readiness('c3')])
      return [readiness.map((one) => one?.open_blocker_ids), (await tx.range(indexes.readyCards('col_1'), { limit: 9 })).entries]
    }
    const setUp = begin()
    for (const one of [blocker, blocked]) setUp.create(keys.card(one.id), one)
    // Only cards are ready, whatever else is like one.
    setUp.create('copy:c3', { ...blocked, id: 'c3' })
    await setUp.commit()
    expect(await stored()).toEqual([[undefined, ['c1'], undefined], ['a0 c1']])
    const tx = begin()
    await tx.get(keys.card('c1'))
    tx.put(keys.card('c1'), { ...blocker, completed_at: '2026' })
    await tx.commit()
    expect(await stored()).toEqual([[undefined, [], undefined], ['a0 c2']])
  })

  describe('reading a whole index', () => {
    const boardIds = Array.from({ length: 1500 }, (_, i) => `brd_${String(i).padStart(4, '0')}`)
    const add = (ids: readonly string[]) =>
      transact(store, 'w1', systemRandom, async (tx) => {
        await tx.read(ids.map((id) => keys.board(id)))
        for (const id of ids) tx.put(keys.board(id), board(id))
      })
    /** Begins a transaction over a store where `change` happens between the first page and the second. */
    const beginWithChange = (change: () => Promise<unknown>) => {
      let pages = 0
      const read: Store['read'] = async (partition, request) => {
        if (request.ranges.length > 0 && partition === 'w1' && pages++ === 1) await change()
        return store.read(partition, request)
      }
      return new Transaction(decorateStore(store, { read }), 'w1', systemRandom)
    }
    beforeEach(() => add(boardIds))

    test('all() throws a TransactionConflict when the index changes between two pages', async () => {
      const tx = beginWithChange(() => add(['brd_9999']))
      await expect(tx.all(indexes.workspaceBoards())).rejects.toThrow(TransactionConflict)
    })

    test('all() throws a TransactionConflict when a record of an earlier page changes', async () => {
      const change = () =>
        transact(store, 'w1', systemRandom, async (tx) => {
          const key = keys.board(boardIds[0]!)
          tx.put(key, { ...(await tx.get(key))!, name: 'changed' })
        })
      await expect(beginWithChange(change).all(indexes.workspaceBoards())).rejects.toThrow(TransactionConflict)
      expect((await beginWithChange(change).all(indexes.workspaceBoards(), { weak: 'records' })).entries).toHaveLength(boardIds.length)
    })
  })
})
