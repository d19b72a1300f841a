import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Expectation, Store } from '../../src/store/port.ts'
import { changing, expecting, reading } from './changes.ts'

/** What every driver promises, on a store that is opened empty for each test. */
export function contract(open: () => Promise<Store>): void {
  let store: Store
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  const value = async (key: string, partition = 'w1') =>
    (await store.read(partition, reading({ records: [key] })))!.records[0]!.stored?.value
  const entries = async (index: string, options: object = {}) =>
    (await store.read('w1', reading({ ranges: [{ index, limit: 100, ...options }] })))!.ranges[0]!.entries

  test('a record is what was put, with the revision of its commit', async () => {
    const change = changing({ put: { 'a:1': { text: 'true', list: ['123', 'null'], nothing: null, deep: { emoji: '🦊' } } } })
    expect(await store.commit('w1', change)).toBe('done')
    expect(await store.read('w1', reading({ records: ['a:1', 'a:2'] }))).toEqual({
      records: [
        {
          key: 'a:1',
          stored: { value: { text: 'true', list: ['123', 'null'], nothing: null, deep: { emoji: '🦊' } }, revision: change.revision },
        },
        { key: 'a:2', stored: null },
      ],
      ranges: [],
      counts: [],
    })
  })

  test('what was read cannot be changed by whoever reads it', async () => {
    await store.commit('w1', changing({ put: { 'a:1': { list: ['x'] } } }))
    const read = (await value('a:1')) as { list: string[] }
    try {
      read.list.push('y')
    } catch {
      // Frozen: just as well.
    }
    expect(await value('a:1')).toEqual({ list: ['x'] })
  })

  test('partitions know nothing of each other', async () => {
    await store.commit('w1', changing({ put: { 'a:1': { in: 'w1' } }, index: { i: { add: ['x 1'] } } }))
    expect(await value('a:1', 'w2')).toBeUndefined()
    expect((await store.read('w2', reading({ ranges: [{ index: 'i', limit: 9 }], counts: ['i'] })))!).toMatchObject({
      ranges: [{ entries: [] }],
      counts: [0],
    })
  })

  test('a template is filled from the records before it', async () => {
    await store.commit(
      'w1',
      changing({ put: { 'card:1': { board_id: '7', nobody: null }, 'board:7': { name: 'B' }, 'entry:7:9': { ok: true } } }),
    )
    const { records } = (await store.read(
      'w1',
      reading({
        records: [
          'card:1',
          'board:{0.board_id}',
          'entry:{0.board_id}:9',
          'user:{0.nobody}',
          'x:{1.missing}',
          'card:2',
          'board:{5.board_id}',
        ],
      }),
    ))!
    expect(records.map(({ key, stored }) => [key, stored?.value])).toEqual([
      ['card:1', { board_id: '7', nobody: null }],
      ['board:7', { name: 'B' }],
      ['entry:7:9', { ok: true }],
      [null, undefined],
      [null, undefined],
      ['card:2', undefined],
      [null, undefined],
    ])
  })

  test('an index is in order, and read from, to, and backwards', async () => {
    await store.commit('w1', changing({ index: { i: { add: ['b 2', 'a 1', 'a 10', 'B 3', 'c 4', 'a1 5'] } } }))
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
    expect(await entries('nowhere')).toEqual([])
  })

  test('entries come with their records, or with none where they are gone', async () => {
    await store.commit('w1', changing({ put: { 'card:1': { n: 1 } }, index: { i: { add: ['a 1', 'b 2'] } } }))
    const { ranges } = (await store.read('w1', reading({ ranges: [{ index: 'i', limit: 9, fetch: 'card:' }] })))!
    expect(ranges[0]!.records.map((stored) => stored?.value)).toEqual([{ n: 1 }, undefined])
  })

  test('a commit puts, removes and changes indexes, all at once', async () => {
    await store.commit('w1', changing({ put: { 'a:1': { n: 1 }, 'a:2': { n: 2 } }, index: { i: { add: ['x 1', 'x 2'] } } }))
    await store.commit(
      'w1',
      changing({
        put: { 'a:3': { n: 3 } },
        remove: ['a:1', 'a:9'],
        index: { i: { add: ['x 3', 'x 2'], remove: ['x 1', 'x 9'] }, j: { add: ['y 3'] } },
      }),
    )
    expect([await value('a:1'), await value('a:2'), await value('a:3')]).toEqual([undefined, { n: 2 }, { n: 3 }])
    expect([await entries('i'), await entries('j')]).toEqual([['x 2', 'x 3'], ['y 3']])
    expect((await store.read('w1', reading({ counts: ['i', 'j', 'k'] })))!.counts).toEqual([2, 1, 0])
  })

  test.each<[string, (state: { a: string; i: string }) => Partial<Expectation>, 'done' | 'conflict']>([
    ['a record as it is', ({ a }) => ({ records: new Map([['a:1', a]]) }), 'done'],
    ['a record as it was', () => ({ records: new Map([['a:1', 'r0']]) }), 'conflict'],
    ['a record that is there to be absent', () => ({ records: new Map([['a:1', null]]) }), 'conflict'],
    ['an absent record', () => ({ records: new Map([['a:9', null]]) }), 'done'],
    ['an absent record to be there', () => ({ records: new Map([['a:9', 'r0']]) }), 'conflict'],
    ['an index as it is', ({ i }) => ({ indexes: new Map([['i', i]]) }), 'done'],
    ['an index as it was', () => ({ indexes: new Map([['i', 'r0']]) }), 'conflict'],
    ['an index to be new', () => ({ indexes: new Map([['i', null]]) }), 'conflict'],
    ['an index that is new', () => ({ indexes: new Map([['j', null]]) }), 'done'],
    ['as much room as there is', () => ({ capacity: new Map([['i', 2]]) }), 'done'],
    ['more room than there is', () => ({ capacity: new Map([['i', 1]]) }), 'conflict'],
    ['room in an index that is new', () => ({ capacity: new Map([['j', 0]]) }), 'done'],
    [
      'two things of which one is so',
      ({ a }) => ({
        records: new Map([
          ['a:1', a],
          ['a:9', 'r0'],
        ]),
      }),
      'conflict',
    ],
  ])('expecting %s', async (_what, expectation, outcome) => {
    const first = changing({ put: { 'a:1': { n: 1 } }, index: { i: { add: ['x 1', 'x 2'] } } })
    await store.commit('w1', first)
    const expected = expectation({ a: first.revision, i: first.revision })
    const second = changing({ put: { 'a:1': { n: 2 }, 'b:1': {} }, index: { i: { add: ['x 3'] } }, expect: expected })
    // The same expectation of a read: room is a matter of commits alone.
    if (expected.capacity === undefined)
      expect((await store.read('w1', reading({ records: ['a:1'], expect: expecting(expected) }))) === null).toBe(outcome === 'conflict')
    expect(await store.commit('w1', second)).toBe(outcome)
    const after = outcome === 'done' ? [{ n: 2 }, {}, ['x 1', 'x 2', 'x 3']] : [{ n: 1 }, undefined, ['x 1', 'x 2']]
    expect([await value('a:1'), await value('b:1'), await entries('i')]).toEqual(after)
  })

  test('what is removed and made again is not what it was', async () => {
    const first = changing({ put: { 'a:1': { n: 1 } } })
    await store.commit('w1', first)
    await store.commit('w1', changing({ remove: ['a:1'] }))
    await store.commit('w1', changing({ put: { 'a:1': { n: 1 } } }))
    expect(await store.commit('w1', changing({ put: { 'a:1': { n: 2 } }, expect: { records: new Map([['a:1', first.revision]]) } }))).toBe(
      'conflict',
    )
  })

  test('no update is lost: many workers, one counter', async () => {
    await store.commit('w1', changing({ put: { 'n:1': { n: 0 }, 'n:2': { n: 0 } } }))
    const increment = async (): Promise<void> => {
      for (;;) {
        const { records } = (await store.read('w1', reading({ records: ['n:1', 'n:2'] })))!
        const [one, two] = records.map(({ stored }) => stored!)
        expect(one!.value['n']).toBe(two!.value['n'])
        const next = { n: (one!.value['n'] as number) + 1 }
        const change = changing({ put: { 'n:1': next, 'n:2': next }, expect: { records: new Map([['n:1', one!.revision]]) } })
        if ((await store.commit('w1', change)) === 'done') return
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
}
