import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { systemRandom } from '../../../src/model/ids.ts'
import { addMember, endMembership } from '../../../src/admin/memberships.ts'
import { addUser } from '../../../src/admin/users.ts'
import { createWorkspace } from '../../../src/admin/workspaces.ts'
import { keys, GLOBAL } from '../../../src/store/keys.ts'
import { StorageUnavailable } from '../../../src/store/port.ts'
import { openRedisStore } from '../../../src/store/redis/store.ts'
import { transact } from '../../../src/store/transact.ts'
import { issueToken, IssueRefused, rotateToken, type IssuedToken } from '../../../src/auth/tokens/issue.ts'
import { expiryOf, MAX_LIFETIME, stateOf } from '../../../src/auth/tokens/lifecycle.ts'
import { hashToken } from '../../../src/auth/tokens/secret.ts'
import { drivers } from '../../support/drivers.ts'
import { effort } from '../../support/effort.ts'
import { quiet } from '../../support/log.ts'
import { sharedRedis } from '../../support/redis.ts'
import { cheapPasswords, Service, type Person } from '../../support/service.ts'

/** Lets all else have its turn: what never waits for anything else would keep a timer from ever coming. */
const turn = () => new Promise(setImmediate)
const DAY = 24 * 60 * 60 * 1000

