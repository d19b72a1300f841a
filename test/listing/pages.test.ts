import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { booleanParameter, encodeCursor, listPage, pageQuery, toPage } from '../../src/listing/pages.ts'
import type { Label } from '../../src/model/label.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { change } from '../support/changes.ts'
import { setUpRecords } from '../support/memory-records.ts'

const NO_CURSOR = 'is not a cursor of this list: use page.next_cursor of the previous page, or omit it'
const base64url = (text: string) => Buffer.from(text).toString('base64url')
/** The output of a schema, or the paths and messages of its issues. */
const parse = (schema: z.ZodType, input: unknown) => {
  const result = schema.safeParse(input)
  return result.success ? result.data : result.error.issues.map(({ path, message }) => [path.join('.'), message])
}

describe('the query of a list', () => {
  const query = z.strictObject(pageQuery('labels.list'))

  test('a limit from 1 to 100 is accepted, and without parameters it is 50, without a cursor', () => {
    for (const limit of [1, 9, 100]) expect(parse(query, { limit: `${limit}` })).toEqual({ limit })
    expect(parse(query, {})).toEqual({ limit: 50 })
  })

  test.each(['0', '', '01', '1x', ' 1', '1 ', '-1', '1.5', '10000', 'x10'])('a limit of "%s" is refused', (text) => {
    expect(parse(query, { limit: text })).toEqual([['limit', 'must be a whole number from 1 to 100']])
  })

  test.each(['101', '999', '1000', '9999'])('a limit of %s is too large', (text) => {
    expect(parse(query, { limit: text })).toEqual([['limit', expect.stringContaining('100')]])
  })

  test('a cursor is decoded to the position that it was made of', () => {
    for (const position of ['2026-11-20T12:00:00.000Z lbl_1', 'x', '~'.repeat(200), ' '])
      expect(parse(query, { cursor: encodeCursor('labels.list', position) })).toEqual({ limit: 50, cursor: position })
  })

  const ofLabels = (position: string) => encodeCursor('labels.list', position)
  const encoded = base64url('labels.list\nx')
  test.each([
    ['of another list', encodeCursor('members.list', 'x')],
    ['of a list whose name begins with the same words', encodeCursor('labels.list.all', 'x')],
    ['of a list whose name ends with the same words', encodeCursor('all.labels.list', 'x')],
    ['whose list has the same length', encodeCursor('xxxxxx.list', 'x')],
    ['without a position', ofLabels('')],
    ['with a position of 251 characters', ofLabels('x'.repeat(251))],
    ['with a control character', ofLabels('a\nb')],
    ['with a character that is not ASCII', ofLabels('é')],
    ['that begins with a control character', ofLabels('\u0001b')],
    ['that ends with a control character', ofLabels('b\u007f')],
    ['in another form of base64', `${encoded}=`],
    ['with a character that base64url ignores', `${encoded}!`],
    ['that is empty', ''],
    ['that is no text of ours', 'nonsense'],
  ])('a cursor %s is refused', (_what, cursor) => {
    expect(parse(query, { cursor })).toEqual([['cursor', NO_CURSOR]])
  })

  test('a boolean parameter is "true" or "false", as languages write them, and nothing else', () => {
    expect(['true', 'True', '1', 'false', 'False', '0'].map((text) => parse(booleanParameter, text))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ])
    for (const text of ['', '2', 'yes', 'on']) expect(parse(booleanParameter, text)).toEqual([['', 'must be true or false']])
  })
})

describe('a page of an index', () => {
  const label = (id: string): Label => ({ id, board_id: 'b1', name: id, color: '#000000', created_at: '2026', updated_at: '2026' })
  const index = indexes.labels('b1')
  const records = setUpRecords()
  const page = (query: { limit: number; cursor?: string }) => listPage(records.begin(), 'labels.list', index, query)
  const ids = async (query: { limit: number; cursor?: string }) => (await page(query)).data.map(({ id }) => id)

  beforeEach(() => records.add(Object.fromEntries(['l1', 'l2', 'l3'].map((id) => [keys.label(id), label(id)]))))

  test('a page has at most as many items as its limit, and a cursor exactly if items follow', async () => {
    expect(await page({ limit: 2 })).toEqual({
      data: [label('l1'), label('l2')],
      nextCursor: base64url('labels.list\n2026 l2'),
    })
    expect((await page({ limit: 3 })).nextCursor).toBeNull()
    expect(await page({ limit: 4 })).toEqual({ data: ['l1', 'l2', 'l3'].map(label), nextCursor: null })
    expect((await page({ limit: 1, cursor: '2026 l1' })).nextCursor).toBe(base64url('labels.list\n2026 l2'))
    expect(await ids({ limit: 2, cursor: '2026 l2' })).toEqual(['l3'])
    expect(await page({ limit: 2, cursor: '2026 l3' })).toEqual({ data: [], nextCursor: null })
  })

  test('an entry without a record is left out, and the next page continues behind it', async () => {
    await records.store.commit('w', change({ remove: [keys.label('l2')] }))
    expect(await page({ limit: 2 })).toEqual({ data: [label('l1')], nextCursor: base64url('labels.list\n2026 l2') })
    expect(await ids({ limit: 2, cursor: '2026 l2' })).toEqual(['l3'])
  })

  test('a page reads one entry more than its limit, and not the whole list', async () => {
    records.ranges = []
    await page({ limit: 2 })
    expect(records.ranges.flat().map(({ limit }) => limit)).toEqual([3])
  })

  test('toPage makes no cursor of a list that is complete or empty', () => {
    expect(toPage('l', ['a'], 'p', true)).toEqual({ data: ['a'], nextCursor: base64url('l\np') })
    expect(toPage('l', ['a'], 'p', false)).toEqual({ data: ['a'], nextCursor: null })
    expect(toPage('l', [], undefined, true)).toEqual({ data: [], nextCursor: null })
  })
})
