import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { decorateStore, type Store } from '../../src/store/port.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { transact } from '../../src/store/transact.ts'
import { TransactionConflict, Transaction } from '../../src/store/transaction.ts'
import { drivers } from '../support/drivers.ts'

const a: Key<{ n: number }> = 'a:1'
const b: Key<{ n: number }> = 'b:1'
const board = (id: string, created_at: string, visibility: 'workspace' | 'private' = 'workspace') => ({
  id,
  name: id,
  description: '',
  cover_color: null,
  visibility,
  creator_id: 'usr_1',
  created_at,
  updated_at: created_at,
})

describe.each(drivers)('a transaction on $name', (driver) => {
  let store: Store
  const begin = () => new Transaction(store, 'w1', systemRandom)
  const set = (key: Key<{ n: number }>, n: number) =>
    transact(store, 'w1', systemRandom, async (tx) => (await tx.get(key), tx.put(key, { n })))
  const write = (value: ReturnType<typeof board>) =>
    transact(store, 'w1', systemRandom, async (tx) => (await tx.get(keys.board(value.id)), tx.put(keys.board(value.id), value)))
  beforeEach(async () => {
    store = (await driver.open()).store
    await set(a, 1)
  })
  afterEach(() => store.close())

  test('a commit conflicts when a record that was read has changed', async () => {
    const tx = begin()
    await tx.get(a)
    await tx.get(b)
    tx.put(b, { n: 9 })
    await set(a, 2)
    await expect(async () => tx.commit()).rejects.toThrow(TransactionConflict)
    expect(await begin().get(b)).toBeUndefined()
  })

  test('a read conflicts when a record that was read before has changed', async () => {
    const tx = begin()
    await tx.get(a)
    await set(a, 2)
    await expect(async () => tx.get(b)).rejects.toThrow(TransactionConflict)
  })

  test('a commit conflicts when a record that was absent has been created', async () => {
    const tx = begin()
    await tx.read([a, b])
    tx.put(a, { n: 2 })
    await set(b, 1)
    await expect(async () => tx.commit()).rejects.toThrow(TransactionConflict)
  })

  test('a commit conflicts when an index that was read has changed, except after a weak read', async () => {
    const [strongRead, weakRead] = [begin(), begin()]
    for (const [tx, weak] of [
      [strongRead, false],
      [weakRead, true],
    ] as const) {
      await tx.range(indexes.workspaceBoards(), { limit: 10, weak })
      await tx.get(a)
      tx.put(a, { n: 5 })
    }
    await write(board('brd_1', '2026'))
    await expect(async () => strongRead.commit()).rejects.toThrow(TransactionConflict)
    expect(await weakRead.commit()).toBeUndefined()
  })

  test('a commit conflicts when a capacity that was checked is used up', async () => {
    const tx = begin()
    expect(await tx.count(indexes.workspaceBoards(), 0)).toBe(0)
    await tx.get(a)
    tx.put(a, { n: 5 })
    await write(board('brd_1', '2026'))
    await expect(async () => tx.commit()).rejects.toThrow(TransactionConflict)
  })

  test('writing a record that was not read throws', async () => {
    expect(() => begin().put(b, { n: 1 })).toThrow('must be read before it is written')
    expect(() => begin().remove(a)).toThrow('must be read before it is written')
  })

  test('a transaction reads its own writes, and others read them only after the commit', async () => {
    const tx = begin()
    await tx.get(a)
    tx.put(a, { n: 7 })
    expect([await tx.get(a), await begin().get(a)]).toEqual([{ n: 7 }, { n: 1 }])
    await tx.commit()
    expect([await begin().get(a), tx.revisionOf(a)]).toEqual([{ n: 7 }, expect.any(String)])
  })

  test('index entries are updated with their record', async () => {
    const lists = async () => {
      const tx = begin()
      const ofWorkspace = await tx.range(indexes.workspaceBoards(), { limit: 10 })
      const ofCreator = await tx.range(indexes.boardsOf('usr_1'), { limit: 10 })
      return [ofWorkspace.values.map((value) => value!.id), ofCreator.values.map((value) => value!.id)]
    }
    await write(board('brd_2', '2026-02'))
    await write(board('brd_1', '2026-01'))
    expect(await lists()).toEqual([
      ['brd_1', 'brd_2'],
      ['brd_1', 'brd_2'],
    ])
    await write(board('brd_1', '2026-01', 'private'))
    expect(await lists()).toEqual([['brd_2'], ['brd_1', 'brd_2']])
    await transact(store, 'w1', systemRandom, async (tx) => (await tx.get(keys.board('brd_2')), tx.remove(keys.board('brd_2'))))
    expect(await lists()).toEqual([[], ['brd_1']])
  })

  describe('reading a whole index', () => {
    const boardIds = Array.from({ length: 1500 }, (_, i) => `brd_${String(i).padStart(4, '0')}`)
    const add = (ids: readonly string[]) =>
      transact(store, 'w1', systemRandom, async (tx) => {
        await tx.read(ids.map((id) => keys.board(id)))
        for (const id of ids) tx.put(keys.board(id), board(id, '2026'))
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

    test('all() returns every entry and record of an index of more than one page', async () => {
      const { entries, values } = await begin().all(indexes.workspaceBoards())
      expect(entries).toEqual(boardIds.map((id) => `2026 ${id}`))
      expect(values.map((value) => value!.id)).toEqual(boardIds)
    })

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

    test('all() with weak reads ignores a change between two pages', async () => {
      const tx = beginWithChange(() => add(['brd_9999']))
      const { values } = await tx.all(indexes.workspaceBoards(), { weak: true })
      expect(values.map((value) => value!.id)).toEqual([...boardIds, 'brd_9999'])
    })
  })

  test('transact() repeats the work from its beginning after each conflict', async () => {
    let attempts = 0
    const result = await transact(store, 'w1', systemRandom, async (tx) => {
      attempts++
      const { n } = (await tx.get(a))!
      if (attempts < 3) await set(a, n + 10)
      tx.put(a, { n: n + 1 })
      return n
    })
    expect([attempts, result, await begin().get(a)]).toEqual([3, 21, { n: 22 }])
  })
})
