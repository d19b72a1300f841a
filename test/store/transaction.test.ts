import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import type { Key } from '../../src/store/keys.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import type { Store } from '../../src/store/port.ts'
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

describe.each(drivers)('a unit of work, on $name', (driver) => {
  let store: Store
  const begin = () => new Transaction(store, 'w1', systemRandom)
  const set = (key: Key<{ n: number }>, n: number) =>
    transact(store, 'w1', systemRandom, async (tx) => (await tx.get(key), tx.put(key, { n })))
  beforeEach(async () => {
    store = (await driver.open()).store
    await set(a, 1)
  })
  afterEach(() => store.close())

  test('what was read and changed since is a conflict, at the commit', async () => {
    const tx = begin()
    await tx.get(a)
    await tx.get(b)
    tx.put(b, { n: 9 })
    await set(a, 2)
    await expect(tx.commit()).rejects.toThrow(TransactionConflict)
    expect(await begin().get(b)).toBeUndefined()
  })

  test('and at the next read', async () => {
    const tx = begin()
    await tx.get(a)
    await set(a, 2)
    await expect(tx.get(b)).rejects.toThrow(TransactionConflict)
  })

  test('what was found absent and is there now is a conflict too', async () => {
    const tx = begin()
    await tx.read([a, b])
    tx.put(a, { n: 2 })
    await set(b, 1)
    await expect(tx.commit()).rejects.toThrow(TransactionConflict)
  })

  test('a list that was read and grew is a conflict; a hint is not', async () => {
    const [pinned, hinted] = [begin(), begin()]
    for (const [tx, hint] of [
      [pinned, false],
      [hinted, true],
    ] as const) {
      await tx.range(indexes.workspaceBoards(), { limit: 10, weak: hint })
      await tx.get(a)
      tx.put(a, { n: 5 })
    }
    await transact(
      store,
      'w1',
      systemRandom,
      async (tx) => (await tx.get(keys.board('brd_1')), tx.put(keys.board('brd_1'), board('brd_1', '2026'))),
    )
    await expect(pinned.commit()).rejects.toThrow(TransactionConflict)
    await expect(hinted.commit()).resolves.toBeUndefined()
  })

  test('room that was counted on and is taken is a conflict', async () => {
    const tx = begin()
    expect(await tx.count(indexes.workspaceBoards(), 0)).toBe(0)
    await tx.get(a)
    tx.put(a, { n: 5 })
    await transact(
      store,
      'w1',
      systemRandom,
      async (other) => (await other.get(keys.board('brd_1')), other.put(keys.board('brd_1'), board('brd_1', '2026'))),
    )
    await expect(tx.commit()).rejects.toThrow(TransactionConflict)
  })

  test('nothing is written blindly', async () => {
    expect(() => begin().put(b, { n: 1 })).toThrow('without having been read')
    expect(() => begin().remove(a)).toThrow('without having been read')
  })

  test('it sees what it wrote itself, and others do not before the commit', async () => {
    const tx = begin()
    await tx.get(a)
    tx.put(a, { n: 7 })
    expect([await tx.get(a), await begin().get(a)]).toEqual([{ n: 7 }, { n: 1 }])
    await tx.commit()
    expect([await begin().get(a), tx.revisionOf(a)]).toEqual([{ n: 7 }, expect.any(String)])
  })

  test('index entries follow their record by themselves', async () => {
    const write = (value: ReturnType<typeof board>) =>
      transact(store, 'w1', systemRandom, async (tx) => (await tx.get(keys.board(value.id)), tx.put(keys.board(value.id), value)))
    const lists = async () => {
      const tx = begin()
      const open = await tx.range(indexes.workspaceBoards(), { limit: 10 })
      const own = await tx.range(indexes.boardsOf('usr_1'), { limit: 10 })
      return [open.values.map((value) => value!.id), own.values.map((value) => value!.id)]
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

  test('work is done again from its beginning until it fits', async () => {
    let tries = 0
    const result = await transact(store, 'w1', systemRandom, async (tx) => {
      tries++
      const { n } = (await tx.get(a))!
      if (tries < 3) await set(a, n + 10)
      tx.put(a, { n: n + 1 })
      return n
    })
    expect([tries, result, await begin().get(a)]).toEqual([3, 21, { n: 22 }])
  })
})
