import { expect, test } from 'vitest'
import { addMember } from '../../../src/admin/memberships.ts'
import { addUser } from '../../../src/admin/users.ts'
import { createWorkspace } from '../../../src/admin/workspaces.ts'
import { createApp } from '../../../src/app.ts'
import { issueToken, rotateToken } from '../../../src/auth/tokens/issue.ts'
import { systemRandom } from '../../../src/model/ids.ts'
import { DAY } from '../../../src/model/time.ts'
import { createDerivations } from '../../../src/resources/derived.ts'
import { openRedisStore } from '../../../src/store/redis/store.ts'
import { transact } from '../../../src/store/transact.ts'
import { effort } from '../../support/effort.ts'
import { quiet } from '../../support/log.ts'
import { cheapPasswords, engine } from '../../support/service.ts'
import { sharedRedis } from '../../support/redis-driver.ts'

test('when two processes on one Redis rotate the same token, one succeeds and both see its result at once', async () => {
  const url = sharedRedis()
  const prefix = `rotation${Date.now()}`
  const now = Date.parse('2026-11-20T12:00:00.000Z')
  const clock = () => now
  const random = systemRandom
  const stores = [
    await openRedisStore(url, { log: quiet, derived: createDerivations(), prefix }),
    await openRedisStore(url, { log: quiet, derived: createDerivations(), prefix }),
  ]
  const apps = stores.map((store) => createApp({ store, log: quiet, engine, clock, passwords: cheapPasswords }))
  const deps = { store: stores[0]!, clock, random }
  const { id: workspaceId } = await createWorkspace(deps, 'Acme')
  const user = await addUser(deps, { display_name: 'Ann' })
  await addMember(deps, workspaceId, user, 'owner')
  const statusOf = async (app: (typeof apps)[number], token: string) =>
    (await app.fetch(new Request('http://localhost/v1/account', { headers: { authorization: `Bearer ${token}` } }))).status
  let current = await transact(stores[0]!, workspaceId, random, (tx) =>
    issueToken(tx, { userId: user.id, name: 'first', scopes: ['kanban:read'] }, deps),
  )
  for (let round = 0; round < effort(10); round++) {
    const request = { userId: user.id, tokenId: current.token.id, lifetime: DAY }
    const results = await Promise.allSettled(
      stores.map((store) => transact(store, workspaceId, random, (tx) => rotateToken(tx, request, deps))),
    )
    const [success, ...others] = results.filter((result) => result.status === 'fulfilled').map(({ value }) => value)
    expect(others).toEqual([])
    expect(results.find((result) => result.status === 'rejected')!.reason).toMatchObject({ reason: 'not_active' })
    for (const app of apps)
      expect({ old: await statusOf(app, current.plaintext), fresh: await statusOf(app, success!.plaintext) }).toEqual({
        old: 401,
        fresh: 200,
      })
    current = success!
  }
  for (const app of apps) await app.services.usage.settled()
  for (const store of stores) await store.close()
})
