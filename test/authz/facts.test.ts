import { describe, expect, test } from 'vitest'
import type { AuthorizationContext, Caller, FileAccess } from '../../src/authz/context.ts'
import { compareFacts, factsFor } from '../../src/authz/facts.ts'
import type { Board, BoardMember } from '../../src/model/board.ts'
import type { Membership } from '../../src/model/workspace.ts'
import type { Vocabulary } from '../../src/policy/vocabulary.ts'
import { shipped } from '../support/policy.ts'

const { vocabulary } = shipped

const membership = (user_id: string, members: Partial<Membership> = {}): Membership => ({
  user_id,
  role: 'member',
  display_name: user_id,
  avatar_url: null,
  joined_at: '',
  ended_at: null,
  created_at: '',
  updated_at: '',
  ...members,
})
const caller = (scopes: readonly string[] = [], members: Partial<Membership> = {}) =>
  ({ userId: 'ann', workspaceId: 'w', membership: membership('ann', members), token: { scopes } }) as unknown as Caller
const board = (members: Partial<Board> = {}) => ({ id: 'b1', creator_id: 'eve', visibility: 'workspace', ...members }) as Board
const entry = (user_id: string) => ({ board_id: 'b1', user_id }) as BoardMember
const file = (owner_id: string, visibility: FileAccess['visibility'] = 'workspace'): FileAccess => ({ owner_id, visibility })
const read = (group: string, context: AuthorizationContext = {}, by: Caller = caller()) => factsFor(vocabulary, [group], by, context)

