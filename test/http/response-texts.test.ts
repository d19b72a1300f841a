import { describe, expect, test } from 'vitest'
import { restoreTexts, separateTexts } from '../../src/http/response-texts.ts'

describe('the long texts of a response', () => {
  const long = 'x'.repeat(1001)
  const data = { id: '1', body: long, list: [{ body: long }, null, 'short'], count: 1 }

  test('are taken out and put back', () => {
    const separated = separateTexts(data)
    expect(separated.data).toEqual({ id: '1', body: '', list: [{ body: '' }, null, 'short'], count: 1 })
    expect([...separated.texts.values()]).toEqual([long])
    expect(restoreTexts(separated.data, separated.places, [long, long])).toEqual(data)
    expect(separateTexts(long)).toMatchObject({ data: '', places: [{ path: [] }] })
  })

  test.each([
    ['a text is missing', ['body'], undefined],
    ['the place is missing', ['other'], long],
    ['the place has another text', ['id'], long],
    ['the place is within a text', ['id', 0], long],
    ['the place is inherited', ['__proto__', 'body'], long],
    ['the place is that of nothing', [], long],
  ])('are not put back if %s', (_title, path, text) => {
    const stored = { id: '1', body: '' }
    expect(() => restoreTexts(stored, [{ path, sha256: 'x' }], [text])).toThrow('a stored response lacks the text')
    expect(stored).toEqual({ id: '1', body: '' })
  })
})

test.each<[string, unknown]>([
  [
    'a card',
    { id: 'crd_00000000000000000000', title: 'A card', description: 'x'.repeat(8192), assignee_ids: [], due_at: null, position: 'a0' },
  ],
  ['many short texts of two bytes a character', { results: Array.from({ length: 50 }, () => ({ data: { body: 'é'.repeat(400) } })) }],
  ['ids', { label_ids: Array.from({ length: 30 }, (_, i) => `lbl_${i}`.padEnd(24, '0')), deleted: true }],
])('the size of %s is nearly that of its JSON', (_name, data) => {
  const { size, data: rest, places } = separateTexts(data)
  const exact = Buffer.byteLength(JSON.stringify({ data: rest, texts: places }))
  expect(size / exact).toBeGreaterThan(0.8)
  expect(size / exact).toBeLessThan(1.2)
})
