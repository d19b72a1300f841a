import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Expectation, ReadRequest, Store } from '../../src/store/port.ts'
import { change, expectation, readRequest, template } from './changes.ts'

/** The contract of the storage port. `open` opens an empty store for each test. */
export function contract(open: () => Promise<Store>): void {
  let store: Store
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  const commit = (part: Parameters<typeof change>[0]) => store.commit('w1', change(part))
  const read = async (part: Partial<ReadRequest>) => (await store.read('w1', readRequest(part)))!
  const value = async (key: string, partition = 'w1') =>
    (await store.read(partition, readRequest({ records: [key] })))!.records[0]!.stored?.value
  const entries = async (index: string, options: object = {}) =>
    (await read({ ranges: [{ index, limit: 100, ...options }] })).ranges[0]!.entries

  test('a record is read as it was put, with the revision of its commit', async () => {
    const put = change({ put: { 'a:1': { text: 'true', list: ['123', 'null'], nothing: null, deep: { emoji: '🦊' } } } })
    expect(await store.commit('w1', put)).toBe('done')
    expect(await store.read('w1', readRequest({ records: ['a:1', 'a:2'] }))).toEqual({
      records: [
        {
          key: 'a:1',
          stored: { value: { text: 'true', list: ['123', 'null'], nothing: null, deep: { emoji: '🦊' } }, revision: put.revision },
        },
        { key: 'a:2', stored: null },
      ],
      ranges: [],
      counts: [],
    })
  })

  test('changing the value that a read returned has no effect on the store', async () => {
    await commit({ put: { 'a:1': { list: ['x'] } } })
    const read = (await value('a:1')) as { list: string[] }
    try {
      read.list.push('y')
    } catch {
      // Frozen values are allowed too.
    }
    expect(await value('a:1')).toEqual({ list: ['x'] })
  })

  test('partitions are isolated from each other', async () => {
    await commit({ put: { 'a:1': { in: 'w1' } }, index: { i: { add: ['x 1'] } } })
    expect(await value('a:1', 'w2')).toBeUndefined()
    expect((await store.read('w2', readRequest({ ranges: [{ index: 'i', limit: 9 }], counts: ['i'] })))!).toMatchObject({
      ranges: [{ entries: [] }],
      counts: [0],
    })
  })

  test('a key template is resolved from the records before it', async () => {
    await commit({ put: { 'card:1': { board_id: '7', nobody: null }, 'board:7': { name: 'B' }, 'entry:7:9': { ok: true } } })
    const { records } = await read({
      records: [
        'card:1',
        template('board:0.board_id'),
        template('entry:0.board_id:9'),
        template('user:0.nobody'),
        template('x:1.missing'),
        'card:2',
        template('board:5.board_id'),
        template('pair:0.board_id:1.name'),
        template('pair:0.board_id:0.nobody'),
        'x:1',
        'card:1',
        template('deep:10.board_id'),
      ],
    })
    expect(records.map(({ key, stored }) => [key, stored?.value])).toEqual([
      ['card:1', { board_id: '7', nobody: null }],
      ['board:7', { name: 'B' }],
      ['entry:7:9', { ok: true }],
      [null, undefined],
      [null, undefined],
      ['card:2', undefined],
      [null, undefined],
      ['pair:7:B', undefined],
      [null, undefined],
      ['x:1', undefined],
      ['card:1', { board_id: '7', nobody: null }],
      ['deep:7', undefined],
    ])
  })

  test('a text is a key, whatever it looks like', async () => {
    const texts = [
      'board:{0.board_id}',
      'board:0.board_id',
      '["board:",{"index":0,"member":"board_id"}]',
      '{"index":0,"member":"board_id"}',
    ]
    await commit({ put: { 'card:1': { board_id: '7' }, 'board:7': { name: 'B' } } })
    const readTexts = async () => (await read({ records: ['card:1', template('board:0.board_id'), ...texts] })).records.slice(2)
    expect(await readTexts()).toEqual(texts.map((key) => ({ key, stored: null })))
    await commit({ put: Object.fromEntries(texts.map((key) => [key, { key }])) })
    expect((await readTexts()).map(({ stored }) => stored?.value)).toEqual(texts.map((key) => ({ key })))
  })

  test('a template is resolved anew for each read', async () => {
    const readBoth = async () => (await read({ records: ['card:1', template('board:0.board_id')] })).records
    const keysOf = async () => (await readBoth()).map(({ key, stored }) => [key, stored?.value])
    await commit({ put: { 'card:1': { board_id: '7' }, 'board:7': { n: 7 }, 'board:8': { n: 8 } } })
    const first = [
      ['card:1', { board_id: '7' }],
      ['board:7', { n: 7 }],
    ]
    expect([await keysOf(), await keysOf()]).toEqual([first, first])
    await commit({ put: { 'card:1': { board_id: '8' } } })
    const second = [
      ['card:1', { board_id: '8' }],
      ['board:8', { n: 8 }],
    ]
    expect([await keysOf(), await keysOf()]).toEqual([second, second])
    await commit({ put: { 'card:1': { board_id: null } } })
    expect(await keysOf()).toEqual([
      ['card:1', { board_id: null }],
      [null, undefined],
    ])
    await commit({ remove: ['card:1'] })
    expect(await keysOf()).toEqual([
      ['card:1', undefined],
      [null, undefined],
    ])
  })

  test('a template is resolved beside ranges and expectations too', async () => {
    const put = change({ put: { 'card:1': { board_id: '7' }, 'board:7': { n: 7 } }, index: { i: { add: ['x 1'] } } })
    await store.commit('w1', put)
    const request = readRequest({
      records: ['card:1', template('board:0.board_id')],
      ranges: [{ index: 'i', limit: 9 }],
      counts: ['i'],
      expect: expectation({ records: new Map([['board:7', put.revision]]) }),
    })
    for (let time = 1; time <= 2; time++) {
      const { records, ranges, counts } = (await store.read('w1', request))!
      expect({ keys: records.map(({ key }) => key), entries: ranges[0]!.entries, counts }).toEqual({
        keys: ['card:1', 'board:7'],
        entries: ['x 1'],
        counts: [1],
      })
    }
    await commit({ put: { 'board:7': { n: 8 } } })
    expect(await store.read('w1', request)).toBeNull()
  })

  test('an expectation of members is met by another revision, unless one of them has changed or the record was removed', async () => {
    const first = change({ put: { 'a:1': { open: 'yes', by: 'me', name: 'A' } } })
    await store.commit('w1', first)
    const meets = async (members: Record<string, string>) => {
      const expect = expectation({ records: new Map([['a:1', { revision: first.revision, members }]]) })
      const found = (await store.read('w1', readRequest({ expect }))) !== null
      const committed = (await commit({ expect, put: { 'b:1': {} } })) === 'done'
      return [found, committed]
    }
    const all = { open: 'yes', by: 'me' }
    // The revision alone decides while it is the same.
    expect(await meets({ open: 'something else' })).toEqual([true, true])
    await commit({ put: { 'a:1': { open: 'yes', by: 'me', name: 'B', more: null } } })
    expect(await Promise.all([all, { open: 'yes' }, {}].map(meets))).toEqual([
      [true, true],
      [true, true],
      [true, true],
    ])
    for (const open of ['no', null, true, ['yes'], { yes: 'yes' }]) {
      await commit({ put: { 'a:1': { open, by: 'me', name: 'A' } } })
      expect([await meets(all), await meets({ open: 'yes' }), await meets({ by: 'me' })]).toEqual([
        [false, false],
        [false, false],
        [true, true],
      ])
    }
    await commit({ put: { 'a:1': { by: 'me' } } })
    expect([await meets({ open: 'yes' }), await meets({ by: 'me' })]).toEqual([
      [false, false],
      [true, true],
    ])
    await commit({ remove: ['a:1'] })
    expect([await meets({ by: 'me' }), await meets({})]).toEqual([
      [false, false],
      [false, false],
    ])
  })

  // Each of the two commits changes what the other one expects. So the result does not depend on which one comes first.
  test.each<[change: string, members: Record<string, string> | undefined, put: object | undefined, done: number]>([
    ['an expected member', { open: 'yes' }, { open: 'no', title: 'A' }, 1],
    ['a member that is not expected', { open: 'yes' }, { open: 'yes', title: 'B' }, 2],
    ['a member of a record that is expected as a whole', undefined, { open: 'yes', title: 'B' }, 1],
    ['the presence of a record', {}, undefined, 1],
  ])('of two commits at the same time that change %s of each other, as many succeed as may', async (_change, members, put, done) => {
    const keys = ['a:1', 'b:1'] as const
    const first = change({ put: { 'a:1': { open: 'yes', title: 'A' }, 'b:1': { open: 'yes', title: 'A' } } })
    await store.commit('w1', first)
    const expected = members === undefined ? first.revision : { revision: first.revision, members }
    const outcomes = await Promise.all(
      keys.map((key, i) => {
        const other = keys[1 - i]!
        const effect = put === undefined ? { remove: [other] } : { put: { [other]: put } }
        return commit({ expect: { records: new Map([[key, expected]]) }, ...effect })
      }),
    )
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(done)
  })

  test('an index is ordered by bytes, and read in ranges in both directions', async () => {
    await commit({ index: { i: { add: ['b 2', 'a 1', 'a 10', 'B 3', 'c 4', 'a1 5'] } } })
    const all = ['B 3', 'a 1', 'a 10', 'a1 5', 'b 2', 'c 4']
    expect(await entries('i')).toEqual(all)
    expect(await entries('i', { reverse: true })).toEqual(all.toReversed())
    expect(await entries('i', { limit: 2 })).toEqual(all.slice(0, 2))
    expect(await entries('i', { limit: 2, reverse: true })).toEqual(['c 4', 'b 2'])
    expect(await entries('i', { after: 'a 1' })).toEqual(all.slice(2))
    expect(await entries('i', { after: 'a 5' })).toEqual(all.slice(3))
    expect(await entries('i', { before: 'b 2' })).toEqual(all.slice(0, 4))
    expect(await entries('i', { after: 'a 1', before: 'b 2', reverse: true, limit: 1 })).toEqual(['a1 5'])
    expect(await entries('i', { after: 'z' })).toEqual([])
    expect(await entries('i', { after: 'c', before: 'a' })).toEqual([])
    expect(await entries('absent')).toEqual([])
  })

  test('a range can include the records of its entries, with null for absent records', async () => {
    await commit({ put: { 'card:1': { n: 1 } }, index: { i: { add: ['a 1', 'b 2'] } } })
    const { ranges } = await read({ ranges: [{ index: 'i', limit: 9, fetch: 'card:' }] })
    expect(ranges[0]!.records.map((stored) => stored?.value)).toEqual([{ n: 1 }, undefined])
  })

  test('a commit puts and removes records and index entries', async () => {
    await commit({ put: { 'a:1': { n: 1 }, 'a:2': { n: 2 } }, index: { i: { add: ['x 1', 'x 2'] } } })
    await commit({
      put: { 'a:3': { n: 3 } },
      remove: ['a:1', 'a:9'],
      index: { i: { add: ['x 3', 'x 2'], remove: ['x 1', 'x 9'] }, j: { add: ['y 3'] } },
    })
    expect([await value('a:1'), await value('a:2'), await value('a:3')]).toEqual([undefined, { n: 2 }, { n: 3 }])
    expect([await entries('i'), await entries('j')]).toEqual([['x 2', 'x 3'], ['y 3']])
    expect((await read({ counts: ['i', 'j', 'k'] })).counts).toEqual([2, 1, 0])
  })

  test('a range has the revision of the last commit that changed its index, and null while the index is empty', async () => {
    const revision = async () => (await read({ ranges: [{ index: 'i', limit: 1 }] })).ranges[0]!.revision
    expect(await revision()).toBeNull()
    const added = change({ index: { i: { add: ['x 1', 'y 2'] } } })
    await store.commit('w1', added)
    await commit({ put: { 'a:1': {} }, index: { j: { add: ['x 1'] } } })
    expect(await revision()).toBe(added.revision)
    const removed = change({ index: { i: { remove: ['x 1'] } } })
    await store.commit('w1', removed)
    expect(await revision()).toBe(removed.revision)
    await commit({ index: { i: { remove: ['y 2'] } } })
    expect(await revision()).toBeNull()
  })

  test.each<[string, 'done' | 'conflict', (revisions: { a: string; i: string }) => Partial<Expectation>]>([
    ['the current revision of a record', 'done', ({ a }) => ({ records: new Map([['a:1', a]]) })],
    ['another revision of a record', 'conflict', () => ({ records: new Map([['a:1', 'r0']]) })],
    ['the absence of a record that is present', 'conflict', () => ({ records: new Map([['a:1', null]]) })],
    ['the absence of a record that is absent', 'done', () => ({ records: new Map([['a:9', null]]) })],
    ['a revision of a record that is absent', 'conflict', () => ({ records: new Map([['a:9', 'r0']]) })],
    ['the current revision of an index', 'done', ({ i }) => ({ indexes: new Map([['i', i]]) })],
    ['another revision of an index', 'conflict', () => ({ indexes: new Map([['i', 'r0']]) })],
    ['an empty index that is not empty', 'conflict', () => ({ indexes: new Map([['i', null]]) })],
    ['an empty index that is empty', 'done', () => ({ indexes: new Map([['j', null]]) })],
    ['a capacity equal to the number of entries', 'done', () => ({ capacity: new Map([['i', 2]]) })],
    ['a capacity below the number of entries', 'conflict', () => ({ capacity: new Map([['i', 1]]) })],
    ['capacity 0 of an empty index', 'done', () => ({ capacity: new Map([['j', 0]]) })],
    [
      'two revisions, one of them current',
      'conflict',
      ({ a }) => ({
        records: new Map([
          ['a:1', a],
          ['a:9', 'r0'],
        ]),
      }),
    ],
  ])('a commit that expects %s results in %s', async (_what, outcome, expectationOf) => {
    const first = change({ put: { 'a:1': { n: 1 } }, index: { i: { add: ['x 1', 'x 2'] } } })
    await store.commit('w1', first)
    const expected = expectationOf({ a: first.revision, i: first.revision })
    const second = change({ put: { 'a:1': { n: 2 }, 'b:1': {} }, index: { i: { add: ['x 3'] } }, expect: expected })
    // A read with the same expectation has the same result. Capacity applies to commits only.
    if (expected.capacity === undefined)
      expect((await store.read('w1', readRequest({ records: ['a:1'], expect: expectation(expected) }))) === null).toBe(
        outcome === 'conflict',
      )
    expect(await store.commit('w1', second)).toBe(outcome)
    const after = outcome === 'done' ? [{ n: 2 }, {}, ['x 1', 'x 2', 'x 3']] : [{ n: 1 }, undefined, ['x 1', 'x 2']]
    expect([await value('a:1'), await value('b:1'), await entries('i')]).toEqual(after)
  })

  test('a record that is removed and put again has a new revision', async () => {
    const first = change({ put: { 'a:1': { n: 1 } } })
    await store.commit('w1', first)
    await commit({ remove: ['a:1'] })
    await commit({ put: { 'a:1': { n: 1 } } })
    const stale = change({ put: { 'a:1': { n: 2 } }, expect: { records: new Map([['a:1', first.revision]]) } })
    expect(await store.commit('w1', stale)).toBe('conflict')
  })

  test('no update of a counter is lost with many concurrent writers', async () => {
    await commit({ put: { 'n:1': { n: 0 }, 'n:2': { n: 0 } } })
    const increment = async (): Promise<void> => {
      for (;;) {
        const { records } = await read({ records: ['n:1', 'n:2'] })
        const [one, two] = records.map(({ stored }) => stored!)
        expect(one!.value['n']).toBe(two!.value['n'])
        const next = { n: (one!.value['n'] as number) + 1 }
        const update = change({ put: { 'n:1': next, 'n:2': next }, expect: { records: new Map([['n:1', one!.revision]]) } })
        if ((await store.commit('w1', update)) === 'done') return
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
      }
    }
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let i = 0; i < 10; i++) await increment()
      }),
    )
    expect([await value('n:1'), await value('n:2')]).toEqual([{ n: 200 }, { n: 200 }])
  })

  test('all partitions with data are listed', async () => {
    expect(await store.partitions()).toEqual([])
    await commit({ put: { 'a:1': {} } })
    await store.commit('w2', change({ put: { 'a:1': {} }, index: { i: { add: ['x 1'] } } }))
    await store.commit('w3', change({ index: { i: { add: ['x 1'] } } }))
    await store.read('w4', readRequest({ records: ['a:1'] }))
    expect((await store.partitions()).toSorted()).toEqual(['w1', 'w2', 'w3'])
  })

  test('a scan reads each record of the partition once, with its revision, also if more than one batch is written', async () => {
    const many = (from: number) => Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`a:${from + i}`, { n: from + i }]))
    const [first, second, other] = [change({ put: many(0) }), change({ put: many(900) }), change({ put: { 'a:1': { other: true } } })]
    await store.commit('w1', first)
    await store.commit('w1', second)
    await store.commit('w2', other)
    const scanned = async (partition: string) => {
      const found: (readonly [string, unknown])[] = []
      for await (const batch of store.scan(partition)) found.push(...batch)
      return found.toSorted(([a], [b]) => Number(a.slice(2)) - Number(b.slice(2)))
    }
    const stored = (revision: string) => (n: number) => [`a:${n}`, { value: { n }, revision }]
    const numbers = Array.from({ length: 1800 }, (_, n) => n)
    expect(await scanned('w1')).toEqual([
      ...numbers.slice(0, 900).map(stored(first.revision)),
      ...numbers.slice(900).map(stored(second.revision)),
    ])
    expect(await scanned('w2')).toEqual([['a:1', { value: { other: true }, revision: other.revision }]])
    expect(await scanned('w3')).toEqual([])
  })

  test('a record that is removed during a scan is left out of its later batches', async () => {
    await commit({ put: Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`a:${i}`, {}])) })
    const batches: (readonly string[])[] = []
    for await (const batch of store.scan('w1')) {
      expect(batch.every(([, stored]) => stored !== null)).toBe(true)
      batches.push(batch.map(([key]) => key))
      if (batches.length === 1)
        await commit({ remove: Array.from({ length: 1200 }, (_, i) => `a:${i}`).filter((key) => !batches[0]!.includes(key)) })
    }
    expect([...new Set(batches.slice(1).flat())]).toEqual([])
  })

  test('the names of all indexes that have entries are listed', async () => {
    const listed = async (partition: string) => {
      const names = new Set<string>()
      for await (const batch of store.indexNames(partition)) for (const name of batch) names.add(name)
      return [...names].toSorted()
    }
    const names = Array.from({ length: 1500 }, (_, i) => `i:${String(i).padStart(4, '0')}`)
    await commit({ index: Object.fromEntries(names.map((name) => [name, { add: ['x 1'] }])) })
    expect(await listed('w1')).toEqual(names)
    await commit({ index: { 'i:0000': { remove: ['x 1'] }, 'i:0001': { add: ['x 2'], remove: ['x 1'] } } })
    expect([await listed('w1'), await listed('w2')]).toEqual([names.slice(1), []])
  })

  test('an undamaged store has no damage that only its driver can find', async () => {
    await commit({ put: { 'a:1': {}, 'a:2': {} }, index: { i: { add: ['x 1'] } } })
    await commit({ remove: ['a:2'] })
    for await (const batch of store.findDamage()) expect(batch).toEqual([])
  })
}
