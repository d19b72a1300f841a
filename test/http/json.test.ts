import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/http/json.ts'
import { ApiError } from '../../src/model/errors.ts'

const parse = (text: string, maxDepth = 3) => parseJson(Buffer.from(text), maxDepth, 10)
/** The message of the refusal; the value if the text is accepted. */
const outcome = (text: string | Uint8Array, maxDepth = 3): unknown => {
  try {
    return parseJson(Buffer.from(text), maxDepth, 10)
  } catch (error) {
    return error instanceof ApiError && error.code === 'bad_request' ? error.message : error
  }
}

const TOO_DEEP = 'The body is nested more than 3 levels deep.'
const DUPLICATE = 'An object of the body has a duplicate member.'
const INVALID = 'The body is not valid JSON.'

describe('parsing JSON', () => {
  test.each([
    ['three arrays', '[[[]]]'],
    ['three objects', '{"a":{"b":{}}}'],
    ['arrays and objects', '[{"a":[]}]'],
    ['arrays beside each other', '[[[]],[[]],[]]'],
    ['objects beside each other', '{"a":{"b":{}},"c":{"b":{}}}'],
    ['brackets in a string', '[["[[[{{{"]]'],
    ['brackets behind an escaped quote', '["\\"[[[[{"]'],
    ['brackets behind an escaped backslash', '["\\\\",[]]'],
    ['a string before the last level', '["a",["b",["c"]]]'],
  ])('%s have at most three levels', (_name, text) => {
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  test.each([
    ['arrays', '[[[[]]]]'],
    ['objects', '{"a":{"b":{"c":{}}}}'],
    ['arrays and objects', '[{"a":[{}]}]'],
    ['a part behind a shallow one', '[[],[[[]]]]'],
    ['a part behind a string with an escaped backslash', '["\\\\",[[[]]]]'],
    ['a part behind a string with an escaped quote', '["\\"",[[[]]]]'],
  ])('four levels of %s are refused', (_name, text) => {
    expect(outcome(text)).toBe(TOO_DEEP)
  })

  test('the depth is checked before the text is parsed', () => {
    expect(outcome('[[[[')).toBe(TOO_DEEP)
    expect(outcome('[[[')).toBe(INVALID)
  })

  test.each([
    ['{"a":1,"a":1}'],
    ['{"a":1 , "b":2, "a" :3}'],
    ['[1,{"a":1,"a":2}]'],
    ['{"a":{"b":1,"b":2}}'],
    ['{"a":[],"a":[]}'],
    ['{"a":{},"b":[{}],"a":1}'],
    ['{"\\u0061":1,"a":2}'],
    ['{"\\"":1,"\\"":2}'],
    ['{"":1,"":2}'],
    ['{"__proto__":1,"__proto__":2}'],
    ['{"a"\n:1,"a"\t:2}'],
  ])('the duplicate member in %s is refused', (text) => {
    expect(outcome(text)).toBe(DUPLICATE)
  })

  test.each([
    ['{"a":{"a":{"a":1}}}'],
    ['[{"a":1},{"a":1}]'],
    ['{"a":"a","b":"a"}'],
    ['{"a":["a","a"],"b":"b"}'],
    ['{"a":[{"b":1}],"b":{"b":1}}'],
    ['{"a":"\\"a\\":1","b":"\\\\"}'],
    ['{"a":"{\\"a\\":1}"}'],
    ['{"a":1,"A":1,"a ":1}'],
  ])('%s has no duplicate member', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  test.each(['', ' ', '{', '{"a":}', "{'a':1}", '[1,]', 'undefined', 'NaN', '"\\x"', '1 2', '}'])('%j is not valid JSON', (text) => {
    expect(outcome(text)).toBe(INVALID)
  })

  test('bytes that are not valid UTF-8 are refused', () => {
    expect(outcome(Uint8Array.from([0x22, 0xff, 0x22]))).toBe('The body is not valid UTF-8.')
    expect(outcome(Uint8Array.from([0x22, 0xc3, 0x22]))).toBe('The body is not valid UTF-8.')
  })
})

test('members and items of lists are weighed before a body is parsed', () => {
  const weigh = (text: string) => {
    let weight = -1
    try {
      parseJson(Buffer.from(text), 4, 1000, (values) => (weight = values))
    } catch {}
    return weight
  }
  expect(['1', '{}', '{"a":1,"b":2}', '[1,2,3]', '{"a":[1,2],"b":{"c":",[{"}}', '[1,2,'].map(weigh)).toEqual([0, 1, 2, 3, 5, 3])
  const items = (count: number) => `[${'1,'.repeat(count - 1)}1]`
  expect([weigh(items(1000)), weigh(items(1001))]).toEqual([1000, -1])
})
