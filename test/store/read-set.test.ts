import { describe, expect, test } from 'vitest'
import type { Stored } from '../../src/store/port.ts'
import type { Key } from '../../src/store/keys.ts'
import { keysOf, Prefetched, ReadSet, type ReadPage } from '../../src/store/read-set.ts'
import { memberOf, partOf, toTemplates, type RangeRequest, type Read } from '../../src/store/reads.ts'
import { Reference } from '../../src/store/references.ts'

/** A record at its n-th revision. */
const at = (n: number, value: object = {}): Stored => ({ value: { id: '1', open: 'yes', name: `name ${n}`, ...value }, revision: `r${n}` })
const page = (part: Partial<ReadPage> = {}): ReadPage => ({
  entries: ['x 1', 'y 2'],
  fetch: 'a:',
  records: [at(1), null],
  weak: false,
  isCut: false,
  ...part,
})
const partly = (n: number, members: object) => ({ revision: `r${n}`, members })

describe('the set of reads', () => {
  test.each<[what: string, work: (set: ReadSet) => unknown, records: object, expected: object]>([
    ['a record', (set) => set.add('a:1', at(1)), { 'a:1': at(1) }, { 'a:1': 'r1' }],
    ['an absent record', (set) => set.add('a:1', null), { 'a:1': null }, { 'a:1': null }],
    ['a part', (set) => set.add('a:1', at(1), ['id', 'open']), { 'a:1': at(1) }, { 'a:1': partly(1, { id: '1', open: 'yes' }) }],
    ['a part of an absent record', (set) => set.add('a:1', null, ['id']), { 'a:1': null }, { 'a:1': null }],
    [
      'two parts, the second one newer',
      (set) => (set.add('a:1', at(1), ['name', 'id']), set.add('a:1', at(2), ['id', 'open'])),
      { 'a:1': at(2) },
      { 'a:1': partly(2, { name: 'name 2', id: '1', open: 'yes' }) },
    ],
    [
      'a part, and then the whole record',
      (set) => (set.add('a:1', at(1), ['id']), set.add('a:1', at(2))),
      { 'a:1': at(2) },
      { 'a:1': 'r2' },
    ],
    [
      'a whole record, and then a part of it',
      (set) => (set.add('a:1', at(1)), set.add('a:1', at(1), ['id'])),
      { 'a:1': at(1) },
      { 'a:1': 'r1' },
    ],
    ['an absent record, and a part of it', (set) => (set.add('a:1', null), set.add('a:1', null, ['id'])), { 'a:1': null }, { 'a:1': null }],
    ['a page', (set) => set.addPage(page()), { 'a:1': at(1), 'a:2': null }, { 'a:1': 'r1', 'a:2': null }],
    ['a page without records', (set) => set.addPage(page({ fetch: undefined, records: [] })), {}, {}],
    ['a weak page', (set) => set.addPage(page({ weak: true })), { 'a:1': at(1), 'a:2': null }, {}],
    [
      'two pages',
      (set) => (set.addPage(page()), set.addPage(page({ entries: ['3'], records: [at(3)] }))),
      { 'a:1': at(1), 'a:2': null, 'a:3': at(3) },
      { 'a:1': 'r1', 'a:2': null, 'a:3': 'r3' },
    ],
    [
      'a weak page that is newer than a part',
      (set) => (set.add('a:1', at(0), ['id']), set.addPage(page({ weak: true }))),
      { 'a:1': at(0), 'a:2': null },
      { 'a:1': partly(0, { id: '1' }) },
    ],
    [
      'a weak page, and a newer one',
      (set) => (set.addPage(page({ weak: true })), set.addPage(page({ weak: true, records: [at(2), null] }))),
      { 'a:1': at(2), 'a:2': null },
      {},
    ],
    [
      'a weak page, and the record',
      (set) => (set.addPage(page({ weak: true })), set.relyOnWhole('a:1'), set.relyOnWhole('a:2')),
      { 'a:1': at(1), 'a:2': null },
      { 'a:1': 'r1', 'a:2': null },
    ],
    ['a part, and the record', (set) => (set.add('a:1', at(1), ['id']), set.relyOnWhole('a:1')), { 'a:1': at(1) }, { 'a:1': 'r1' }],
    [
      'a page that is forgotten, unless it is weak',
      (set) => (set.addPage(page()), set.forgetWeak('a:1')),
      { 'a:1': at(1), 'a:2': null },
      { 'a:1': 'r1', 'a:2': null },
    ],
    ['a weak page with a forgotten record', (set) => (set.addPage(page({ weak: true })), set.forgetWeak('a:1')), { 'a:2': null }, {}],
  ])('has the records, and what the transaction relies on, of %s', (_what, work, records, expected) => {
    const set = new ReadSet()
    work(set)
    // Each of the two is complete, whichever is asked for first.
    expect(Object.fromEntries(set.expectation.records)).toEqual(expected)
    const other = new ReadSet()
    work(other)
    expect(Object.fromEntries(other.records)).toEqual(records)
    for (const key of ['a:1', 'a:2']) expect([key, set.reliesOn(key)]).toEqual([key, key in expected])
  })

  test('has each record of a page at once', () => {
    const set = new ReadSet()
    set.addPage(page())
    expect([set.get('a:1'), set.get('a:2'), set.get('a:3')]).toEqual([at(1), null, undefined])
    set.addPage(page({ entries: ['3'], records: [at(3)] }))
    expect([set.reliesOn('a:3'), set.reliesOn('a:4')]).toEqual([true, false])
  })

  test('relies on indexes and capacities', () => {
    const set = new ReadSet()
    set.addIndex('i', 'r1')
    set.addIndex('j', null)
    set.addCapacity('k', 5)
    expect(set.expectation).toEqual({
      records: new Map(),
      indexes: new Map([
        ['i', 'r1'],
        ['j', null],
      ]),
      capacity: new Map([['k', 5]]),
    })
  })

  const whole: Key<{ id: string }> = 'whole:1'
  const none: Key<{ id: string }> = 'none:1'
  const part = new Reference<{ id: string }>(['part:', memberOf(whole, 'id')])
  test.each<[what: string, reads: Read[], found: (string | null)[] | undefined, expected: unknown]>([
    ['a whole record that was read', ['whole:1'], ['whole:1'], partly(2, { id: '1' })],
    ['a record that was not read', ['whole:1', 'a:9'], undefined, partly(2, { id: '1' })],
    ['a record that was read weakly', ['a:1'], undefined, partly(2, { id: '1' })],
    ['the part that was read', [partOf('part:1', 'id' as never)], ['part:1'], partly(2, { id: '1' })],
    ['another part', [partOf('part:1', 'id' as never, 'open' as never)], ['part:1'], 'r2'],
    ['no member of a part', [partOf('part:1')], ['part:1'], partly(2, { id: '1' })],
    ['a member that every object has', [partOf('part:1', 'toString' as never)], ['part:1'], 'r2'],
    ['the record of a part', ['part:1'], ['part:1'], 'r2'],
    ['the record of a part, and one that was not read', ['part:1', 'a:9'], undefined, partly(2, { id: '1' })],
    [
      'references, also one without a key',
      ['whole:1', part, new Reference(['whole:', memberOf(part, 'id')]), 'none:1', new Reference(['x:', memberOf(none, 'id')])],
      ['whole:1', 'part:1', 'whole:1', 'none:1', null],
      'r2',
    ],
  ])('resolves %s', (_what, reads, found, expected) => {
    const set = new ReadSet()
    set.add('whole:1', at(1))
    set.add('part:1', at(2), ['id'])
    set.add('none:1', null)
    set.addPage(page({ weak: true }))
    expect(set.resolve(toTemplates(reads), reads)).toEqual(found)
    expect(Object.fromEntries(set.expectation.records)).toEqual({ 'whole:1': 'r1', 'part:1': expected, 'none:1': null })
  })
})

test('pages and counts are known only if all of them were prefetched', () => {
  const prefetched = new Prefetched()
  const range = (name: string): RangeRequest => ({ index: { name, fetch: '' }, options: { limit: 5 } })
  const pagesOf = (...names: string[]) => prefetched.pagesOf(names.map(range))
  const state = () => [
    pagesOf(),
    pagesOf('i'),
    pagesOf('i', 'j'),
    prefetched.countsOf([]),
    prefetched.countsOf(['k']),
    prefetched.countsOf(['k', 'l']),
  ]
  expect(state()).toEqual([[], undefined, undefined, [], undefined, undefined])
  prefetched.addPage(range('i'), page())
  prefetched.addCount('k', 0)
  expect(state()).toEqual([[], [page()], undefined, [], [0], undefined])
})

test('the keys of a page end with the last words of its entries, and there are none without its records', () => {
  expect([keysOf(page()), keysOf(page({ fetch: undefined }))]).toEqual([['a:1', 'a:2'], []])
})
