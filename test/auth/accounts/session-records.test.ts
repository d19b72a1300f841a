import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { beginSession, renewSession, resumeSession } from '../../../src/auth/accounts/sessions.ts'
import { setAccount } from '../../../src/auth/accounts/sign-up.ts'
import type { Confirmation } from '../../../src/model/account.ts'
import { newId } from '../../../src/model/ids.ts'
import { MINUTE } from '../../../src/model/time.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { memory } from '../../support/memory.ts'
import { Service } from '../../support/service.ts'
import { BROWSER } from '../../support/visitor.ts'

let service: Service
let userId: string
beforeAll(async () => {
  service = await Service.start(memory)
})
afterAll(() => service.stop())
beforeEach(() => {
  userId = newId('user', service.deps.random)
})

const begin = () => service.write(GLOBAL, (tx) => beginSession(tx, { user_id: userId, email: 'a@example.org', ...BROWSER }, service.deps))
const resume = (secret: string) => service.write(GLOBAL, (tx) => resumeSession(tx, secret, service.deps.clock))

test('a renewed session keeps its person, its address, the time of sign-in and the tokens that wait for confirmation', async () => {
  const { session } = await begin()
  const confirmations: Confirmation[] = [{ id: 'cnf_1', workspace_id: 'wsp_1', name: 'CI', scopes: ['kanban:admin'], days: 30 }]
  service.now += 20 * MINUTE
  const renewed = await service.write(GLOBAL, async (tx) => {
    await tx.get(keys.session(session.hash))
    return renewSession(tx, { ...session, confirmations }, service.deps)
  })
  const at = new Date(service.now).toISOString()
  const { hash, form_token } = renewed.session
  expect(renewed.session).toEqual({ ...session, confirmations, hash, form_token, seen_at: at, proved_at: at })
})

test('sessions that have ended do not end older ones that are in use', async () => {
  const start = service.now
  const used: string[] = []
  for (let i = 0; i < 19; i++) used.push((await begin()).secret)
  service.now = start + 1
  for (let i = 0; i < 1; i++) await begin()
  service.now = start + 29 * MINUTE
  for (const secret of used) await resume(secret)
  // The twentieth session has ended: it was not used for 30 minutes.
  service.now = start + 31 * MINUTE
  await begin()
  expect(await Promise.all(used.map(async (secret) => (await resume(secret)) !== undefined))).toEqual(used.map(() => true))
})

test('an account keeps the time at which it was created when its person signs up again', async () => {
  const set = () =>
    service.write(GLOBAL, (tx) => setAccount(tx, { userId, email: `${userId}@example.org`, passwordHash: 'hash' }, service.deps.clock))
  const created = new Date(service.now).toISOString()
  await set()
  service.now += MINUTE
  await set()
  const account = await service.write(GLOBAL, (tx) => tx.get(keys.account(userId)))
  expect(account).toMatchObject({ created_at: created, updated_at: new Date(service.now).toISOString() })
})
