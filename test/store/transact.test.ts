import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { StorageUnavailable, type Store } from '../../src/store/port.ts'
import { listAll, transact } from '../../src/store/transact.ts'
import { TransactionConflict, type Transaction } from '../../src/store/transaction.ts'
import { change } from '../support/changes.ts'
import { replaceDelays } from '../support/builtins.ts'

const a: Key<{ n: number }> = 'a:1'

describe('a unit of work', () => {
  let store: Store
  let events: (string | number)[]
  let restore: () => void
  beforeEach(() => {
    store = createMemoryStore([])
    events = []
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    restore = replaceDelays(async (milliseconds) => {
      events.push(milliseconds)
      await turn()
      events.push('over')
    })
  })
  afterEach(() => {
    restore()
    vi.restoreAllMocks()
  })
  const work = <T>(run: (tx: Transaction) => T | Promise<T>) => transact(store, 'w1', systemRandom, run)

  test('returns its result after the commit', async () => {
    expect(await work(async (tx) => (await tx.create(a, { n: 1 }), 'result'))).toBe('result')
    expect(await work((tx) => tx.get(a))).toEqual({ n: 1 })
    expect(events).toEqual([])
  })

  test('runs again in a new transaction after a conflict, when a random delay is over', async () => {
    let attempts = 0
    await work(async (tx) => {
      events.push(`attempt ${++attempts}`)
      const value = await tx.get(a)
      if (attempts < 3) await store.commit('w1', change({ put: { [a]: { n: attempts } } }))
      tx.put(a, { n: (value?.n ?? 0) + 10 })
    })
    expect(events).toEqual(['attempt 1', 1, 'over', 'attempt 2', 2, 'over', 'attempt 3'])
    expect(await work((tx) => tx.get(a))).toEqual({ n: 12 })
  })

  test('runs again after a conflict while it reads, too', async () => {
    let attempts = 0
    await work(async () => {
      if (++attempts < 3) throw new TransactionConflict()
    })
    expect({ attempts, events }).toEqual({ attempts: 3, events: [1, 'over', 2, 'over'] })
  })

  test('fails after 50 conflicts, and nothing was changed', async () => {
    let attempts = 0
    const failed = work(() => {
      attempts++
      throw new TransactionConflict()
    })
    await expect(failed).rejects.toThrow(StorageUnavailable)
    await expect(failed).rejects.toMatchObject({ outcomeKnown: true })
    expect(attempts).toBe(50)
  })

  test('has another lease at each attempt after three conflicts; each lease ends before the next one, and no lease is left at its end', async () => {
    const taken: string[] = []
    const order: string[] = []
    const { takeLease, commit } = store
    store.takeLease = async (partition) => {
      const { id, end } = await takeLease.call(store, partition)
      taken.push(id)
      order.push('lease')
      // A lease that has ended has no effect, so it may be ended twice.
      return { id, end: () => (order.at(-1) === 'lease' && order.push('end'), end()) }
    }
    const leases: (string | undefined)[] = []
    store.commit = async (partition, changed) => {
      leases.push(changed.lease)
      return leases.length < 6 ? 'conflict' : commit.call(store, partition, changed)
    }
    await work(async (tx) => tx.create(a, { n: 1 }))
    expect(leases).toEqual([undefined, undefined, undefined, ...taken])
    expect({ taken: new Set(taken).size, events }).toEqual({ taken: 3, events: [1, 'over', 2, 'over'] })
    expect(order).toEqual(['lease', 'end', 'lease', 'end', 'lease', 'end'])
    // It would wait for a lease that is still held.
    expect(await commit.call(store, 'w1', change({ put: { [a]: { n: 2 } } }))).toBe('done')
  })

  test('throws any other error at once, and writes nothing', async () => {
    const error = new Error('mine')
    const failed = work(async (tx) => {
      await tx.create(a, { n: 1 })
      throw error
    })
    await expect(failed).rejects.toBe(error)
    expect({ events, value: await work((tx) => tx.get(a)) }).toStrictEqual({ events: [], value: undefined })
  })

  test('listAll() returns all records of an index, without the entries that have none', async () => {
    const workspaces = ['w2', 'w3', 'w4']
    await work(async (tx) => {
      for (const id of workspaces) await tx.create(keys.workspaceEntry(id), { id })
    })
    await store.commit('w1', change({ remove: [keys.workspaceEntry('w3')] }))
    expect(await listAll({ store, random: systemRandom }, 'w1', indexes.workspaces())).toEqual([{ id: 'w2' }, { id: 'w4' }])
  })

  test('listAll() is not disturbed by changes between its pages', async () => {
    await work(async (tx) => {
      for (let i = 0; i < 1001; i++) await tx.create(keys.workspaceEntry(`w${1000 + i}`), { id: `w${1000 + i}` })
    })
    const { read } = store
    let pages = 0
    store.read = async (partition, request) => {
      if (pages++ === 1)
        await store.commit(
          'w1',
          change({ put: { [keys.workspaceEntry('w1000')]: { id: 'changed' } }, index: { workspaces: { add: ['x'] } } }),
        )
      return read.call(store, partition, request)
    }
    expect(await listAll({ store, random: systemRandom }, 'w1', indexes.workspaces())).toHaveLength(1001)
    expect({ pages, events }).toEqual({ pages: 2, events: [] })
  })
})
