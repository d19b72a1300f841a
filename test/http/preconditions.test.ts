import { beforeEach, describe, expect, test } from 'vitest'
import type { AttemptRecord } from '../../src/http/decision-record.ts'
import {
  entityHeaders,
  isCurrent,
  readEpoch,
  requireClaim,
  requireMatch,
  requireNoMatch,
  requirePreconditions,
  requireUnexpired,
  weakTag,
  withItemTags,
} from '../../src/http/preconditions.ts'
import type { Operation, OperationRequest } from '../../src/resources/operation.ts'
import { keys } from '../../src/store/keys.ts'
import type { Transaction } from '../../src/store/transaction.ts'
import { errorOf } from '../support/error-of.ts'

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

// A weak comparison for both: proxies that compress weaken the tags that they pass on.
test.each<[condition: string | undefined, matches: boolean, isCurrent: boolean, hasQuotes?: boolean]>([
  [undefined, true, false],
  ['*', true, true],
  [' * ', true, true],
  [TAG, true, true],
  [`"x", W/"abc" ,${TAG}`, true, true],
  [`${TAG}  , "x"`, true, true],
  [`W/${TAG}`, true, true],
  [`"x" , W/${TAG} ,"y"`, true, true],
  ['W/"x", W/"y"', false, false],
  // Of a compressed representation.
  ['"abc-br"', true, true],
  ['"x", "abc-gzip"', true, true],
  ['W/"abc-br"', true, true],
  ['"abc-zstd"', true, true],
  ['"abc-deflate"', false, false],
  ['"abc-br-br"', false, false],
  ['"-br"', false, false],
  ['"x"', false, false],
  ['"x", "y"', false, false],
  [`"x" ${TAG}`, false, false],
  ['"*"', false, false],
  ['"undefined"', false, false],
  [`w/${TAG}`, false, false],
  [`W/W/${TAG}`, false, false],
  ['W/abc', false, false, false],
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

test('a response has the tag of the copy that is current, as its client states it', () => {
  const headersOf = (revision: string | undefined, condition?: string) =>
    entityHeaders(new Headers(condition === undefined ? {} : { 'if-none-match': condition }), revision)
  const cached = { 'cache-control': 'private, no-cache' }
  expect(headersOf(undefined, TAG)).toEqual({})
  expect(headersOf('abc')).toEqual({ etag: TAG })
  for (const tag of ['W/"abc-br"', '"abc-gzip"', 'W/"abc"']) expect(headersOf('abc', `"x", ${tag}`)).toEqual({ etag: tag, ...cached })
  for (const condition of ['"x"', '*']) expect(headersOf('abc', condition)).toEqual({ etag: TAG, ...cached })
  expect(weakTag('abc')).toBe('W/"abc"')
})

/** What a transaction that has read a board with the tag "abc" is asked to rely on as a whole. */
let relied: string[]
const tx = {
  revisionOf: () => 'abc',
  known: () => undefined,
  relyOnWhole: (key: string) => void relied.push(key),
} as unknown as Transaction
beforeEach(() => {
  relied = []
})

test.each<[headers: Record<string, string>, isRefused: boolean, isRelied: boolean]>([
  [{}, false, false],
  [{ 'if-match': TAG }, false, true],
  [{ 'if-none-match': '"x"' }, false, true],
  [{ 'if-match': '"x"' }, true, false],
  [{ 'if-none-match': TAG }, true, false],
  [{ 'if-match': TAG, 'if-none-match': TAG }, true, false],
])('a write with %j is refused: %s; its commit relies on the whole record: %s', (headers, isRefused, isRelied) => {
  const check = () => requirePreconditions(tx, new Headers(headers), keys.board('1'))
  if (isRefused) expect(check).toThrow(expect.objectContaining({ code: 'precondition_failed' }))
  else check()
  expect(relied).toEqual(isRelied ? ['board:1'] : [])
})

test('a write to a resource without a tag relies on no record', () => {
  requirePreconditions(tx, new Headers({ 'if-match': '*', 'if-none-match': '"x"' }), undefined)
  expect(relied).toEqual([])
})

test.each<[include: string[] | undefined, expected: object]>([
  [undefined, { id: '1' }],
  [['counts'], { id: '1' }],
  [['etag', 'counts'], { id: '1', etag: TAG }],
])('the items of a page with include %j are %j', (include, expected) => {
  const query = include === undefined ? {} : { include: new Set(include) }
  expect(withItemTags({ id: 'boards.list' } as Operation, { tx, query } as Pick<OperationRequest, 'tx' | 'query'>, [{ id: '1' }])).toEqual([
    expected,
  ])
})

test.each<[text: string | undefined, epoch: number | undefined]>([
  [undefined, undefined],
  ['1', 1],
  ['20', 20],
  ['9'.repeat(15), 999_999_999_999_999],
  ...['', '0', '01', '-1', '1.5', '1x', 'x1', '"1"', '1, 1', '1'.repeat(16)].map((text): [string, undefined] => [text, undefined]),
])('the header If-Claim %j states the epoch %s', (text, epoch) => {
  const read = () => readEpoch(new Headers(text === undefined ? {} : { 'if-claim': text }))
  if (epoch !== undefined || text === undefined) expect(read()).toBe(epoch)
  else
    expect(read).toThrow(
      expect.objectContaining({ code: 'bad_request', message: 'If-Claim must be the epoch of a claim: a whole number, without quotes.' }),
    )
})

describe('a claim that a write states', () => {
  const now = Date.parse('2026-11-20T12:00:00.000Z')
  const at = (seconds: number) => new Date(now + 1000 * seconds).toISOString()
  const token = { id: 'tok_1', user_id: 'usr_1', issued_at: at(-1), expires_at: at(1000), revoked_at: null, replaced_by: null }
  const live = { card_id: 'crd_1', holder_id: 'usr_1', token_id: 'tok_1', epoch: 2, expires_at: at(10), renewed_at: at(0) }
  const lost = (claim: object | null) => ({
    code: 'precondition_failed',
    details: {
      message: 'The calling token does not hold the card with this epoch. Change nothing more: another may be working on it.',
      members: { current_claim: claim },
    },
  })
  let record: AttemptRecord
  beforeEach(() => {
    record = {} as AttemptRecord
  })
  const requestOf = (claim: object | undefined, caller = 'tok_1') =>
    ({ tx: { read: async () => [claim, token] }, clock: () => now, caller: { token: { id: caller } } }) as unknown as OperationRequest
  const require = (request: OperationRequest, epoch = 2) => requireClaim(request, { card: { id: 'crd_1' } }, epoch, record)

  test('counts until the first of all that were stated runs out', async () => {
    await require(requestOf(live))
    expect(record).toEqual({ claimedUntil: now + 10_000 })
    await require(requestOf({ ...live, expires_at: at(5) }))
    await require(requestOf({ ...live, expires_at: at(7) }))
    requireUnexpired({ clock: () => now + 4_999 }, record)
    expect(record).toEqual({ claimedUntil: now + 5_000 })
    expect(() => requireUnexpired({ clock: () => now + 5_000 }, record)).toThrow(expect.objectContaining(lost(null)))
    expect(record.claimed).toEqual(['lost'])
    requireUnexpired({ clock: () => now }, {} as AttemptRecord)
  })

  test.each<[title: string, request: OperationRequest, epoch: number, current: object | null]>([
    ['there is none', requestOf(undefined), 2, null],
    ['it has another epoch', requestOf(live), 1, live],
    ['another token has it', requestOf(live, 'tok_2'), 2, live],
  ])('is lost if %s', async (_title, request, epoch, current) => {
    expect(await errorOf(require(request, epoch))).toMatchObject(lost(current))
    expect(record).toEqual({ claimed: ['lost'] })
  })

  test('cannot hold on a resource that is not a card', async () => {
    expect(await errorOf(requireClaim(requestOf(live), {}, 2, record))).toMatchObject({
      code: 'precondition_failed',
      message: 'This operation changes no card, so If-Claim cannot hold: omit it.',
    })
  })
})
