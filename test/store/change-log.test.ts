import { describe, expect, test } from 'vitest'
import { DAY } from '../../src/model/time.ts'
import { ChangeLog, numberAppended, secondTombstoneId } from '../../src/store/change-log.ts'
import type { Change } from '../../src/store/port.ts'
import { change } from '../support/changes.ts'
import { card, claimOf } from '../support/records.ts'

const BOARD = 'brd_abcdefghijklmnopqrst'
const OTHER = 'brd_0'
const NOW = '2026-11-20T12:00:00.000Z'
/** Days since 1970 until then. */
const TODAY = 20_777
const AUTHOR = { actor_id: 'usr_1', token_id: 'tok_1', request_id: 'request' }

/** What a transaction leaves: two boards, and a card of the first. */
const present: Readonly<Record<string, object>> = {
  [`board:${BOARD}`]: {},
  [`board:${OTHER}`]: {},
  'card:1': { board_id: BOARD },
}
const add = (log: ChangeLog, changed: Change, before: Record<string, object> = {}) =>
  log.addTo(changed, AUTHOR, {
    before: new Map(Object.entries(before).map(([key, value]) => [key, { value: value as never, revision: 'r' }])),
    known: (key) => present[key],
  })
const record = (kind: string, id: string, action: string, more: object = {}) => ({ at: NOW, kind, id, action, ...more, ...AUTHOR })
const work = (action: string, more: object = {}) => record('work', '1', action, more)

