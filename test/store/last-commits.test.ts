import { expect, test } from 'vitest'
import { COMMITS_LENGTH, LastCommits, lastRevisionOf, lineOf, type Changed } from '../../src/store/redis/last-commits.ts'
import { change } from '../support/changes.ts'

const line = (revision: string, part: Parameters<typeof change>[0]) => lineOf({ ...change(part), revision })
const removed = line('r2', { remove: ['b:1'], index: { i: { add: ['p 1'] } } })
const put = line('r3', { put: { 'a:1': {} }, append: { log: { fetch: 'log:', values: [{}] } } })
const LONG = line('r4', { remove: Array.from({ length: COMMITS_LENGTH }, (_, i) => `a:${i}`) })

function changedBetween(commits: LastCommits, revision: string, other: string): Changed | undefined {
  const all = commits.between(revision, other)?.map(({ changed }) => changed)
  return all && { records: all.flatMap(({ records }) => records), indexes: all.flatMap(({ indexes }) => indexes) }
}

test.each<[string, string | null, string, Changed | undefined]>([
  ['the last commit', removed + put, 'r3', { records: [], indexes: [] }],
  ['a commit before', `\n r1${removed}${put}`, 'r2', { records: ['a:1'], indexes: ['log'] }],
  ['several commits', `\n r1${removed}${put}`, 'r1', { records: ['b:1', 'a:1'], indexes: ['i', 'log'] }],
  ['a commit whose changes are cut', `"]} r2${put}`, 'r2', { records: ['a:1'], indexes: ['log'] }],
  ['a commit whose revision is cut', `2${put}`, 'r2', undefined],
  ['a commit whose revision ends another one', `\n rr2${put}`, 'r2', undefined],
  ['a commit before a long one', put + LONG, 'r3', undefined],
  ['a commit that nobody knows', removed + put, 'r0', undefined],
  ['no commit', removed + put, '', undefined],
  ['a commit of a Redis that was emptied', null, 'r3', undefined],
  ['a commit that an earlier version has written', `r2 {"records":[],"indexes":[]}\nr1 {"rec${put}`, 'r2', undefined],
  ['a commit before one of a still earlier version', `r2${put}`, 'r2', { records: ['a:1'], indexes: ['log'] }],
])('what has changed since %s', (_what, text, revision, changed) => {
  const commits = new LastCommits()
  commits.read(text)
  expect(changedBetween(commits, revision, lastRevisionOf(text))).toEqual(changed)
})

test('what has changed is known across commits of this process, and texts that do not have all of it', () => {
  const commits = new LastCommits()
  commits.read(`\n r1${removed}`)
  commits.note('r3', { records: ['c:1'], indexes: [] }, 'r2')
  commits.read(line('r3', { put: { 'c:1': {} } }) + line('r4', { put: { 'd:1': {} } }))
  expect(commits.between('r1', 'r4')?.map(({ revision }) => revision)).toEqual(['r2', 'r3', 'r4'])
  expect(changedBetween(commits, 'r1', 'r4')).toEqual({ records: ['b:1', 'c:1', 'd:1'], indexes: ['i'] })
  expect(commits.between('r4', 'r1')).toBeUndefined()
})

test('the last line has the last revision, also in a text that an earlier version has written', () => {
  expect([null, 'r9', 'r9\n r10', removed + put, LONG].map(lastRevisionOf)).toEqual(['', 'r9', 'r10', 'r3', 'r4'])
})
