import { describe, expect, test } from 'vitest'
import type { AuthorizationContext, TokenCaller } from '../../src/authz/context.ts'
import { Decisions } from '../../src/authz/decisions.ts'
import { factsFor } from '../../src/authz/facts.ts'
import type { Engine } from '../../src/policy/engine.ts'
import { engine } from '../support/service.ts'

const caller = (role: string, scopes: readonly string[] = ['kanban:write'], state: object = { ended_at: null }) =>
  ({ userId: 'usr_1', workspaceId: 'w', membership: { user_id: 'usr_1', role, ...state }, token: { scopes } }) as unknown as TokenCaller
const board = (visibility: string, creator_id: string) => ({ id: 'brd_1', visibility, creator_id, created_at: '' })
/** Contexts whose facts differ, the first ones twice. */
const contexts = ['workspace', 'private', 'workspace', 'private'].flatMap((visibility) =>
  ['usr_1', 'usr_2'].map((creator) => ({ board: board(visibility, creator) }) as unknown as AuthorizationContext),
)

describe('the decisions of a policy', () => {
  test('equal the decisions of the engine for the facts of each context, also when they are remembered', () => {
    const decisions = Decisions.of(engine)
    for (const role of ['owner', 'member'])
      for (const context of contexts)
        for (const permission of ['read Card', 'delete Board']) {
          const by = caller(role)
          const facts = factsFor(engine.vocabulary, engine.vocabulary.permissions.get(permission)!.groups, by, context)
          expect(decisions.decide(permission, by, context)).toEqual(engine.decide(permission, facts))
        }
  })

  test('are made once for equal facts, and cannot be changed', () => {
    let asked = 0
    const counting: Engine = { ...engine, decide: (...given) => (asked++, engine.decide(...given)) }
    const decisions = Decisions.of(counting)
    const made = contexts.map((context) => decisions.decide('read Card', caller('member'), context))
    expect({ asked, distinct: new Set(made).size }).toEqual({ asked: 4, distinct: 4 })
    expect(made.every((decision) => Object.isFrozen(decision) && Object.isFrozen(decision.facts))).toBe(true)
  })

  test('of a permission by field are made for the fields that are stated', () => {
    const decisions = Decisions.of(engine)
    const decide = (...fields: string[]) => decisions.decide('update Board', caller('member'), contexts[0]!, fields)
    expect([decide('name').fields, decide('description').fields]).toEqual([['name'], ['description']])
  })

  test('come from the policy that is asked', () => {
    const other: Engine = { ...engine, checkScope: (...given) => ({ ...engine.checkScope(...given), allowed: false }) }
    const allowed = [engine, other, engine].map((policy) => Decisions.of(policy).scope('read Card', { scopes: ['kanban:read'] }).allowed)
    expect(allowed).toEqual([true, false, true])
    expect(Decisions.of(engine)).toBe(Decisions.of(engine))
  })

  test.each([
    [['kanban:read'], false],
    [['kanban:write'], true],
    [['kanban:admin', 'other'], true],
    [[], false],
  ])('of the scope table for %j state the permission that was asked', (scopes, allowed) => {
    const { value = 'none' } = { value: { 'kanban:admin': 'kanban:admin' }[scopes[0]!] ?? scopes[0] }
    expect(Decisions.of(engine).scope('create Label', { scopes })).toEqual({
      allowed,
      required: 'kanban:write',
      row: engine.checkScope('create Label', { 'token.scope': 'none' }).row,
      permission: 'create Label',
      facts: { 'token.scope': value },
    })
  })
})

describe('a definition', () => {
  const [own, shared] = [contexts[2]!, contexts[1]!]
  const hidden = contexts[3]!

  test('holds as the engine says', () => {
    const decisions = Decisions.of(engine)
    expect([own, shared, hidden].map((context) => decisions.holds('board.access', caller('member'), context))).toEqual([true, true, false])
  })

  test('hides a target from those who have no access, with its facts', () => {
    const decisions = Decisions.of(engine)
    const hiding = (context: AuthorizationContext, isWhole = false) => decisions.hiding('read Card', caller('member'), context, isWhole)
    expect([own, shared].map((context) => hiding(context))).toEqual([undefined, undefined])
    const { groups } = engine.vocabulary.definitions.get('board.access')!
    const facts = factsFor(engine.vocabulary, groups, caller('member'), hidden)
    for (const isWhole of [false, true]) expect(hiding(hidden, isWhole)).toEqual({ definition: 'board.access', facts })
  })

  test('that needs more than the target is asked only about a whole context', () => {
    const decisions = Decisions.of(engine)
    const context = {
      ...own,
      file: { owner_id: 'usr_2', visibility: 'private' },
      home: { board: undefined, boardMember: undefined },
    } as unknown as AuthorizationContext
    const hiding = (isWhole: boolean) => decisions.hiding('read File', caller('member'), context, isWhole)?.definition
    expect([hiding(false), hiding(true)]).toEqual([undefined, 'file.access'])
  })
})
