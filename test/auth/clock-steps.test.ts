import { expect, test } from 'vitest'
import { createChallenge, findChallenge } from '../../src/auth/accounts/challenges.ts'
import { addAuthenticator, offerAuthenticator } from '../../src/auth/accounts/second-factor.ts'
import { beginSession, resumeSession } from '../../src/auth/accounts/sessions.ts'
import { findInvitedUser, invite } from '../../src/auth/accounts/sign-up.ts'
import { SecretKeys } from '../../src/auth/secret-keys.ts'
import { mayIssue } from '../../src/auth/tokens/lifecycle.ts'
import { endMembership } from '../../src/admin/memberships.ts'
import { DAY, MINUTE } from '../../src/model/time.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import type { Transaction } from '../../src/store/transaction.ts'
import { captureLog } from '../support/log.ts'
import { memory } from '../support/memory.ts'
import { codeAt } from '../support/second-factor.ts'
import { Service } from '../support/service.ts'
import { BROWSER } from '../support/visitor.ts'

const service = await Service.forSuite()
const workspaceId = await service.workspace()
const person = await service.person(workspaceId)
const globally = <T>(work: (tx: Transaction) => T | Promise<T>) => service.write(GLOBAL, work)
const deps = () => ({ ...service.deps, secretKeys })
const secretKeys = SecretKeys.random()
const formToken = 'form'
const asked = { purpose: 'prove', user_id: person.id, credential: null, return_to: null, formToken } as never

/** What is valid for a time: it is made, and is then asked whether it is valid. */
const kinds: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  'a token': async () => {
    const token = await service.token(workspaceId, person.id, ['kanban:read'])
    return async () => (await service.send(token, 'GET', '/account')).status === 200
  },
  'a session': async () => {
    const { secret } = await globally((tx) => beginSession(tx, { user_id: person.id, email: 'a@example.org', ...BROWSER }, service.deps))
    return () => globally((tx) => resumeSession(tx, secret, service.deps))
  },
  'a sign-up link': async () => {
    const { code } = await invite(service.deps, person.id)
    return () => globally((tx) => findInvitedUser(tx, code, service.deps.clock))
  },
  'a challenge': async () => {
    const secret = await globally((tx) => createChallenge(tx, asked, service.deps))
    return () => globally((tx) => findChallenge(tx, { secret, purpose: 'prove', formToken } as never, service.deps.clock))
  },
  'an authenticator app that waits for its first code': async () => {
    const name = { user_id: person.id, id: 'ses_00000000000000000001' }
    const secret = await offerAuthenticator(deps(), name)
    return async () => (await addAuthenticator(deps(), name, codeAt(secret, service.now))).codes
  },
  'a proof of who the person is': async () => {
    const provedAt = service.now
    return async () => mayIssue(['kanban:admin'], provedAt, service.now)
  },
}

test.each(Object.entries(kinds))('%s from the future is refused, until the clock is right', async (_what, make) => {
  const isValid = await make()
  for (const step of [5 * MINUTE + 1, DAY]) {
    service.now -= step
    expect(Boolean(await isValid())).toBe(false)
    service.now += step
  }
  expect(Boolean(await isValid())).toBe(true)
})

test('a token that had expired when its membership ended does not work in a later one, when the clock steps back', async () => {
  const former = await service.person(workspaceId)
  const token = await service.token(workspaceId, former.id, ['kanban:read'], DAY)
  service.now += DAY
  await endMembership(service.deps, workspaceId, former.id)
  await service.rejoin(former)
  service.now -= DAY
  const record = (await service.write(workspaceId, (tx) => tx.get(keys.membership(former.id))))!
  expect(record.ended_at).toBeNull()
  expect((await service.send(token, 'GET', '/account')).status).toBe(401)
})

test('the log says once that the clock was set back, and not because a token has expired', async () => {
  const captured = captureLog()
  const other = await Service.start(memory, { log: captured.log })
  try {
    const member = await other.person(await other.workspace())
    const expired = await other.token(member.workspaceId, member.id, ['kanban:read'], MINUTE)
    other.now += 2 * MINUTE
    const status = async (token: string) => (await other.send(token, 'GET', '/account')).status
    expect(await status(expired)).toBe(401)
    const behind = () => captured.lines.filter(({ event }) => event === 'clock.behind')
    expect(behind()).toEqual([])
    other.now -= 10 * MINUTE
    expect({ read: await status(member.read), write: await status(member.write) }).toEqual({ read: 401, write: 401 })
    expect(behind()).toMatchObject([{ level: 50, token_id: expect.stringMatching(/^tok_/), issued_at: expect.any(String) }])
    other.now += 10 * MINUTE
    expect(await status(member.read)).toBe(200)
  } finally {
    await other.stop()
  }
})
