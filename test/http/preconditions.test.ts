import { expect, test } from 'vitest'
import { isCurrent, requireMatch, requireNoMatch } from '../../src/http/preconditions.ts'

const TAG = '"abc"'
const UNQUOTED = { message: 'If-Match has no ETag: the double quotes belong to it, as in the header ETag.' }
const UNTAGGED = { message: 'The target of this request has no strong ETag, so no If-Match can match: omit it.' }
const MATCHING = { message: 'The current state of the resource matches If-None-Match.' }
const current = { headers: { etag: TAG }, members: { current_etag: TAG } }

/** The details of the refusal of a request with a condition; undefined if it may go on. */
function refusal(check: typeof requireMatch, name: string, condition: string | undefined, revision: string | undefined) {
  try {
    return check(new Headers(condition === undefined ? {} : { [name]: condition }), revision)
  } catch (error) {
    const { code, details } = error as { code: string; details: object }
    return code === 'precondition_failed' ? details : error
  }
}

// By RFC 9110 §13.1: a strong comparison for If-Match, a weak one for If-None-Match.
test.each<[condition: string | undefined, matches: boolean, isCurrent: boolean, hasQuotes?: boolean]>([
  [undefined, true, false],
  ['*', true, true],
  [' * ', true, true],
  [TAG, true, true],
  [`"x", W/"abc" ,${TAG}`, true, true],
  [`${TAG}  , "x"`, true, true],
  [`W/${TAG}`, false, true],
  [`"x" , W/${TAG} ,"y"`, false, true],
  // Of a compressed representation.
  ['"abc-br"', true, true],
  ['"x", "abc-gzip"', true, true],
  ['W/"abc-br"', false, true],
  ['"abc-zstd"', false, false],
  ['"abc-br-br"', false, false],
  ['"-br"', false, false],
  ['"x"', false, false],
  ['"x", "y"', false, false],
  [`"x" ${TAG}`, false, false],
  ['"*"', false, false],
  ['"undefined"', false, false],
  [`w/${TAG}`, false, false],
  ['"abW/c"', false, false],
  [`x${TAG}`, false, false],
  ['abc', false, false, false],
  ['x, abc', false, false, false],
  ['undefined', false, false, false],
  ['', false, false, false],
])(
  'of a resource with the tag "abc" %s, as If-Match, lets a request go on: %s; as If-None-Match, the copy is current: %s',
  (condition, matches, hasCurrent, hasQuotes = true) => {
    expect(refusal(requireMatch, 'if-match', condition, 'abc')).toEqual(matches ? undefined : { ...current, ...(!hasQuotes && UNQUOTED) })
    const stated = new Headers(condition === undefined ? {} : { 'if-none-match': condition })
    expect([isCurrent(stated, 'abc'), isCurrent(stated, undefined)]).toEqual([hasCurrent, false])
    expect(refusal(requireNoMatch, 'if-none-match', condition, 'abc')).toEqual(hasCurrent ? { ...current, ...MATCHING } : undefined)
    // What has no tag.
    const isStar = condition?.trim() === '*'
    expect(refusal(requireMatch, 'if-match', condition, undefined)).toEqual(isStar || condition === undefined ? undefined : UNTAGGED)
    expect(refusal(requireNoMatch, 'if-none-match', condition, undefined)).toEqual(isStar ? MATCHING : undefined)
  },
)
