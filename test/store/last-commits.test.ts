import { expect, test } from 'vitest'
import { changedSince, COMMITS_LENGTH, lastRevisionOf, lineOf } from '../../src/store/redis/last-commits.ts'
import { change } from '../support/changes.ts'

const line = (revision: string, part: Parameters<typeof change>[0]) => `${lineOf({ ...change(part), revision })}\n`
const put = line('r3', { put: { 'a:1': {} }, append: { log: { fetch: 'log:', values: [{}] } } })
const removed = line('r2', { remove: ['b:1'], index: { i: { add: ['p 1'] } } })
const LONG = line('r4', { remove: Array.from({ length: COMMITS_LENGTH }, (_, i) => `a:${i}`) })

test.each<[string, string | null, string, ReturnType<typeof changedSince>]>([
  ['the last commit', put + removed, 'r3', { records: [], indexes: [] }],
  ['a commit before', `${put + removed}r1\n`, 'r2', { records: ['a:1'], indexes: ['log'] }],
  ['several commits', `${put + removed}r1\n`, 'r1', { records: ['a:1', 'b:1'], indexes: ['log', 'i'] }],
  ['a commit whose changes are cut', `${put}r2 {"rec\n`, 'r2', { records: ['a:1'], indexes: ['log'] }],
  ['a commit that is cut', `${put}r2 {"rec`, 'r2', undefined],
  ['a commit whose revision is cut', `${put}r2`, 'r2', undefined],
  ['a commit whose revision begins another one', `${put}${line('r22', {})}`, 'r2', undefined],
  ['a commit before a long one', LONG + put, 'r3', undefined],
  ['a commit that nobody knows', put, 'r0', undefined],
  ['no commit', put, '', undefined],
  ['a commit of a Redis that was emptied', null, 'r3', undefined],
])('what has changed since %s', (_what, text, revision, changed) => {
  expect(changedSince(text, revision)).toEqual(changed)
})

test('a text that an earlier version has written, and a long commit, have a revision alone', () => {
  expect([null, 'r9', put, LONG].map(lastRevisionOf)).toEqual(['', 'r9', 'r3', 'r4'])
})
