import { beforeEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { indexes, type Index } from '../../src/store/indexes.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Change, ReadRequest, Store } from '../../src/store/port.ts'
import { memberOf } from '../../src/store/reads.ts'
import { Reference } from '../../src/store/references.ts'
import { Transaction, TransactionConflict } from '../../src/store/transaction.ts'
import { change } from '../support/changes.ts'

interface Item {
  readonly n: number
  readonly next?: string
}
const key = (id: string): Key<Item> => `a:${id}`
const index: Index<Item> = { name: 'i', fetch: 'a:' }

describe('the reads and expectations of a transaction', () => {
  let store: Store
  let tx: Transaction
  let reads: ReadRequest[]
  let commits: Change[]
  const begin = () => new Transaction(store, 'w1', systemRandom)
  const set = (id: string, n: number) => store.commit('w1', change({ put: { [key(id)]: { n } } }))
  /** What the last commit expected. */
  const expected = async () => {
    await tx.commit()
    const { expect: expectation } = commits.at(-1)!
    return { records: [...expectation.records.keys()], indexes: [...expectation.indexes.keys()], capacity: [...expectation.capacity] }
  }
  const write9 = async () => (await tx.get(key('9')), tx.put(key('9'), { n: 9 }))
  beforeEach(async () => {
    store = createMemoryStore([])
    await store.commit(
      'w1',
      change({ put: { 'a:1': { n: 1, next: '2' }, 'a:2': { n: 2 }, 'a:3': { n: 3 } }, index: { i: { add: ['x 1', 'x 2', 'y 3'] } } }),
    )
    const { read, commit } = store
    reads = []
    commits = []
    store.read = (partition, request) => (reads.push(structuredClone(request)), read.call(store, partition, request))
    store.commit = (partition, one) => (commits.push(one), commit.call(store, partition, one))
    tx = begin()
  })

  test('a record that was read is not read again, and one that was not is', async () => {
    expect(await tx.get(key('1'))).toEqual({ n: 1, next: '2' })
    expect(await tx.load({ records: [key('1'), key('1')] })).toEqual({
      records: [
        { n: 1, next: '2' },
        { n: 1, next: '2' },
      ],
      ranges: [],
    })
    expect(reads).toHaveLength(1)
    expect(await tx.read([key('1'), key('3'), key('9')])).toEqual([{ n: 1, next: '2' }, { n: 3 }, undefined])
    expect(await tx.get(key('9'))).toBeUndefined()
    expect(reads).toHaveLength(2)
  })

  test('records and ranges can be read in one snapshot', async () => {
    await tx.get(key('1'))
    const { records, ranges } = await tx.load({ records: [key('1')], ranges: [{ index, options: { after: 'x 1', limit: 5 } }] })
    expect({ records, ranges }).toEqual({
      records: [{ n: 1, next: '2' }],
      ranges: [{ entries: ['x 2', 'y 3'], values: [{ n: 2 }, { n: 3 }] }],
    })
    expect(reads).toHaveLength(2)
    expect(await tx.load({})).toEqual({ records: [], ranges: [] })
    expect(reads).toHaveLength(2)
  })

  test('a prefetch returns what it has read, and reads nothing else', async () => {
    expect([
      await tx.prefetch({ records: [key('1'), key('9')] }),
      await tx.prefetch({ ranges: [{ index, options: { limit: 1 } }] }),
    ]).toEqual([[{ n: 1, next: '2' }, undefined], []])
    await tx.get(key('2'))
    expect(reads.map(({ records, ranges, counts }) => [records, ranges.length, counts])).toEqual([
      [['a:1', 'a:9'], 0, []],
      [[], 1, []],
      [['a:2'], 0, []],
    ])
  })

  test('a page that its driver has cut says so, and has nothing that was written after its last entry', async () => {
    const { read } = store
    store.read = async (partition, request) => {
      const snapshot = (await read.call(store, partition, request))!
      return { ...snapshot, ranges: snapshot.ranges.map((range) => ({ ...range, isCut: true })) }
    }
    const [users, options] = [indexes.users(), { limit: 9, partial: true }]
    const user = (id: string) => ({ id, display_name: id, avatar_url: null, created_at: id, updated_at: id })
    expect(await tx.range(index, { limit: 9 })).toMatchObject({ isCut: true })
    for (const id of ['1', '3']) tx.create(keys.user(id), user(id))
    await tx.commit()
    const other = begin()
    expect(await other.range(users, options)).toEqual({ entries: ['1 1', '3 3'], values: [user('1'), user('3')], isCut: true })
    for (const id of ['2', '4']) other.create(keys.user(id), user(id))
    const values = ['1', '2', '3'].map(user)
    expect(await other.range(users, options)).toEqual({ entries: ['1 1', '2 2', '3 3'], values, isCut: true })
  })

  test('a reference from a member that is missing is undefined, and nothing is expected of it', async () => {
    const nextOf = (id: string) => new Reference<Item>(['a:', memberOf(key(id), 'next')])
    expect(await tx.read([key('1'), nextOf('1'), key('2'), nextOf('2'), key('9')])).toEqual([
      { n: 1, next: '2' },
      { n: 2 },
      { n: 2 },
      undefined,
      undefined,
    ])
    tx.put(key('9'), { n: 9 })
    expect(await expected()).toEqual({ records: ['a:1', 'a:2', 'a:9'], indexes: [], capacity: [] })
  })

  test('a whole index is read in pages of 1000', async () => {
    await store.commit('w1', change({ index: { i: { add: Array.from({ length: 997 }, (_, i) => `z ${1000 + i}`) } } }))
    const { entries, values } = await tx.all(index)
    expect({ entries: entries.length, values: values.length, first: values[0], last: values[999] }).toStrictEqual({
      entries: 1000,
      values: 1000,
      first: { n: 1, next: '2' },
      last: undefined,
    })
    expect(reads.map(({ ranges }) => [ranges[0]!.after, ranges[0]!.limit])).toEqual([
      [undefined, 1000],
      ['z 1996', 1000],
    ])
  })

  test.each([
    [undefined, ['a:1', 'a:2', 'a:3', 'a:9'], ['i']],
    [{}, ['a:1', 'a:2', 'a:3', 'a:9'], ['i']],
    [{ weak: 'records' as const }, ['a:9'], ['i']],
    [{ weak: true }, ['a:9'], []],
  ])('a whole index that is read with the options %j is expected accordingly', async (options, records, indexes) => {
    await tx.all(index, options)
    await write9()
    expect(await expected()).toEqual({ records, indexes, capacity: [] })
  })

  describe('a weak read', () => {
    test('does not allow a write of the record, which can be read again', async () => {
      await tx.range(index, { limit: 9, weak: true })
      expect(() => tx.put(key('1'), { n: 5 })).toThrow(new TypeError('store: "a:1" must be read before it is written'))
      expect(() => tx.remove(key('1'))).toThrow(TypeError)
      await set('1', 7)
      expect(await tx.get(key('1'))).toEqual({ n: 7 })
      tx.put(key('1'), { n: 8 })
      await tx.commit()
    })

    test('returns a record as the transaction itself has read or written it', async () => {
      await tx.get(key('1'))
      tx.put(key('1'), { n: 10 })
      await tx.get(key('2'))
      tx.remove(key('2'))
      expect((await tx.range(index, { limit: 9, weak: true })).values).toEqual([{ n: 10 }, undefined, { n: 3 }])
    })

    test('can be forgotten, unless the transaction relies on the record', async () => {
      await tx.get(key('1'))
      await tx.range(index, { limit: 9, weak: true })
      for (const id of ['1', '2']) tx.forget(key(id))
      expect(['1', '2', '3'].map((id) => tx.known(key(id)))).toEqual([{ n: 1, next: '2' }, undefined, { n: 3 }])
    })

    test('is confirmed if the records have not changed since, and then they are expected', async () => {
      await tx.range(index, { limit: 9, weak: true })
      await set('2', 7)
      await tx.confirm([key('1'), key('3')])
      await write9()
      expect(await expected()).toEqual({ records: ['a:1', 'a:3', 'a:9'], indexes: [], capacity: [] })
    })

    test('is not confirmed if one of the records has changed, was removed or was created', async () => {
      const confirm = async (meanwhile: () => unknown) => {
        const other = begin()
        await other.range(index, { limit: 9, weak: true })
        await meanwhile()
        return other.confirm([key('3'), key('1')])
      }
      await expect(confirm(() => set('1', 7))).rejects.toThrow(TransactionConflict)
      await expect(confirm(() => store.commit('w1', change({ remove: [key('1')] })))).rejects.toThrow(TransactionConflict)
      await expect(confirm(() => set('1', 1))).rejects.toThrow(TransactionConflict)
      await expect(confirm(async () => undefined)).resolves.toBeUndefined()
    })

    test('of an entry without a record is confirmed if the record is still absent', async () => {
      await store.commit('w1', change({ remove: [key('1')] }))
      await tx.range(index, { limit: 9, weak: true })
      await expect(tx.confirm([key('1')])).resolves.toBeUndefined()
    })
  })

  describe('a count', () => {
    test.each([
      [4, [['i', 4]]],
      [3, [['i', 3]]],
      [2, []],
    ])('with the limit %i, of three entries, the commit expects %j', async (limit, capacity) => {
      expect(await tx.count(index, limit)).toBe(3)
      await write9()
      expect((await expected()).capacity).toEqual(capacity)
    })

    test('several counts are read at once, and nothing is expected of them', async () => {
      expect(await tx.counts([index, { name: 'none', fetch: '' }])).toEqual([3, 0])
      expect(reads).toHaveLength(1)
      await write9()
      expect(await expected()).toEqual({ records: ['a:9'], indexes: [], capacity: [] })
    })
  })

  describe('writes', () => {
    test('a new record needs no read before, and is expected to be absent', async () => {
      await tx.create(key('9'), { n: 9 })
      expect([...(await expected()).records]).toEqual(['a:9'])
      expect(commits[0]!.expect.records.get('a:9')).toBeNull()
      expect(await begin().get(key('9'))).toEqual({ n: 9 })
    })

    test('a transaction that writes nothing commits nothing', async () => {
      await tx.get(key('1'))
      await set('1', 5)
      commits.length = 0
      await tx.commit()
      expect(commits).toEqual([])
    })

    test('a revision has 20 characters, and belongs to the read, or for written records to the commit', async () => {
      await tx.read([key('1'), key('2'), key('3'), key('9')])
      const before = ['1', '2', '3', '9'].map((id) => tx.revisionOf(key(id)))
      expect(before).toEqual([expect.any(String), expect.any(String), expect.any(String), undefined])
      tx.put(key('1'), { n: 10 })
      tx.remove(key('2'))
      tx.put(key('9'), { n: 9 })
      const written = ['1', '2', '3', '9', '4'].map((id) => tx.revisionOf(key(id)))
      expect(['1', '2', '3', '9', '4'].map((id) => tx.isWritten(key(id)))).toEqual([true, true, false, true, false])
      await tx.commit()
      const { revision } = commits[0]!
      expect(revision).toMatch(/^[0-9a-z]{20}$/)
      expect(written).toEqual([revision, undefined, before[2], revision, undefined])
      expect(['1', '2', '3', '9', '4'].map((id) => tx.revisionOf(key(id)))).toEqual(written)
    })

    test('a conflict has a name', async () => {
      await tx.get(key('1'))
      tx.put(key('1'), { n: 10 })
      await set('1', 5)
      await expect(async () => tx.commit()).rejects.toMatchObject({ name: 'TransactionConflict' })
    })
  })

  test('a commit names the lease that it is made in', async () => {
    for (const lease of ['t1', undefined]) {
      const other = new Transaction(store, 'w1', systemRandom, lease)
      await other.get(key('1'))
      other.put(key('1'), { n: 5 })
      await other.commit()
      expect(commits.at(-1)!.lease).toBe(lease)
    }
  })

  test('the partition of a transaction can be read', () => {
    expect(tx.partition).toBe('w1')
  })
})
