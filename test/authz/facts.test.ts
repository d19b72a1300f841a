import { describe, expect, test } from 'vitest'
import type { AuthorizationContext, Caller, FileAccess } from '../../src/authz/context.ts'
import { compareFacts, factsFor } from '../../src/authz/facts.ts'
import type { Board } from '../../src/model/board.ts'
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
const file = (owner_id: string, visibility: FileAccess['visibility'] = 'workspace'): FileAccess => ({ owner_id, visibility })
const read = (group: string, context: AuthorizationContext = {}, by: Caller = caller()) => factsFor(vocabulary, [group], by, context)

describe('the facts of a request', () => {
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
