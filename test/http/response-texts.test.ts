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
    ['the place does not exist', [], long],
  ])('are not put back if %s', (_title, path, text) => {
    const stored = { id: '1', body: '' }
    expect(() => restoreTexts(stored, [{ path, sha256: 'x' }], [text])).toThrow('a stored response lacks the text')
    expect(stored).toEqual({ id: '1', body: '' })
  })
})
