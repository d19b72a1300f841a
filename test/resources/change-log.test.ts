import { describe, expect, test } from 'vitest'
import { DAY } from '../../src/model/time.ts'
import { createChangeLog } from '../../src/resources/changes/change-log.ts'
import { secondTombstoneId } from '../../src/resources/daily-tombstones.ts'
import type { CommittingTransaction, Derivation } from '../../src/store/derivation.ts'
import { card, claimOf } from '../support/records.ts'

const BOARD = 'brd_abcdefghijklmnopqrst'
const OTHER = 'brd_0'
const NOW = '2026-11-20T12:00:00.000Z'
/** Days since 1970 until then. */
const TODAY = 20_777
const AUTHOR = { operation: 'cards.move', actor_id: 'usr_1', token_id: 'tok_1', token_name: 'agent-03', request_id: 'request' }
const { operation, ...BY } = AUTHOR

/** What a transaction leaves: two boards, and a card of the first. */
const present: Readonly<Record<string, object>> = {
  [`board:${BOARD}`]: {},
  [`board:${OTHER}`]: {},
  'card:1': { board_id: BOARD },
}
type Records = Readonly<Record<string, object>>
/** Derives the entries of a transaction that writes and removes records. */
function derive(
  log: Derivation,
  put: Records,
  { remove = [] as string[], before = {} as Records, now = Date.parse(NOW), author = true } = {},
) {
  const append: Record<string, object[]> = {}
  const tombstones: Record<string, object> = {}
  const whenCommitted: (() => void)[] = []
  const written = [...Object.keys(put), ...remove]
  const tx = {
    logged: author ? { author: BY, clock: () => now } : undefined,
    operationOf: () => operation,
    before: (key: string) => before[key] ?? (written.includes(key) ? undefined : present[key]),
    known: (key: string) => (remove.includes(key) ? undefined : (put[key] ?? before[key] ?? present[key])),
    append: ({ name }: { name: string }, value: object) => void (append[name] ??= []).push(value),
    putUnread: (key: string, value: object) => void (tombstones[key] = value),
    whenCommitted: (done: () => void) => void whenCommitted.push(done),
  }
  void log(tx as unknown as CommittingTransaction, written)
  return { append, tombstones, commit: () => whenCommitted.forEach((done) => done()) }
}
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
    [
      'a changed label',
      'label:1',
      { board_id: BOARD },
      { board_id: BOARD, name: 'x' },
      record('label', '1', 'updated', { changed: ['name'], from: {} }),
    ],
    [
      'a changed card: ids, lists of ids, times and booleans with their earlier values, null ones too',
      'card:1',
      {
        board_id: BOARD,
        column_id: 'a',
        title: 'x',
        position: 'a',
        due_at: null,
        label_ids: ['l'],
        flag: false,
        blocker_ids: [],
        updated_at: 1,
      },
      {
        board_id: BOARD,
        column_id: 'b',
        title: 'y',
        position: 'b',
        due_at: NOW,
        label_ids: [],
        flag: true,
        blocker_ids: [],
        updated_at: 2,
      },
      record('card', '1', 'updated', {
        changed: ['column_id', 'title', 'position', 'due_at', 'label_ids', 'flag'],
        from: { column_id: 'a', due_at: null, label_ids: ['l'], flag: false },
      }),
    ],
    ['a removed column', 'column:1', { board_id: BOARD }, undefined, record('column', '1', 'deleted', { last: { board_id: BOARD } })],
    [
      'a removed card: its last state, without long texts',
      'card:2',
      { board_id: BOARD, title: 't'.repeat(501), description: 'd'.repeat(501) },
      undefined,
      record('card', '2', 'deleted', { last: { board_id: BOARD, title: 't'.repeat(501) } }),
    ],
    [
      'a removed comment of 500 characters',
      'comment:1',
      { card_id: '1', body: 'b'.repeat(500) },
      undefined,
      record('comment', '1', 'deleted', { last: { card_id: '1', body: 'b'.repeat(500) } }),
    ],
    ['a board member', `board_member:${BOARD}:usr_2`, undefined, { board_id: BOARD }, record('board_member', 'usr_2', 'created')],
    ['a comment on a card', 'comment:1', undefined, { card_id: '1' }, record('comment', '1', 'created')],
    [
      'a removed comment on a card',
      'comment:1',
      { card_id: '1' },
      undefined,
      record('comment', '1', 'deleted', { last: { card_id: '1' } }),
    ],
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
    const [put, remove] = after === undefined ? [{}, [key]] : [{ [key]: after }, []]
    const { append } = derive(createChangeLog(), put, { remove, before: before && { [key]: before } })
    expect(append).toEqual(entries === undefined ? {} : { [`changes:${BOARD}`]: [entries].flat() })
  })

  test.each([
    ['completed', ended],
    ['released', ended],
    ['ended with a question', { ...ended, question_id: 'q' }],
  ])('has no attempt for a claim that was %s in time, and runs out before the commit', (_how, after) => {
    const { append } = derive(createChangeLog(), { 'claim:1': after }, { before: { 'claim:1': past } })
    const actions = Object.values(append).flatMap((entries) => entries.map((one) => (one as { action: string }).action))
    expect(actions).toContain('released')
    expect(actions).not.toContain('failed')
  })

  test.each([
    ['is completed', { completed_at: NOW }],
    ['is moved to another column', { column_id: 'col_2' }],
  ])('has no retry of a card that %s: its attempts are forgotten with that', (_what, members) => {
    const before = card({ id: '1', board_id: BOARD })
    const put = { 'card:1': { ...before, ...members }, 'claim:1': ended }
    const { append } = derive(createChangeLog(), put, { before: { 'card:1': before, 'claim:1': failed } })
    const [changed] = Object.keys(members)
    const from = { [changed!]: before[changed as keyof typeof before] }
    expect(append[`changes:${BOARD}`]).toEqual([record('card', '1', 'updated', { changed: [changed], from })])
  })

  test('adds entries in the order of the writes, for each board, with a tombstone for the day', () => {
    const put = { 'label:1': { board_id: BOARD }, 'label:2': { board_id: OTHER }, 'label:3': { board_id: BOARD } }
    const tombstones = [BOARD, OTHER].map((target, i) => ({
      id: [`tmb_abcdefghijklmn0${TODAY}`, `tmb_00${TODAY}`][i]!,
      kind: 'changes',
      target,
      not_before: '2026-11-21T00:05:00.000Z',
    }))
    expect(derive(createChangeLog(), put, { remove: ['label:4', 'token:1'], before: { 'label:4': { board_id: BOARD } } })).toMatchObject({
      append: {
        [`changes:${BOARD}`]: [
          record('label', '1', 'created'),
          record('label', '3', 'created'),
          record('label', '4', 'deleted', { last: { board_id: BOARD } }),
        ],
        [`changes:${OTHER}`]: [record('label', '2', 'created')],
      },
      tombstones: Object.fromEntries(tombstones.map((tombstone) => [`tombstone:${tombstone.id}`, tombstone])),
    })
  })

  test('adds nothing to a transaction whose changes are not logged', () => {
    const { append, tombstones } = derive(createChangeLog(), { 'label:1': { board_id: BOARD } }, { author: false })
    expect({ append, tombstones }).toEqual({ append: {}, tombstones: {} })
  })

  test('adds the tombstone of a board and a day until it was committed once', () => {
    const log = createChangeLog()
    const changed = (day: number) => derive(log, { 'label:1': { board_id: BOARD } }, { now: day * DAY })
    const tombstones = (day: number) => Object.keys(changed(day).tombstones)
    expect([tombstones(7), tombstones(7)]).toEqual([['tombstone:tmb_abcdefghijklmn000007'], ['tombstone:tmb_abcdefghijklmn000007']])
    changed(7).commit()
    expect([tombstones(7), tombstones(8)]).toEqual([[], ['tombstone:tmb_abcdefghijklmn000008']])
  })
})

test('the second tombstone of a day differs from the first in one digit', () => {
  expect(secondTombstoneId('tmb_abcdefghijklmn020777')).toBe('tmb_abcdefghijklmn120777')
})
