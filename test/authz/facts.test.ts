import { describe, expect, test } from 'vitest'
import type { AuthorizationContext, Caller, FileAccess } from '../../src/authz/context.ts'
import { compareDefinitions, compareFacts, dependsOnClaim, factsFor, isAuthenticated, isLoaded, scopeFacts } from '../../src/authz/facts.ts'
import type { Board, BoardMember } from '../../src/model/board.ts'
import type { Membership } from '../../src/model/workspace.ts'
import type { Facts } from '../../src/policy/evaluate.ts'
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
  ({ userId: 'ann', workspaceId: 'w', membership: membership('ann', members), token: { id: 't1', scopes } }) as unknown as Caller
const session = { ...caller(), token: undefined, isSession: true } as Caller
const board = (members: Partial<Board> = {}) => ({ id: 'b1', creator_id: 'eve', visibility: 'workspace', ...members }) as Board
const file = (owner_id: string, visibility: FileAccess['visibility'] = 'workspace'): FileAccess => ({ owner_id, visibility })
const read = (group: string, context: AuthorizationContext = {}, by: Caller = caller()) => factsFor(vocabulary, [group], by, context)

describe('the facts of a request', () => {
  test.each<[group: string, what: string, context: AuthorizationContext]>([
    ['board', 'board', {}],
    ['claim', 'claim', { lastClaim: null }],
    ['card', 'lastClaim', { claim: null }],
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

  const entry = {} as BoardMember
  const own = board({ creator_id: 'ann' })
  const secret = board({ visibility: 'private' })
  const bob = membership('bob')
  test.each<[facts: Facts, context: AuthorizationContext, by?: Caller]>([
    [{ 'token.scope': 'none' }, {}, caller(['other:read'])],
    [{ 'token.scope': 'kanban:write' }, {}, caller(['kanban:write', 'kanban:read'])],
    [{ 'caller.membership': 'active', 'caller.role': 'owner' }, {}, caller([], { role: 'owner' })],
    [{ 'caller.membership': 'ended', 'caller.role': 'member' }, {}, caller([], { ended_at: '2026-11-20T12:00:00.000Z' })],
    [{ 'board.visibility': 'workspace', 'board.caller': 'none' }, { board: board() }],
    [
      { 'board.visibility': 'private', 'board.caller': 'member' },
      { board: secret, boardMember: entry },
    ],
    [
      { 'board.visibility': 'workspace', 'board.caller': 'creator' },
      { board: own, boardMember: entry },
    ],
    [{ 'claim.holder': 'none' }, { claim: null }],
    [{ 'claim.holder': 'caller' }, { claim: { token_id: 't1' } }],
    [{ 'claim.holder': 'other' }, { claim: { token_id: 't2' } }],
    [{ 'claim.holder': 'other' }, { claim: { token_id: 't1' } }, session],
    [{ 'card.worker': 'none' }, { lastClaim: null }],
    [{ 'card.worker': 'caller' }, { lastClaim: { holder_id: 'ann' } }],
    [{ 'card.worker': 'other' }, { lastClaim: { holder_id: 'bob' } }],
    [{ 'comment.author': 'caller' }, { comment: { author_id: 'ann' } }],
    [{ 'comment.author': 'other' }, { comment: { author_id: 'bob' } }],
    [{ 'file.visibility': 'board', 'file.owner': 'caller' }, { file: file('ann', 'board') }],
    [{ 'file.visibility': 'private', 'file.owner': 'other' }, { file: file('bob', 'private') }],
    [{ 'home.board': 'deleted' }, { home: { board: undefined, boardMember: entry } }],
    [{ 'home.board': 'workspace' }, { home: { board: own, boardMember: undefined } }],
    [{ 'home.board': 'private_member' }, { home: { board: secret, boardMember: entry }, boardMember: undefined }],
    [{ 'home.board': 'private_member' }, { home: { board: { ...secret, creator_id: 'ann' }, boardMember: undefined } }],
    [{ 'home.board': 'private_other' }, { home: { board: secret, boardMember: undefined }, boardMember: entry }],
    [{ 'cover.state': 'none' }, { cover: null }],
    [{ 'cover.state': 'set' }, { cover: {} }],
    [{ 'label.board': 'this' }, { board: board(), label: { board_id: 'b1' } }],
    [{ 'label.board': 'other' }, { board: board(), label: { board_id: 'b2' } }],
    [
      { 'user.membership': 'active', 'user.board': 'none' },
      { board: own, boardMember: entry, user: { membership: bob, boardMember: undefined } },
    ],
    [
      { 'user.membership': 'active', 'user.board': 'member' },
      { board: board(), user: { membership: bob, boardMember: entry } },
    ],
    [
      { 'user.membership': 'ended', 'user.board': 'creator' },
      { board: board(), user: { membership: membership('eve', { ended_at: '2026-11-20T12:00:00.000Z' }), boardMember: undefined } },
    ],
  ])('are %o for %o', (facts, context, by) => {
    expect(read(Object.keys(facts)[0]!.split('.')[0]!, context, by)).toEqual(facts)
  })

  test('are read for several groups, and for a token alone', () => {
    const comment = { author_id: 'ann' }
    expect(factsFor(vocabulary, ['comment', 'caller'], caller(), { comment, board: board() })).toEqual({
      'comment.author': 'caller',
      'caller.membership': 'active',
      'caller.role': 'member',
    })
    expect(scopeFacts(vocabulary, { scopes: ['kanban:admin'] })).toEqual({ 'token.scope': 'kanban:admin' })
  })

  test('of a group can be read once its record was loaded, even an absent one; the facts of the caller can always be read', () => {
    const groups = ['caller', 'cover', 'board', 'file']
    expect(groups.filter((group) => isLoaded(group, { cover: null, file: file('ann') }))).toEqual(['caller', 'cover', 'file'])
  })

  test('tell whether the request is authenticated: it is not for a former member', () => {
    const states = [{}, { 'caller.membership': 'active' }, { 'caller.membership': 'ended' }]
    expect(states.map(isAuthenticated)).toEqual([true, true, false])
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

describe('the service', () => {
  const withGroups = (name: string, groups: readonly string[] | undefined): Vocabulary => {
    const definitions = new Map(vocabulary.definitions)
    if (groups === undefined) definitions.delete(name)
    else definitions.set(name, { ...definitions.get(name)!, groups })
    return { ...vocabulary, definitions }
  }

  test.each<[name: string, groups: readonly string[] | undefined, expected: readonly string[]]>([
    ['board.access', ['caller', 'board'], []],
    ['home.access', ['caller', 'home'], []],
    ['user.belongs', ['user', 'board'], []],
    ['board.access', undefined, ['the vocabulary has no definition board.access, which the service asks for']],
    [
      'home.access',
      ['file', 'home', 'cover'],
      ['file', 'cover'].map(
        (group) => `the definition home.access depends on ${group}, which the service does not state when it asks for it`,
      ),
    ],
    ['user.belongs', ['caller'], ['the definition user.belongs depends on caller, which the service does not state when it asks for it']],
  ])('is compared with the definitions that it asks for: %s of %j', (name, groups, expected) => {
    expect(compareDefinitions(withGroups(name, groups))).toEqual(expected)
  })

  test.each([
    [['caller', 'board'], false],
    [['caller', 'claim'], true],
    [['card', 'board'], true],
  ])('loads the claim of a card for a permission with the groups %j: %s', (groups, expected) => {
    const permissions = new Map([['update Card', { ...vocabulary.permissions.get('update Card')!, groups }]])
    expect(dependsOnClaim({ ...vocabulary, permissions }, 'update Card')).toBe(expected)
  })
})
