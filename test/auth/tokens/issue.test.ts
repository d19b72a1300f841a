import { beforeEach, describe, expect, test } from 'vitest'
import { addMember } from '../../../src/admin/memberships.ts'
import { addUser } from '../../../src/admin/users.ts'
import { activeTokens, endToken, findToken, issueToken, rotateToken, type TokenRequest } from '../../../src/auth/tokens/issue.ts'
import { DAY } from '../../../src/model/time.ts'
import { familyOf } from '../../../src/model/token.ts'
import { keys } from '../../../src/store/keys.ts'
import type { Transaction } from '../../../src/store/transaction.ts'
import { Service } from '../../support/service.ts'

const START = Date.parse('2026-11-20T12:00:00.000Z')
const at = (time: number) => new Date(time).toISOString()
const ABSENT = 'tok_00000000000000000000'
let workspaceId: string
let userId: string
const service = await Service.forSuite()
beforeEach(async () => {
  service.now = START
  workspaceId = await service.workspace()
  const user = await addUser(service.deps, { display_name: 'Ann' })
  await addMember(service.deps, workspaceId, user, 'member')
  userId = user.id
})
const run = <T>(work: (tx: Transaction) => T | Promise<T>) => service.write(workspaceId, work)
const issue = async (request: Partial<TokenRequest> = {}) =>
  run((tx) => issueToken(tx, { userId, name: 'CI', scopes: ['kanban:read'], ...request }, service.deps))
const rotate = (tokenId: string, by = userId, lifetime = DAY) =>
  run((tx) => rotateToken(tx, { userId: by, tokenId, lifetime }, service.deps))

test.each<[string, { max_days: number; admin: boolean } | undefined, Partial<TokenRequest>, number | string]>([
  ['no rules, it lasts 90 days', undefined, { scopes: ['kanban:admin'] }, 90 * DAY],
  ['no rules and a longer lifetime, 90 days', undefined, { lifetime: 1e15 }, 90 * DAY],
  ['rules and no lifetime, as long as they allow', { max_days: 7, admin: false }, {}, 7 * DAY],
  ['rules and a lifetime that they allow, as long as that', { max_days: 7, admin: false }, { lifetime: 7 * DAY }, 7 * DAY],
  ['a lifetime beyond the rules, it is refused', { max_days: 7, admin: true }, { lifetime: 7 * DAY + 1 }, 'too_long'],
  ['a lifetime beyond any rules, it lasts 90 days', { max_days: 90, admin: true }, { lifetime: Infinity }, 90 * DAY],
  ['a scope that the rules forbid, it is refused', { max_days: 7, admin: false }, { scopes: ['other:read', 'kanban:admin'] }, 'admin'],
  ['a scope that the rules allow, it is issued', { max_days: 7, admin: true }, { scopes: ['kanban:admin'] }, 7 * DAY],
  ['a lesser scope, it is issued', { max_days: 7, admin: false }, { scopes: ['kanban:write'] }, 7 * DAY],
])('a token with %s', async (_what, rules, request, expected) => {
  await run(async (tx) => {
    await tx.get(keys.tokenRules())
    if (rules !== undefined) tx.put(keys.tokenRules(), { ...rules, updated_at: at(START), updated_by: userId })
  })
  const outcome = issue(request).then(
    ({ token }) => Date.parse(token.expires_at) - START,
    ({ reason }) => reason,
  )
  expect(await outcome).toBe(expected)
})

test('a token is found by its id', async () => {
  const { token } = await issue()
  expect(await run(async (tx) => [await findToken(tx, token.id), await findToken(tx, ABSENT)])).toEqual([token, undefined])
})

test.each<[string, string, () => Promise<unknown>]>([
  ['a stranger cannot get a token', 'no_member', () => issue({ userId: 'usr_00000000000000000000' })],
  ['an absent token cannot be rotated', 'no_token', () => rotate(ABSENT)],
  ['the token of another person cannot be rotated', 'no_token', async () => rotate((await issue()).token.id, 'usr_00000000000000000000')],
  [
    'a token that has expired cannot be rotated',
    'not_active',
    async () => {
      const { token } = await issue({ lifetime: DAY })
      service.now += DAY
      return rotate(token.id)
    },
  ],
])('%s', async (_what, reason, refused) => {
  await expect(refused()).rejects.toMatchObject({ name: 'IssueRefused', reason, message: `the token was not issued: ${reason}` })
})

test.each([
  ['before the first one expires', 2 * DAY - 1, [1, 3]],
  ['when it has expired', 2 * DAY, [3]],
  ['when all have expired', 90 * DAY, []],
])('%s, the tokens that can still be active are found among the rotated, the revoked and the others', async (_when, elapsed, expected) => {
  const { token: rotated } = await issue()
  const { token: second } = await rotate(rotated.id, userId, 2 * DAY)
  const { token: revoked } = await issue()
  await run(async (tx) => endToken(tx, (await findToken(tx, revoked.id))!, service.deps.clock))
  const { token: last } = await issue({ lifetime: 3 * DAY })
  const ids = [rotated, second, revoked, last].map(({ id }) => id)
  service.now = START + elapsed
  const { index, options } = activeTokens(userId, service.deps.clock)
  const { values } = await run((tx) => tx.range(index, options))
  expect(values.map((token) => ids.indexOf(token!.id))).toEqual(expected)
})

test('rotation hands on the family, whose first token knows the last one', async () => {
  const { token: first } = await issue()
  const { token: second } = await rotate(first.id)
  const { token: third } = await rotate(second.id)
  const stored = await run((tx) => tx.read([first, second, third].map(({ hash }) => keys.token(hash))))
  expect(stored).toMatchObject([
    { replaced_by: second.id, last: third.id },
    { replaced_by: third.id, family: first.hash },
    { replaced_by: null, family: first.hash },
  ])
  expect(stored.map((token) => familyOf(token!))).toEqual([first.hash, first.hash, first.hash])
  expect(stored.map((token) => token!.last)).toEqual([third.id, undefined, undefined])
})

test('a rotation does not bring back the first token of its family', async () => {
  const { token: first } = await issue()
  const { token: second } = await rotate(first.id)
  await run(async (tx) => {
    await tx.get(keys.token(first.hash))
    tx.remove(keys.token(first.hash))
  })
  const { token: third } = await rotate(second.id)
  expect(await run((tx) => tx.read([keys.token(first.hash), keys.token(third.hash)]))).toEqual([undefined, third])
})

describe('the end of a token', () => {
  test.each([
    ['its user', undefined, {}],
    ['someone else', 'usr_00000000000000000001', { revoked_by: 'usr_00000000000000000001' }],
  ])('by %s is stored, and a later event does not change it', async (_who, by, members) => {
    const { token } = await issue()
    const end = (who?: string) => run(async (tx) => endToken(tx, (await findToken(tx, token.id))!, service.deps.clock, who))
    const ended = { ...token, revoked_at: at(START), ...members }
    expect(await end(by)).toStrictEqual(ended)
    service.now += 1
    expect(await end('usr_00000000000000000002')).toEqual(ended)
    expect(await run((tx) => findToken(tx, token.id))).toEqual(ended)
  })
})
