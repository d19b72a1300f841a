import { beforeEach, describe, expect, test, vi } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { decorateStore, type Store } from '../../src/store/port.ts'
import type { Derivation } from '../../src/store/derivation.ts'
import { indexes, type Index } from '../../src/store/indexes.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { transact } from '../../src/store/transact.ts'
import { TransactionConflict, Transaction } from '../../src/store/transaction.ts'

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
    store = createMemoryStore([])
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

  describe('derivations of a commit', () => {
    const log: Index<object> = { name: 'log', fetch: 'entry:' }
    const committed = vi.fn()
    const entries = () => begin().range(log, { limit: 9 })
    beforeEach(() => {
      committed.mockClear()
      // The second one sees what the first one wrote.
      const copy: Derivation = (tx, written) => {
        for (const key of written) tx.putUnread(`copy:${key}`, { of: tx.known(key), before: tx.before(key), isNew: tx.isCreated(key) })
      }
      const append: Derivation = (tx, written) => {
        for (const key of written) for (let i = 0; i < 2; i++) tx.append(log, { i, copy: tx.known(`copy:${key}`) })
        tx.whenCommitted(committed)
      }
      store = createMemoryStore([copy, append])
    })

    test('are a part of it, in order', async () => {
      await transact(store, 'w1', systemRandom, (tx) => tx.create(a, { n: 1 }))
      const copy = { of: { n: 1 }, before: undefined, isNew: true }
      expect({ copy: await begin().get(`copy:${a}`), entries: await entries() }).toMatchObject({
        copy,
        entries: {
          values: [
            { i: 0, copy },
            { i: 1, copy },
          ],
        },
      })
      await set(a, 2)
      expect({ copy: await begin().get(`copy:${a}`), calls: committed.mock.calls }).toEqual({
        copy: { of: { n: 2 }, before: { n: 1 }, isNew: false },
        calls: [[], []],
      })
    })

    test('do not happen in a commit that conflicts, or that writes nothing', async () => {
      const tx = begin()
      await tx.get(a)
      tx.put(a, { n: 1 })
      await set(a, 2)
      committed.mockClear()
      await expect(async () => tx.commit()).rejects.toThrow(TransactionConflict)
      await begin().commit()
      expect({ values: (await entries()).values.length, calls: committed.mock.calls.length }).toEqual({ values: 2, calls: 0 })
    })
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