describe('a change log', () => {
  const held = claimOf('1', BOARD, { epoch: 3, expires_at: '2026-11-20T12:00:00.001Z' })
  const past = { ...held, expires_at: NOW }
  const ended = { ...held, expires_at: null }
  const failure = { attempts: 2, reason: 'No network.', failed_at: NOW, not_before: NOW }
  const failed = { ...ended, ...failure }
  const lost = { lost_epoch: 3 }
  const counted = { ...ended, ...lost, attempts: 1, failed_at: NOW }

  test.each<
    [what: string, key: string, before: object | undefined, after: object | undefined, entries: object | readonly object[] | undefined]
  >([
    ['a new board', `board:${BOARD}`, undefined, {}, record('board', BOARD, 'created')],
    ['a changed label', 'label:1', { board_id: BOARD }, { board_id: BOARD, name: 'x' }, record('label', '1', 'updated')],
    ['a removed column', 'column:1', { board_id: BOARD }, undefined, record('column', '1', 'deleted')],
    ['a board member', `board_member:${BOARD}:usr_2`, undefined, { board_id: BOARD }, record('board_member', 'usr_2', 'created')],
    ['a comment on a card', 'comment:1', undefined, { card_id: '1' }, record('comment', '1', 'created')],
    ['a removed comment on a card', 'comment:1', { card_id: '1' }, undefined, record('comment', '1', 'deleted')],
    ['a comment on a deleted card', 'comment:1', { card_id: '2' }, undefined, undefined],
    ['a label of a deleted board', 'label:1', { board_id: 'brd_9' }, undefined, undefined],
    ['a removed board', 'board:brd_9', {}, undefined, undefined],
    ['an object that was absent and is removed', 'label:1', undefined, undefined, undefined],
    ['a record of another kind', 'readiness:1', undefined, { board_id: BOARD }, undefined],
    ['the first claim of a card', 'claim:1', undefined, held, record('claim', '1', 'claimed', { epoch: 3 })],
    ['its next claim', 'claim:1', ended, { ...held, epoch: 4 }, record('claim', '1', 'claimed', { epoch: 4 })],
    ['a renewed claim', 'claim:1', past, held, undefined],
    ['a claim that is ended', 'claim:1', held, ended, record('claim', '1', 'released', { epoch: 3 })],
    ['a claim that has run out and is counted', 'claim:1', past, counted, work('failed', { attempts: 1, reason: null })],
    ['a claim whose token has ended', 'claim:1', held, counted, work('failed', { attempts: 1, reason: null })],
    [
      'a retry of a claim whose token has ended',
      'claim:1',
      held,
      { ...ended, ...lost },
      [work('failed', { attempts: 1, reason: null }), work('retried')],
    ],
    ['a claim that has run out after a move', 'claim:1', { ...past, was_moved: true }, { ...ended, ...lost }, undefined],

    [
      'the next claim after one that has run out',
      'claim:1',
      past,
      { ...held, ...lost, epoch: 4, attempts: 1, failed_at: NOW },
      [work('failed', { attempts: 1, reason: null }), record('claim', '1', 'claimed', { epoch: 4 })],
    ],
    [
      'an attempt that fails',
      'claim:1',
      { ...held, attempts: 1 },
      failed,
      [record('claim', '1', 'released', { epoch: 3 }), work('failed', { attempts: 2, reason: 'No network.' })],
    ],
    [
      'the last attempt that fails',
      'claim:1',
      { ...held, attempts: 1, max_attempts: 2 },
      { ...failed, max_attempts: 2 },
      [record('claim', '1', 'released', { epoch: 3 }), work('failed', { attempts: 2, reason: 'No network.' }), work('stuck')],
    ],
    ['a card that was stuck before', 'claim:1', { ...failed, max_attempts: 2 }, { ...failed, max_attempts: 2, answer_id: null }, undefined],
    ['a question', 'claim:1', held, { ...ended, question_id: 'q' }, [record('claim', '1', 'released', { epoch: 3 }), work('asked')]],
    ['an answer', 'claim:1', { ...ended, question_id: 'q' }, { ...ended, answer_id: 'a' }, work('answered')],
    ['a question that is withdrawn', 'claim:1', { ...ended, question_id: 'q' }, ended, undefined],
    ['a retry', 'claim:1', failed, ended, work('retried')],
    [
      'a retry of a claim that has run out',
      'claim:1',
      past,
      { ...ended, ...lost },
      [work('failed', { attempts: 1, reason: null }), work('retried')],
    ],
    ['a retry of nothing', 'claim:1', ended, { ...ended, answer_id: null }, undefined],
    ['a claim that is ended twice', 'claim:1', ended, ended, undefined],
    ['a claim that is stored with its end', 'claim:1', undefined, ended, undefined],
    ['a removed claim', 'claim:1', held, undefined, undefined],
  ])('of %s has the right entry', (_what, key, before, after, entries) => {
    const changed = change(after === undefined ? { remove: [key] } : { put: { [key]: after } })
    const result = add(new ChangeLog(() => Date.parse(NOW)), changed, before && { [key]: before })
    if (entries === undefined) expect(result).toBe(changed)
    else expect(result.append).toEqual(new Map([[`changes:${BOARD}`, { fetch: `change:${BOARD}:`, values: [entries].flat() }]]))
  })

  test.each([
    ['completed', ended],
    ['released', ended],
    ['ended with a question', { ...ended, question_id: 'q' }],
  ])('has no attempt for a claim that was %s in time, and runs out before the commit', (_how, after) => {
    const result = add(new ChangeLog(() => Date.parse(NOW)), change({ put: { 'claim:1': after } }), { 'claim:1': past })
    const actions = [...(result.append?.values() ?? [])].flatMap(({ values }) => values.map((one) => (one as { action: string }).action))
    expect(actions).toContain('released')
    expect(actions).not.toContain('failed')
  })

  test.each([
    ['is completed', { completed_at: NOW }],
    ['is moved to another column', { column_id: 'col_2' }],
  ])('of a card that %s has no retry: its attempts are forgotten with that', (_what, members) => {
    const before = card({ id: '1', board_id: BOARD })
    const changed = change({ put: { 'card:1': { ...before, ...members }, 'claim:1': ended } })
    const { append } = add(new ChangeLog(() => Date.parse(NOW)), changed, { 'card:1': before, 'claim:1': failed })
    expect(append!.get(`changes:${BOARD}`)!.values).toEqual([record('card', '1', 'updated')])
  })

  test('adds entries in the order of the writes, for each board, with a tombstone for the day', () => {
    const changed = change({
      put: { 'label:1': { board_id: BOARD }, 'label:2': { board_id: OTHER }, 'label:3': { board_id: BOARD } },
      remove: ['label:4', 'token:1'],
      index: { 'labels:x': { add: ['x 1'] }, tombstones: { add: ['x 2'], remove: ['x 3'] } },
    })
    const tombstones = [BOARD, OTHER].map((target, i) => ({
      id: [`tmb_abcdefghijklmn0${TODAY}`, `tmb_00${TODAY}`][i]!,
      kind: 'changes',
      target,
      not_before: '2026-11-21T00:05:00.000Z',
    }))
    expect(add(new ChangeLog(() => Date.parse(NOW)), changed, { 'label:4': { board_id: BOARD } })).toEqual({
      ...changed,
      put: new Map<string, unknown>([...changed.put, ...tombstones.map((tombstone) => [`tombstone:${tombstone.id}`, tombstone] as const)]),
      indexes: new Map([
        ['labels:x', { add: ['x 1'], remove: [] }],
        ['tombstones', { add: ['x 2', ...tombstones.map(({ id }) => `2026-11-21T00:05:00.000Z ${id}`)], remove: ['x 3'] }],
      ]),
      append: new Map(
        [
          [BOARD, [record('label', '1', 'created'), record('label', '3', 'created'), record('label', '4', 'deleted')]] as const,
          [OTHER, [record('label', '2', 'created')]] as const,
        ].map(([id, values]) => [`changes:${id}`, { fetch: `change:${id}:`, values }]),
      ),
    })
  })

  test('adds the tombstone of a board and a day until it was committed once', () => {
    let day = 7
    const log = new ChangeLog(() => day * DAY)
    const changed = () => add(log, change({ put: { 'label:1': { board_id: BOARD } } }))
    const tombstones = ({ put, indexes }: Change) => [[...put.keys()].slice(1), indexes]
    const expected = (id: string, at: string) => [[`tombstone:${id}`], new Map([['tombstones', { add: [`${at} ${id}`], remove: [] }]])]
    const first = expected('tmb_abcdefghijklmn000007', '1970-01-09T00:05:00.000Z')
    expect([tombstones(changed()), tombstones(changed())]).toEqual([first, first])
    log.committed(changed())
    expect(tombstones(changed())).toEqual([[], new Map()])
    day = 8
    expect(tombstones(changed())).toEqual(expected('tmb_abcdefghijklmn000008', '1970-01-10T00:05:00.000Z'))
  })
})