describe.each(drivers)('rotation, on $name', (driver) => {
  let service: Service
  let workspaceId: string
  let person: Person
  let first: IssuedToken
  beforeAll(async () => {
    service = await Service.start(driver)
    workspaceId = await service.workspace()
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    person = await service.person(workspaceId)
    const request = { userId: person.id, name: 'first', scopes: ['kanban:write'] }
    first = await service.write(workspaceId, (tx) => issueToken(tx, request, service.deps.clock, service.deps.random))
  })

  const rotate = (tokenId: string, lifetime = MAX_LIFETIME, by = person) =>
    service.write(workspaceId, (tx) => rotateToken(tx, { userId: by.id, tokenId, lifetime }, service.deps.clock, service.deps.random))
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => 'issued',
      (error: unknown) => (error instanceof IssueRefused ? error.because : error),
    )
  const status = async (token: string) => (await service.send(token, 'GET', '/account')).status
  /** The tokens of the person's that are made here and are active in storage, whoever knows them. */
  const live = async () => {
    const records = (await service.recordKeys(workspaceId)).filter((key) => key.startsWith('token:'))
    const tokens = await service.write(workspaceId, (tx) => tx.read(records.map((key) => keys.token(key.slice('token:'.length)))))
    return tokens.filter((token) => token?.user_id === person.id && token.name === 'first' && stateOf(token, service.now) === 'active')
  }

  test('the new token has the name and scopes of the old one, which says what took its place', async () => {
    const { plaintext, token, replaced } = await rotate(first.token.id, 5 * DAY)
    expect(token).toMatchObject({ name: 'first', scopes: ['kanban:write'], revoked_at: null, replaced_by: null })
    expect(expiryOf(token)).toBe(service.now + 5 * DAY)
    expect(replaced).toMatchObject({ id: first.token.id, replaced_by: token.id })
    expect([await status(first.plaintext), await status(plaintext)]).toEqual([401, 200])
    expect(await live()).toEqual([token])
  })

  test('a rotation gives 90 days from now at most', async () => {
    const at = service.now
    service.now = at + 50 * DAY
    const { token, plaintext } = await rotate(first.token.id, 1e15)
    expect(expiryOf(token)).toBe(at + 140 * DAY)
    service.now = at + 140 * DAY - 1
    const last = await status(plaintext)
    service.now = at + 140 * DAY
    const over = await status(plaintext)
    service.now = at
    expect([last, over]).toEqual([200, 401])
  })

  test('up to the millisecond of its expiry it can be rotated, and then no more', async () => {
    const at = service.now
    const expiry = expiryOf(first.token)
    service.now = expiry
    const late = await refusal(rotate(first.token.id))
    service.now = expiry - 1
    const early = await refusal(rotate(first.token.id))
    service.now = at
    expect([late, early]).toEqual(['not_active', 'issued'])
  })

  test('whoever asks all the while finds the old one or the new one, never both and never neither', async () => {
    let present = first
    for (let round = 0; round < effort(5); round++) {
      const old = present
      let fresh: string | undefined
      let done = false
      const seen: { before: boolean; oldStatus: number; newStatus: number | undefined; after: boolean }[] = []
      const reader = (async () => {
        for (let last = false; !last;) {
          await turn()
          last = done
          // What is asked first is answered first: an old token that still works then cannot have a successor that worked before.
          const known = fresh
          const newStatus = known === undefined ? undefined : await status(known)
          const before = done
          const oldStatus = await status(old.plaintext)
          seen.push({ before, oldStatus, newStatus, after: done })
        }
      })()
      // The new plaintext is known to the reader before it is committed: so it looks at both sides of the switch.
      const rotated = await service.write(workspaceId, async (tx) => {
        const made = await rotateToken(
          tx,
          { userId: person.id, tokenId: old.token.id, lifetime: DAY },
          service.deps.clock,
          service.deps.random,
        )
        fresh = made.plaintext
        while (seen.length === 0) await turn()
        return made
      })
      expect(await status(rotated.plaintext)).toBe(200)
      done = true
      await reader
      expect([seen[0], seen.at(-1)]).toMatchObject([{ oldStatus: 200 }, { oldStatus: 401, newStatus: 200 }])
      for (const { before, oldStatus, newStatus, after } of seen) {
        expect([200, 401]).toContain(oldStatus)
        if (newStatus === 200) expect(oldStatus).toBe(401)
        if (before) expect(oldStatus).toBe(401)
        if (!after && oldStatus === 401 && newStatus === 401) expect(await status(rotated.plaintext)).toBe(200)
      }
      expect(await live()).toHaveLength(1)
      present = rotated
    }
  })

  test('both are read in one snapshot at every moment: exactly one of them is live', async () => {
    let fresh = ''
    let done = false
    const counts = new Set<number>()
    const reader = (async () => {
      while (!done) {
        await turn()
        if (fresh !== '')
          counts.add(
            await transact(service.store, workspaceId, service.deps.random, async (tx) => {
              const both = await tx.read([keys.token(first.token.hash), keys.token(hashToken(fresh))])
              return both.filter((token) => token !== undefined && stateOf(token, service.now) === 'active').length
            }),
          )
      }
    })()
    await service.write(workspaceId, async (tx) => {
      const made = await rotateToken(
        tx,
        { userId: person.id, tokenId: first.token.id, lifetime: DAY },
        service.deps.clock,
        service.deps.random,
      )
      fresh = made.plaintext
      while (counts.size === 0) await turn()
      return made
    })
    done = true
    await reader
    expect([...counts]).toEqual([1])
  })

  test('of rotations that race one wins; the others are told, and get no plaintext', async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => rotate(first.token.id)))
    const won = results.filter((result) => result.status === 'fulfilled')
    expect(won).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ name: 'NotIssued', because: 'not_active' })
    expect(await live()).toEqual([won[0]!.value.token])
  })

  test('a rotation that another one comes before, between its reading and its writing, loses', async () => {
    let winner: IssuedToken | undefined
    service.store.beforeCommit = async () => {
      winner = await rotate(first.token.id)
    }
    expect(await refusal(rotate(first.token.id))).toBe('not_active')
    expect(await live()).toEqual([winner!.token])
  })

  test('a revocation that comes before it leaves nothing', async () => {
    service.store.beforeCommit = async () => {
      await service.write(workspaceId, async (tx) => {
        const token = (await tx.get(keys.token(first.token.hash)))!
        tx.put(keys.token(token.hash), { ...token, revoked_at: new Date(service.now).toISOString() })
      })
    }
    expect(await refusal(rotate(first.token.id))).toBe('not_active')
    expect(await live()).toEqual([])
  })

  test.each(['before', 'after'])('where the process dies just %s the commit, exactly one is live', async (when) => {
    const dies = async (): Promise<never> => {
      throw new StorageUnavailable('the process is gone', { certain: false })
    }
    if (when === 'before') service.store.beforeCommit = dies
    else service.store.afterCommit = dies
    await expect(rotate(first.token.id)).rejects.toThrow('the process is gone')
    const [one, ...others] = await live()
    expect(others).toEqual([])
    expect(one!.id === first.token.id).toBe(when === 'before')
    expect(await status(first.plaintext)).toBe(when === 'before' ? 200 : 401)
  })

  test("another person's token, and one that is not there, cannot be rotated", async () => {
    const other = await service.person(workspaceId)
    expect(await refusal(rotate(first.token.id, DAY, other))).toBe('no_token')
    expect(await refusal(rotate('tok_00000000000000000000'))).toBe('no_token')
    expect(await status(first.plaintext)).toBe(200)
  })

  test('who leaves loses every token at once, gets none, and coming back revives none', async () => {
    const { plaintext } = await rotate(first.token.id)
    const all = [first.plaintext, plaintext, person.read, person.write, person.admin]
    await endMembership(service.deps, workspaceId, person.id)
    const gone = await Promise.all(all.map(status))
    const { id: tokenId } = first.token
    const refused = [
      await refusal(rotate(tokenId)),
      await refusal(
        service.write(workspaceId, (tx) =>
          issueToken(tx, { userId: person.id, name: 'x', scopes: [] }, service.deps.clock, service.deps.random),
        ),
      ),
    ]
    const user = (await service.write(GLOBAL, (tx) => tx.get(keys.user(person.id))))!
    await addMember(service.deps, workspaceId, user, 'owner')
    const back = await Promise.all(all.map(status))
    expect([gone, refused, back]).toEqual([
      [401, 401, 401, 401, 401],
      ['no_member', 'no_member'],
      [401, 401, 401, 401, 401],
    ])
    expect(await status(await service.token(workspaceId, person.id, ['kanban:read']))).toBe(200)
  })

  test('who leaves while a token is being rotated has none', async () => {
    service.store.beforeCommit = async () => void (await endMembership(service.deps, workspaceId, person.id))
    expect(await refusal(rotate(first.token.id))).toBe('no_member')
    expect(await live()).toEqual([])
  })
})

