import { describe, expect, test } from 'vitest'
import { isRecord, jsonOf, keptLength } from '../../src/store/record-json.ts'

describe('the JSON of a record', () => {
  const text = (value: object) => {
    const json = jsonOf(value)
    return typeof json === 'string' ? json : json.bytes.toString()
  }

  test('is kept from the second request on', () => {
    const record = Object.freeze({ id: 'x', title: 'Käse "1"', tags: Object.freeze(['a']) })
    const json = JSON.stringify(record)
    expect(keptLength(record)).toBeUndefined()
    for (let i = 0; i < 4; i++) expect(text(record)).toBe(json)
    expect({ keptLength: keptLength(record), isObject: typeof jsonOf(record) === 'object' }).toEqual({
      keptLength: Buffer.byteLength(json),
      isObject: true,
    })
  })

  test('of a value that can change is never kept', () => {
    const value = { title: 'old' }
    expect(isRecord(value)).toBe(false)
    for (let i = 0; i < 3; i++) text(value)
    value.title = 'new'
    expect({ text: text(value), keptLength: keptLength(value) }).toStrictEqual({ text: '{"title":"new"}', keptLength: undefined })
  })

  test('belongs to the same object, not to an equal one', () => {
    const [one, other] = [Object.freeze({ id: 'x' }), Object.freeze({ id: 'x' })]
    for (let i = 0; i < 3; i++) text(one)
    expect([keptLength(one), keptLength(other)]).toEqual([10, undefined])
  })

  test('is forgotten when others need the space', () => {
    const make = (i: number) => Object.freeze({ id: String(i), text: 'x'.repeat(1024 * 1024) })
    const first = make(0)
    for (let i = 0; i < 2; i++) jsonOf(first)
    expect(keptLength(first)).toBeGreaterThan(1024 * 1024)
    for (let i = 1; i <= 20; i++) for (let j = 0, other = make(i); j < 2; j++) jsonOf(other)
    expect(keptLength(first)).toBeUndefined()
    expect(text(first)).toBe(JSON.stringify(first))
  })
})