test('the second tombstone of a day differs from the first in one digit', () => {
  expect(secondTombstoneId('tmb_abcdefghijklmn020777')).toBe('tmb_abcdefghijklmn120777')
})

test('appended records are numbered from the last entry of their index', () => {
  const changed = change({ put: { 'a:1': {} }, index: { i: { add: ['x 1'] } } })
  expect(numberAppended(changed, () => '5')).toBe(changed)
  const append = new Map([
    ['log:1', { fetch: 'e:', values: [{ n: 1 }, { n: 2 }] }],
    ['log:2', { fetch: 'f:', values: [{ n: 3 }] }],
  ])
  const lastOf = (index: string) => (index === 'log:1' ? '0000000000000009' : undefined)
  expect(numberAppended({ ...changed, append }, lastOf)).toEqual({
    ...changed,
    put: new Map<string, unknown>([
      ['a:1', {}],
      ['e:0000000000000010', { n: 1 }],
      ['e:0000000000000011', { n: 2 }],
      ['f:0000000000000001', { n: 3 }],
    ]),
    indexes: new Map([
      ['i', { add: ['x 1'], remove: [] }],
      ['log:1', { add: ['0000000000000010', '0000000000000011'], remove: [] }],
      ['log:2', { add: ['0000000000000001'], remove: [] }],
    ]),
    append: undefined,
  })
})