const redis = drivers.find(({ name }) => name === 'redis')
test.runIf(redis)('two processes on one Redis rotate the same token: one wins, and both see the same at once', async () => {
  const url = await sharedRedis()
  const prefix = `rotation${Date.now()}`
  const now = Date.parse('2026-11-20T12:00:00.000Z')
  const clock = () => now
  const random = systemRandom
  const stores = [await openRedisStore(url, { log: quiet, prefix }), await openRedisStore(url, { log: quiet, prefix })]
  const apps = stores.map((store) => createApp({ store, log: quiet, clock, passwords: cheapPasswords }))
  const tools = { store: stores[0]!, clock, random }
  const { id: workspaceId } = await createWorkspace(tools, 'Acme')
  const user = await addUser(tools, { display_name: 'Ann' })
  await addMember(tools, workspaceId, user, 'owner')
  const ask = async (app: (typeof apps)[number], token: string) =>
    (await app.fetch(new Request('http://localhost/v1/account', { headers: { authorization: `Bearer ${token}` } }))).status
  let present = await transact(stores[0]!, workspaceId, random, (tx) =>
    issueToken(tx, { userId: user.id, name: 'first', scopes: ['kanban:read'] }, clock, random),
  )
  for (let round = 0; round < effort(10); round++) {
    const request = { userId: user.id, tokenId: present.token.id, lifetime: DAY }
    const results = await Promise.allSettled(
      stores.map((store) => transact(store, workspaceId, random, (tx) => rotateToken(tx, request, clock, random))),
    )
    const [won, ...others] = results.filter((result) => result.status === 'fulfilled').map(({ value }) => value)
    expect(others).toEqual([])
    expect(results.find((result) => result.status === 'rejected')!.reason).toMatchObject({ because: 'not_active' })
    for (const app of apps) expect([await ask(app, present.plaintext), await ask(app, won!.plaintext)]).toEqual([401, 200])
    present = won!
  }
  for (const app of apps) await app.services.usage.settled()
  for (const store of stores) await store.close()
})
