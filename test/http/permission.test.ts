import { describe, expect, test } from 'vitest'
import type { AuthorizationContext, Caller } from '../../src/authz/context.ts'
import { hasScope, requireAccess, requireNamed, requirePossible } from '../../src/http/permission.ts'
import type { Services } from '../../src/http/services.ts'
import { engine } from '../support/service.ts'
import { errorOf } from '../support/error-of.ts'

type Request = Parameters<typeof requireAccess>[2]
type Single = Parameters<typeof requireAccess>[1]
type Item = Parameters<typeof requirePossible>[4]
type Outcome = 'allowed' | 'forbidden' | 'not_found'

/** A policy without facts and definitions, whose decisions are given. */
const policyOf = (permissions: Record<string, string[]>, outcome: Outcome = 'allowed') => ({
  engine: {
    vocabulary: {
      permissions: new Map(Object.entries(permissions).map(([id, groups]) => [id, { groups, notFoundUnless: [] }])),
      definitions: new Map(),
      groups: new Map(['caller', 'board', 'user', 'label', 'file', 'claim', 'card'].map((group) => [group, []])),
    },
    decide: (permission: string) => ({ permission, outcome, row: 'R', reason: 'because' }),
  } as unknown as Services['engine'],
})
const operationOf = (path: string, members: object = {}) =>
  ({ kind: 'single', path, permission: 'act', also: [], ...members }) as unknown as Single
const session = { userId: 'usr_1', workspaceId: 'w', isSession: true } as Caller

test('the scope table decides about tokens only', () => {
  const operation = operationOf('/boards', { permission: 'create Label' })
  const withScopes = (...scopes: string[]) => ({ token: { scopes } }) as unknown as Caller
  expect([session, withScopes('kanban:write'), withScopes('kanban:read')].map((caller) => hasScope({ engine }, operation, caller))).toEqual(
    [true, true, false],
  )
})

describe('the parameter that a refusal names', () => {
  test.each<[path: string, groups: string[], params: object, body: object | undefined, parameter: string | undefined]>([
    ['/cards/{card_id}/assignees/{user_id}', ['caller', 'user'], { card_id: 'c', user_id: 'u' }, undefined, 'user_id'],
    ['/cards/{card_id}', ['label', 'file'], { card_id: 'c' }, { file_id: 'f' }, 'file_id'],
    ['/cards/{card_id}', ['label', 'file'], { card_id: 'c' }, { title: 'x' }, undefined],
    ['/labels/{label_id}', ['label'], { label_id: 'l' }, {}, undefined],
    ['/access', ['caller', 'user'], {}, { user_id: 'u' }, 'user_id'],
    ['/access', ['caller'], {}, { undefined: 'u' }, undefined],
  ])('of %s with facts about %j, %j and %j is %s', async (path, groups, params, body, parameter) => {
    const request = { caller: session, params, body } as unknown as Request
    const record: Item = { operation: 'x' }
    const access = async () => requireAccess(policyOf({ act: groups }, 'not_found'), operationOf(path), request, {}, record)
    const { code, details } = await errorOf(access())
    expect({ code, parameter: details.members?.parameter, record }).toEqual({
      code: 'not_found',
      parameter,
      record: { operation: 'x', stage: 'permission', decision: { permission: 'act', outcome: 'not_found', row: 'R', reason: 'because' } },
    })
  })
})

describe('the claim of a card', () => {
  const claim = { token_id: 'tok_1', holder_id: 'usr_2', expires_at: null }
  const load = (act: string[], further: string[], target: object) => {
    const operation = operationOf('/cards', { also: [{ permission: 'other', contexts: () => [] }] })
    const request = { caller: session, params: {}, tx: { read: async () => [claim, undefined] }, clock: () => 0 } as unknown as Request
    return requireAccess(policyOf({ act, other: further }), operation, request, target as AuthorizationContext, { operation: 'x' } as Item)
  }

  test('is loaded only if the policy depends on it, for one of the permissions that are asked', async () => {
    const card = { id: 'crd_1' }
    expect(await load(['caller'], ['board'], { card })).toEqual({ card })
    for (const [act, further] of [
      [['claim'], ['board']],
      [['board'], ['caller', 'card']],
    ] as const)
      expect(await load([...act], [...further], { card })).toEqual({ card, claim: null, lastClaim: claim })
  })

  test('of a card that is created is null', async () => {
    expect(await load(['claim'], ['board'], { label: 'l' })).toEqual({ label: 'l', claim: null, lastClaim: null })
  })
})

test('a list whose query names an absent resource is refused at its target', async () => {
  const operation = { kind: 'filtered_list', named: async () => [{ parameter: 'label_id' }] } as unknown as Parameters<
    typeof requireNamed
  >[1]
  const record: Item = { operation: 'x' }
  const error = await errorOf(requireNamed({ engine }, operation, {} as Request, record))
  expect({ code: error.code, members: error.details.members, stage: record.stage }).toEqual({
    code: 'not_found',
    members: { parameter: 'label_id' },
    stage: 'target',
  })
})

test('the permission table decides which actions are possible', async () => {
  const record: Item = { operation: 'x' }
  const ask = async () =>
    requirePossible(policyOf({ act: ['caller'] }, 'forbidden'), operationOf('/boards'), { caller: session } as Request, {}, record)
  expect((await errorOf(ask())).code).toBe('forbidden')
  expect(record).toMatchObject({ stage: 'permission', decision: { outcome: 'forbidden' } })
})
