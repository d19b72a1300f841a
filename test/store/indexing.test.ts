import { describe, expect, test } from 'vitest'
import { entriesOf, indexChanges } from '../../src/store/indexing.ts'
import type { Value } from '../../src/store/port.ts'
import { card } from '../support/records.ts'

const times = { created_at: 't1', updated_at: 't2' }
const claim = { board_id: 'b', card_id: 'c', token_hash: 'hash', expires_at: 't1' }
const readiness = {
  card_id: 'c',
  board_id: 'b',
  column_id: 'col',
  position: 'a0',
  is_open: true,
  blocker_ids: ['c1', 'c2'],
  open_blocker_ids: [] as string[],
  held: null as string | null,
  not_before: null as string | null,
}
const waits = { ...readiness, blocker_ids: [] }

/** The entries that each card of the board has. @param state begins its places in the orders */
const ofEachCard = (state: string, due = '~') => ({
  'board_cards:b': 'c',
  'cards_by_due_at:b': `${state} ${due} c`,
  'cards_by_updated_at:b': `${state} t2 c`,
  'cards_by_created_at:b': `${state} t1 c`,
})

const token = { user_id: 'u', issued_at: 't1', expires_at: 't2', hash: 'hash', revoked_at: null, replaced_by: null }

describe('the entries of', () => {
  test.each<[what: string, key: string, value: object, entries: Record<string, string>]>([
    ['a user', 'user:u', { id: 'u', ...times }, { users: 't1 u' }],
    ['a workspace', 'workspace_entry:w', { id: 'w' }, { workspaces: 'w' }],
    ['a session', 'session:hash', { user_id: 'u', begun_at: 't1', hash: 'hash' }, { 'sessions_of:u': 't1 hash' }],
    ['a challenge', 'challenge:hash', { expires_at: 't1', hash: 'hash' }, { challenges: 't1 hash' }],
    ['a workspace of a user', 'workspace_link:u:w', { user_id: 'u', workspace_id: 'w' }, { 'workspaces_of:u': 'w' }],
    ['an active member', 'membership:u', { user_id: 'u', joined_at: 't1', ended_at: null }, { members: 't1 u' }],
    ['a former member', 'membership:u', { user_id: 'u', joined_at: 't1', ended_at: 't2' }, {}],
    ['an active token', 'token:hash', token, { 'tokens_of:u': 't1 hash', 'active_tokens_of:u': 't2 hash', ending_tokens: 't2 hash' }],
    ['a token that was revoked', 'token:hash', { ...token, revoked_at: 't3' }, { 'tokens_of:u': 't1 hash' }],
    ['a token that was replaced', 'token:hash', { ...token, replaced_by: 'other' }, { 'tokens_of:u': 't1 hash' }],
    ['a private board', 'board:b', { id: 'b', creator_id: 'u', visibility: 'private', ...times }, { 'boards_of:u': 't1 b' }],
    [
      'a board of the workspace',
      'board:b',
      { id: 'b', creator_id: 'u', visibility: 'workspace', ...times },
      { 'boards_of:u': 't1 b', workspace_boards: 't1 b' },
    ],
    [
      'a board member',
      'board_member:b:u',
      { board_id: 'b', user_id: 'u', added_at: 't2', board_created_at: 't1' },
      { 'board_members:b': 't2 u', 'boards_of:u': 't1 b' },
    ],
    [
      'a column',
      'column:col',
      { id: 'col', board_id: 'b', position: 'a0', archived_at: null },
      { 'columns:b': 'a0 col', 'active_columns:b': 'col' },
    ],
    ['an archived column', 'column:col', { id: 'col', board_id: 'b', position: 'a0', archived_at: 't' }, { 'columns:b': 'a0 col' }],
    ['a label', 'label:l', { id: 'l', board_id: 'b', ...times }, { 'labels:b': 't1 l' }],
    ['a card without an open blocker', 'readiness:c', readiness, { 'ready_cards:col': 'a0 c' }],
    ['a card with an open blocker', 'readiness:c', { ...readiness, open_blocker_ids: ['c2'] }, {}],
    ['a card that is done, without an open blocker', 'readiness:c', { ...readiness, is_open: false }, {}],
    ['a card that waits for an answer', 'readiness:c', { ...readiness, held: 'waiting' }, { 'held_cards:b': 'waiting c' }],
    [
      'a card that is stuck and blocked',
      'readiness:c',
      { ...readiness, held: 'stuck', open_blocker_ids: ['c2'] },
      { 'held_cards:b': 'stuck c' },
    ],
    ['a card that is tried again later', 'readiness:c', { ...readiness, not_before: 't1' }, { 'retried_cards:b': 't1 col a0 c' }],
    [
      'a card that is tried again later, and stuck',
      'readiness:c',
      { ...readiness, held: 'stuck', not_before: 't1' },
      { 'held_cards:b': 'stuck c' },
    ],
    ['a card that is tried again later, and blocked', 'readiness:c', { ...readiness, not_before: 't1', open_blocker_ids: ['c2'] }, {}],
    ['a card that is done, and was stuck', 'readiness:c', { ...readiness, is_open: false, held: 'stuck' }, {}],
    ['a claim', 'claim:c', claim, { 'claims:b': 't1 c hash' }],
    ['a claim that has ended', 'claim:c', { ...claim, expires_at: null }, {}],
    ['a subtask', 'subtask:s', { id: 's', card_id: 'c', position: 'a0' }, { 'subtasks:c': 'a0 s' }],
    ['a comment', 'comment:o', { id: 'o', card_id: 'c', author_id: 'u', ...times }, { 'comments:c': 't1 u o' }],
    [
      'an attachment',
      'attachment:a',
      { id: 'a', card_id: 'c', file_id: 'f', ...times },
      { 'attachments:c': 't1 a', 'file_attachments:f': 'c a' },
    ],
    ['a private file', 'file:f', { id: 'f', owner_id: 'u', visibility: 'private', ...times }, { 'private_files_of:u': 't1 f' }],
    ['a file of a board', 'file:f', { id: 'f', owner_id: 'u', visibility: 'board', ...times }, {}],
    ['a change', 'change:b:0000000000000001', {}, { 'changes:b': '0000000000000001' }],
    [
      'a batch of the audit trail',
      'audit:i',
      { id: 'i', at: 't1', users: ['u', 'v'] },
      { audit: 't1 i', 'audit_of:u': 't1 i', 'audit_of:v': 't1 i' },
    ],
    ['a first response', 'first_response:t:k', { hour: 'h', token_hash: 't', key_hash: 'k' }, { 'first_responses:h': 't:k' }],
    ['a text of first responses', 'response_text:h:s', { hour: 'h', sha256: 's' }, { 'response_texts:h': 's' }],
    ['a tombstone', 'tombstone:i', { id: 'i', not_before: 't1' }, { tombstones: 't1 i' }],
    ['a record of a kind without an index', 'order:b', {}, {}],
    [
      'a card',
      'card:c',
      card({ id: 'c', column_id: 'col', ...times }),
      {
        'active_cards:col': 'a0 c',
        'active_cards_open:col': 'a0 c',
        'board_active_cards:b': 'c',
        'ready_cards:col': 'a0 c',
        ...ofEachCard('active_open'),
      },
    ],
    [
      'a completed card, which has no blockers',
      'card:c',
      card({ id: 'c', column_id: 'col', ...times, due_at: 't0', completed_at: 't3', completed_by_id: 'u' }),
      {
        'active_cards:col': 'a0 c',
        'active_cards_done:col': 'a0 c',
        'board_active_cards:b': 'c',
        ...ofEachCard('active_done', 't0'),
        'cards_by_completed_at:b': 'active_done t3 c',
        'cards_completed_by:b:u': 'active_done t3 c',
      },
    ],
    [
      'an archived card with an assignee, a label and blockers, completed by nobody',
      'card:c',
      card({
        id: 'c',
        column_id: 'col',
        ...times,
        completed_at: 't3',
        archived_at: 't4',
        assignee_ids: ['u'],
        label_ids: ['l'],
        blocker_ids: ['c1', 'c2'],
      }),
      {
        'archived_cards:col': 'a0 c',
        'archived_cards_done:col': 'a0 c',
        'archived_cards_of:col:u': 'a0 c',
        'archived_cards_with:col:l': 'a0 c',
        'blocked_cards:c1': 'c',
        'blocked_cards:c2': 'c',
        ...ofEachCard('archived_done'),
        'cards_by_due_at:u': 'archived_done ~ c',
        'cards_by_updated_at:u': 'archived_done t2 c',
        'cards_by_created_at:u': 'archived_done t1 c',
        'cards_by_completed_at:b': 'archived_done t3 c',
        'cards_by_completed_at:u': 'archived_done t3 c',
        'board_assignments:b': 'u c',
        'assignments_of:u': 'b c',
        'label_cards:l': 'c',
      },
    ],
    [
      'an open card with a blocker, which once was completed',
      'card:c',
      card({ id: 'c', column_id: 'col', ...times, completed_by_id: 'u', blocker_ids: ['c1'] }),
      {
        'active_cards:col': 'a0 c',
        'active_cards_open:col': 'a0 c',
        'board_active_cards:b': 'c',
        'blocked_cards:c1': 'c',
        ...ofEachCard('active_open'),
      },
    ],
  ])('%s', (_what, key, value, expected) => {
    const entries = entriesOf(key, value)
    expect(Object.fromEntries(entries)).toEqual(expected)
    expect(entries).toHaveLength(Object.keys(expected).length)
  })
})