describe('the facts of a request', () => {
  test.each([
    [['kanban:admin'], 'kanban:admin'],
    [['kanban:read', 'kanban:write'], 'kanban:write'],
    [['kanban:read'], 'kanban:read'],
    [['other:read'], 'none'],
    [[], 'none'],
  ])('a token with the scopes %j has the scope %s', (scopes, expected) => {
    expect(read('token', {}, caller(scopes))).toEqual({ 'token.scope': expected })
  })

  test('the role and the membership of the caller are those of their record', () => {
    expect(read('caller', {}, caller([], { role: 'owner' }))).toEqual({ 'caller.membership': 'active', 'caller.role': 'owner' })
    expect(read('caller', {}, caller([], { role: 'admin', ended_at: '2026' }))).toEqual({
      'caller.membership': 'ended',
      'caller.role': 'admin',
    })
  })

  test('the relation to a board is creator before member before none', () => {
    const relation = (creator_id: string, boardMember?: BoardMember) =>
      read('board', { board: board({ creator_id, visibility: 'private' }), boardMember })
    expect(relation('ann', entry('ann'))).toEqual({ 'board.visibility': 'private', 'board.caller': 'creator' })
    expect(relation('eve', entry('ann'))).toEqual({ 'board.visibility': 'private', 'board.caller': 'member' })
    expect(relation('eve')).toEqual({ 'board.visibility': 'private', 'board.caller': 'none' })
  })

  test('the relation of the named person is theirs, not that of the caller', () => {
    const user = (boardMember: BoardMember | undefined, ended_at: string | null = null) =>
      read('user', { board: board(), boardMember: entry('ann'), user: { membership: membership('bob', { ended_at }), boardMember } })
    expect(user(undefined)).toEqual({ 'user.membership': 'active', 'user.board': 'none' })
    expect(user(entry('bob'), '2026')).toEqual({ 'user.membership': 'ended', 'user.board': 'member' })
    const created = { board: board({ creator_id: 'bob' }), user: { membership: membership('bob'), boardMember: undefined } }
    expect(read('user', created)).toEqual({ 'user.membership': 'active', 'user.board': 'creator' })
  })

  test('a comment is compared by its author, and a label by its board', () => {
    expect(read('comment', { comment: { author_id: 'ann' } })).toEqual({ 'comment.author': 'caller' })
    expect(read('comment', { comment: { author_id: 'bob' } })).toEqual({ 'comment.author': 'other' })
    expect(read('label', { board: board(), label: { board_id: 'b1' } })).toEqual({ 'label.board': 'this' })
    expect(read('label', { board: board(), label: { board_id: 'b2' } })).toEqual({ 'label.board': 'other' })
  })

  test('the facts of a file are its visibility and its owner', () => {
    expect(read('file', { file: file('ann') })).toEqual({ 'file.visibility': 'workspace', 'file.owner': 'caller' })
    expect(read('file', { file: file('ann', 'board') })).toEqual({ 'file.visibility': 'board', 'file.owner': 'caller' })
    expect(read('file', { file: file('bob', 'private') })).toEqual({ 'file.visibility': 'private', 'file.owner': 'other' })
  })

  test('a home board is a workspace board, a private one that the caller is on or not, or deleted', () => {
    const home = (members: Partial<Board> | undefined, boardMember?: BoardMember) =>
      read('home', { home: { board: members && board(members), boardMember } })['home.board']
    expect(home({ visibility: 'workspace' })).toBe('workspace')
    expect(home({ visibility: 'workspace', creator_id: 'ann' }, entry('ann'))).toBe('workspace')
    expect(home({ visibility: 'private', creator_id: 'ann' })).toBe('private_member')
    expect(home({ visibility: 'private' }, entry('ann'))).toBe('private_member')
    expect(home({ visibility: 'private' })).toBe('private_other')
    expect(home(undefined)).toBe('deleted')
    // A membership of a deleted board exists until garbage collection.
    expect(home(undefined, entry('ann'))).toBe('deleted')
  })

  test('a home board is compared by its own members, not by those of the board of the card', () => {
    const context = { board: board({ creator_id: 'ann' }), boardMember: entry('ann') }
    const home = { board: board({ id: 'b2', visibility: 'private' }), boardMember: undefined }
    expect(read('home', { ...context, home })).toEqual({ 'home.board': 'private_other' })
  })

  test('a card has a cover or none', () => {
    expect(read('cover', { cover: null })).toEqual({ 'cover.state': 'none' })
    expect(read('cover', { cover: {} })).toEqual({ 'cover.state': 'set' })
  })

  test.each<[group: string, what: string, context: AuthorizationContext]>([
    ['board', 'board', {}],
    ['comment', 'comment', { board: board() }],
    ['file', 'file', { board: board() }],
    ['home', 'home', { file: file('ann'), board: board() }],
    ['cover', 'cover', { file: file('ann') }],
    ['label', 'label', { board: board() }],
    ['label', 'board', { label: { board_id: 'b1' } }],
    ['user', 'user', { board: board() }],
    ['user', 'board', { user: { membership: membership('bob'), boardMember: undefined } }],
  ])('reading a fact of the group %s throws if no %s was loaded', (group, what, context) => {
    expect(() => read(group, context)).toThrow(new TypeError(`facts: the operation loaded no ${what}`))
  })

  test('only the facts of the requested groups are read', () => {
    expect(Object.keys(factsFor(vocabulary, ['comment', 'caller'], caller(), { comment: { author_id: 'ann' } })).toSorted()).toEqual([
      'caller.membership',
      'caller.role',
      'comment.author',
    ])
  })
})

describe('the comparison of the readers with the vocabulary', () => {
  /** The vocabulary with one fact replaced, or removed if the values are undefined. */
  const withFact = (name: string, values: readonly string[] | undefined): Vocabulary => {
    const changed = new Map(vocabulary.facts)
    if (values === undefined) changed.delete(name)
    else changed.set(name, { name, group: name.split('.')[0]!, values, means: '' })
    return { ...vocabulary, facts: changed }
  }

  test('the shipped vocabulary has no difference', () => {
    expect(compareFacts(vocabulary)).toEqual([])
  })

  test('a fact without a reader, a reader without a fact, and different values are named', () => {
    expect(compareFacts(withFact('card.age', ['old', 'new']))).toEqual(['fact "card.age" of the vocabulary has no reader'])
    expect(compareFacts(withFact('caller.role', undefined))).toEqual(['fact "caller.role" has a reader and is not in the vocabulary'])
    expect(compareFacts(withFact('cover.state', ['set', 'none', 'unknown']))).toEqual([
      'fact "cover.state" has the values set, none, unknown; its reader has set, none',
    ])
    expect(compareFacts(withFact('file.owner', ['other', 'caller']))).toEqual([
      'fact "file.owner" has the values other, caller; its reader has caller, other',
    ])
  })

  test('a fact that is named like a member of every object has no reader', () => {
    expect(compareFacts(withFact('constructor', ['a', 'b']))).toEqual(['fact "constructor" of the vocabulary has no reader'])
  })
})
