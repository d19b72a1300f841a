import { describe, expect, test } from 'vitest'
import { entityHeaders, isCurrent, requireMatch, requireNoMatch } from '../../src/http/preconditions.ts'
import { ApiError } from '../../src/model/errors.ts'

const REVISION = 'abc'
const TAG = '"abc"'

describe('If-Match', () => {
  /** The refusal of a write to a target with this revision; undefined if the write may go on. */
  const refusal = (condition: string | undefined, revision: string | undefined = REVISION) => {
    try {
      return requireMatch(new Headers(condition === undefined ? {} : { 'if-match': condition }), revision)
    } catch (error) {
      return error instanceof ApiError && error.code === 'precondition_failed' ? error.details : error
    }
  }
  const stale = { headers: { etag: TAG }, members: { current_etag: TAG } }

  test.each([
    ['no condition', undefined],
    ['a star', '*'],
    ['a star between spaces', ' * '],
    ['the current tag', TAG],
    ['the current tag behind others', `"x", W/"abc" ,${TAG}`],
    ['the current tag before others', `${TAG}  , "x"`],
  ])('%s lets a write go on', (_name, condition) => {
    expect(refusal(condition)).toBeUndefined()
  })

  test.each([
    ['another tag', '"x"'],
    ['a weak tag', `W/${TAG}`],
    ['a tag without a comma', `"x" ${TAG}`],
    ['a star in quotes', '"*"'],
    ['the text undefined', '"undefined"'],
  ])('%s refuses a write, and the refusal has the current tag', (_name, condition) => {
    expect(refusal(condition)).toEqual(stale)
  })

  test.each([REVISION, `x, ${REVISION}`, 'undefined', ''])(
    '%j refuses a write, and the refusal does not say that it has changed',
    (condition) => {
      const message = 'If-Match has no ETag: the double quotes belong to it, as in the header ETag.'
      expect(refusal(condition)).toEqual({ ...stale, message })
    },
  )

  test.each(['"x"', '"undefined"', 'undefined', ''])('the condition %j matches no target without a tag', (condition) => {
    const untagged = (() => {
      try {
        return requireMatch(new Headers({ 'if-match': condition }), undefined)
      } catch (error) {
        return error
      }
    })() as ApiError
    expect([untagged.code, untagged.details]).toEqual([
      'precondition_failed',
      { message: 'The target of this request has no strong ETag, so no If-Match can match: omit it.' },
    ])
  })

  test('a star, or no condition, lets a write to a target without a tag go on', () => {
    requireMatch(new Headers({ 'if-match': '*' }), undefined)
    requireMatch(new Headers(), undefined)
  })
})

describe('If-None-Match', () => {
  const current = (condition: string | undefined, revision: string | undefined) =>
    isCurrent(new Headers(condition === undefined ? {} : { 'if-none-match': condition }), revision)

  test.each(['*', ' * ', TAG, `W/${TAG}`, `"x",${TAG}`, `"x" , W/${TAG} ,"y"`])(
    'the copy of a client that sends %s is current',
    (condition) => {
      expect(current(condition, REVISION)).toBe(true)
    },
  )

  test.each([undefined, '"x"', '"x", "y"', REVISION, '"*"', `w/${TAG}`, '"abW/c"', `x${TAG}`, `"x" ${TAG}`, ''])(
    'the copy of a client that sends %s is not current',
    (condition) => {
      expect(current(condition, REVISION)).toBe(false)
    },
  )

  test.each([undefined, '*', '"undefined"'])('no copy of a response without a tag is current, also for %s', (condition) => {
    expect(current(condition, undefined)).toBe(false)
  })
})

describe('If-None-Match of a write', () => {
  /** The refusal of a write to a target with this revision; undefined if the write may go on. */
  const refusal = (condition: string | undefined, revision: string | undefined) => {
    try {
      return requireNoMatch(new Headers(condition === undefined ? {} : { 'if-none-match': condition }), revision)
    } catch (error) {
      return error instanceof ApiError ? [error.code, error.details] : error
    }
  }
  const message = 'The current state of the resource matches If-None-Match.'
  const current = { message, headers: { etag: TAG }, members: { current_etag: TAG } }

  test.each(['*', TAG, `W/${TAG}`, `"x", ${TAG}`])('%s refuses a write, and the refusal has the current tag', (condition) => {
    expect(refusal(condition, REVISION)).toEqual(['precondition_failed', current])
  })

  test.each([undefined, '"x"', '"*"', ''])('%s lets a write go on', (condition) => {
    expect(refusal(condition, REVISION)).toBeUndefined()
  })

  test('of a target without a tag, only a star refuses a write', () => {
    expect(refusal('*', undefined)).toEqual(['precondition_failed', { message }])
    for (const condition of [undefined, TAG, '"undefined"']) expect(refusal(condition, undefined)).toBeUndefined()
  })
})

describe('the headers of a response', () => {
  test('a response without a tag has none of them', () => {
    expect(entityHeaders(new Headers({ 'if-none-match': '*' }), undefined)).toEqual({})
  })

  test('a response with a tag may be kept only by a client that revalidates', () => {
    expect(entityHeaders(new Headers(), REVISION)).toEqual({ etag: TAG })
    expect(entityHeaders(new Headers({ 'if-none-match': '"x"' }), REVISION)).toEqual({ etag: TAG, 'cache-control': 'private, no-cache' })
  })
})