describe('the changes of indexes that follow from', () => {
  const label = (board_id: string, created_at: string): Value => ({ id: 'l', board_id, created_at })
  const [one, moved, later] = [label('b', 't1'), label('b2', 't1'), label('b', 't2')]
  const audit = (...users: string[]): Value => ({ id: 'l', at: 't1', users })
  test.each<[what: string, before: Value | null | undefined, after: Value | undefined, changes: object, key?: string]>([
    ['a new record', null, one, { 'labels:b': { add: ['t1 l'], remove: [] } }],
    ['a record that was not read', undefined, one, { 'labels:b': { add: ['t1 l'], remove: [] } }],
    ['a removed record', one, undefined, { 'labels:b': { add: [], remove: ['t1 l'] } }],
    ['an absent record that is removed', null, undefined, {}],
    ['a record whose entries stay', one, { ...one, name: 'x' }, {}],
    ['an entry in another place', one, later, { 'labels:b': { add: ['t2 l'], remove: ['t1 l'] } }],
    ['an entry in another index', one, moved, { 'labels:b': { add: [], remove: ['t1 l'] }, 'labels:b2': { add: ['t1 l'], remove: [] } }],
    ['an entry among others', audit('v'), audit('u', 'v'), { 'audit_of:u': { add: ['t1 l'], remove: [] } }, 'audit:l'],
    ['an entry fewer among others', audit('u', 'v'), audit('v'), { 'audit_of:u': { add: [], remove: ['t1 l'] } }, 'audit:l'],
  ])('%s', (_what, before, after, expected, key = 'label:l') => {
    const stored = before && { value: before, revision: 'r' }
    const known = new Map(stored === undefined ? [] : [[key, stored]])
    const [put, remove] = after === undefined ? [new Map(), new Set([key])] : [new Map([[key, after]]), new Set<string>()]
    expect(Object.fromEntries(indexChanges(known, put, remove))).toEqual(expected)
  })

  // A card without blockers has its entry itself, and its readiness keeps it out while it waits.
  describe('a card without blockers', () => {
    const at = (position: string, more: object = {}) => card({ id: 'c', column_id: 'col', position, ...times, ...more })
    const waitsAt = (position: string) => ({ ...waits, position, held: 'stuck' })
    const ready = (add: string[], remove: string[]) => ({ 'ready_cards:col': { add, remove } })
    test.each<[what: string, before: readonly [object, object?], after: readonly [object | undefined, object?], ready: object]>([
      ['that begins to wait', [at('a0')], [at('a0'), waitsAt('a0')], ready([], ['a0 c'])],
      ['that ceases to wait', [at('a0'), waitsAt('a0')], [at('a0')], ready(['a0 c'], [])],
      ['that is moved while it waits', [at('a0'), waitsAt('a0')], [at('a1'), waitsAt('a1')], ready([], [])],
      ['that is moved and begins to wait', [at('a0')], [at('a1'), waitsAt('a1')], ready([], ['a0 c'])],
      ['that is moved and ceases to wait', [at('a0'), waitsAt('a0')], [at('a1')], ready(['a1 c'], [])],
      ['that is completed while it waits', [at('a0'), waitsAt('a0')], [at('a0', { completed_at: 't3' })], ready([], [])],
      ['that is deleted while it waits', [at('a0'), waitsAt('a0')], [undefined], ready([], [])],
    ])('%s', (_what, before, after, expected) => {
      const keysOf = ['card:c', 'readiness:c']
      const known = new Map(
        before.flatMap((value, i) => (value === undefined ? [] : [[keysOf[i]!, { value: value as Value, revision: 'r' }]])),
      )
      for (const order of [keysOf, keysOf.toReversed()]) {
        const put = new Map(
          order.flatMap((key) => [[key, after[keysOf.indexOf(key)] as Value] as const]).filter(([, value]) => value !== undefined),
        )
        const remove = new Set(order.filter((key) => !put.has(key)))
        expect(Object.fromEntries(indexChanges(known, put, remove))).toMatchObject(expected)
      }
    })
  })

  test('several records are in one change of each index', () => {
    const put = new Map([
      ['label:l', one],
      ['label:m', { ...one, id: 'm' }],
    ])
    expect(indexChanges(new Map([['label:n', { value: { ...one, id: 'n' }, revision: 'r' }]]), put, new Set(['label:n']))).toEqual(
      new Map([['labels:b', { add: ['t1 l', 't1 m'], remove: ['t1 n'] }]]),
    )
  })
})
