import { beforeEach, describe, expect, test } from 'vitest'
import { addMember, endMembership } from '../../../src/admin/memberships.ts'
import { keys, GLOBAL } from '../../../src/store/keys.ts'
import { StorageUnavailable } from '../../../src/store/port.ts'
import { endToken, issueToken, IssueRefused, rotateToken, type IssuedToken } from '../../../src/auth/tokens/issue.ts'
import { stateOf } from '../../../src/auth/tokens/lifecycle.ts'
import { sha256Hex } from '../../../src/auth/secrets.ts'
import { DAY } from '../../../src/model/time.ts'
import { drivers } from '../../support/drivers.ts'
import { effort } from '../../support/effort.ts'
import { Service, type Person } from '../../support/service.ts'

/** Yields to the event loop: a loop that only awaits resolved promises would starve timers. */
const yieldToEventLoop = () => new Promise(setImmediate)

describe.each(drivers)('rotation, on $name', async (driver) => {
  let person: Person
  let first: IssuedToken
  const service = await Service.forSuite(driver)
  const workspaceId = await service.workspace()
  beforeEach(async () => {
    person = await service.person(workspaceId)
    const request = { userId: person.id, name: 'first', scopes: ['kanban:write'] }
    first = await service.write(workspaceId, (tx) => issueToken(tx, request, service.deps))
  })

  const rotate = (tokenId: string, lifetime = 90 * DAY) =>
    service.write(workspaceId, (tx) => rotateToken(tx, { userId: person.id, tokenId, lifetime }, service.deps))
  const outcomeOf = (rotation: Promise<unknown>) =>
    rotation.then(
      () => 'issued',
      (error: unknown) => (error instanceof IssueRefused ? error.reason : error),
    )
  const status = async (token: string) => (await service.send(token, 'GET', '/account')).status
  /** The person's stored tokens with the name `first` that are active. */
  const activeTokens = async () => {
    const records = (await service.recordKeys(workspaceId)).filter((key) => key.startsWith('token:'))
    const tokens = await service.write(workspaceId, (tx) => tx.read(records.map((key) => keys.token(key.slice('token:'.length)))))
    return tokens.filter((token) => token?.user_id === person.id && token.name === 'first' && stateOf(token, service.now) === 'active')
  }

  const stored = () => service.write(workspaceId, (tx) => tx.get(keys.token(first.token.hash)))

  test('the new token has the name and scopes of the old one, whose record has its end and its successor', async () => {
    const { plaintext, token } = await rotate(first.token.id, 5 * DAY)
    const at = new Date(service.now).toISOString()
    expect(token).toEqual({
      id: expect.stringMatching(/^tok_[0-9a-z]{20}$/),
      hash: sha256Hex(plaintext),
      user_id: person.id,
      name: 'first',
      scopes: ['kanban:write'],
      issued_at: at,
      expires_at: new Date(service.now + 5 * DAY).toISOString(),
      revoked_at: null,
      replaced_by: null,
      membership_id: first.token.membership_id,
      family: first.token.hash,
    })
    expect(await stored()).toEqual({ ...first.token, revoked_at: at, replaced_by: token.id, last: token.id })
    expect({ old: await status(first.plaintext), fresh: await status(plaintext) }).toEqual({ old: 401, fresh: 200 })
    expect(await activeTokens()).toEqual([token])
  })

  test('a client that reads continuously sees either the old or the new token accepted, never both and never neither', async () => {
    let current = first
    for (let round = 0; round < effort(5); round++) {
      const old = current
      let fresh: string | undefined
      let done = false
      const observations: { isDone: boolean; oldStatus: number; newStatus: number | undefined; after: boolean }[] = []
      const reader = (async () => {
        for (let last = false; !last;) {
          await yieldToEventLoop()
          last = done
          // The new token is tried first: if it works, the old one, tried later, must not.
          const newStatus = fresh === undefined ? undefined : await status(fresh)
          const isDone = done
          observations.push({ newStatus, isDone, oldStatus: await status(old.plaintext), after: done })
        }
      })()
      // The reader knows the new plaintext before the commit, so it observes both sides of the switch.
      const rotated = await service.write(workspaceId, async (tx) => {
        const rotated = await rotateToken(tx, { userId: person.id, tokenId: old.token.id, lifetime: DAY }, service.deps)
        fresh = rotated.plaintext
        while (observations.length === 0) await yieldToEventLoop()
        return rotated
      })
      expect(await status(rotated.plaintext)).toBe(200)
      done = true
      await reader
      expect({ first: observations[0], last: observations.at(-1) }).toMatchObject({
        first: { oldStatus: 200 },
        last: { oldStatus: 401, newStatus: 200 },
      })
      for (const { isDone, oldStatus, newStatus, after } of observations) {
        expect(newStatus === 200 || isDone ? [401] : [200, 401]).toContain(oldStatus)
        if (!after && oldStatus === 401 && newStatus === 401) expect(await status(rotated.plaintext)).toBe(200)
      }
      expect(await activeTokens()).toHaveLength(1)
      current = rotated
    }
  })

  test.each<[string, string, () => Promise<unknown>]>([
    ['another one commits between its read and its commit', 'not_active', () => rotate(first.token.id)],
    [
      'the token is revoked',
      'not_active',
      () => service.write(workspaceId, async (tx) => endToken(tx, (await tx.get(keys.token(first.token.hash)))!, service.deps.clock)),
    ],
    ['the membership ends', 'no_member', () => endMembership(service.deps, workspaceId, person.id)],
  ])('a rotation is refused if %s meanwhile, and leaves active tokens active', async (_what, outcome, change) => {
    let after: unknown
    service.store.beforeCommit = async () => {
      await change()
      after = await activeTokens()
    }
    expect(await outcomeOf(rotate(first.token.id))).toBe(outcome)
    expect(await activeTokens()).toEqual(after)
  })

  test.each(['before', 'after'])('if the process dies just %s the commit, exactly one token is active', async (when) => {
    const die = async (): Promise<never> => {
      throw new StorageUnavailable('the process is gone', { outcomeKnown: false })
    }
    if (when === 'before') service.store.beforeCommit = die
    else service.store.afterCommit = die
    await expect(rotate(first.token.id)).rejects.toThrow('the process is gone')
    const [one, ...others] = await activeTokens()
    expect(others).toEqual([])
    expect(one!.id === first.token.id).toBe(when === 'before')
    expect(await status(first.plaintext)).toBe(when === 'before' ? 200 : 401)
  })

  test('when a membership ends, all its tokens end and none can be issued, and rejoining reactivates none', async () => {
    const { plaintext } = await rotate(first.token.id)
    const all = [first.plaintext, plaintext, person.read, person.write, person.admin]
    await endMembership(service.deps, workspaceId, person.id)
    const afterLeaving = await Promise.all(all.map(status))
    const { id: tokenId } = first.token
    const refused = [
      await outcomeOf(rotate(tokenId)),
      await outcomeOf(service.write(workspaceId, (tx) => issueToken(tx, { userId: person.id, name: 'x', scopes: [] }, service.deps))),
    ]
    const user = (await service.write(GLOBAL, (tx) => tx.get(keys.user(person.id))))!
    await addMember(service.deps, workspaceId, user, 'owner')
    const afterRejoining = await Promise.all(all.map(status))
    expect({ afterLeaving, refused, afterRejoining }).toEqual({
      afterLeaving: [401, 401, 401, 401, 401],
      refused: ['no_member', 'no_member'],
      afterRejoining: [401, 401, 401, 401, 401],
    })
    expect(await status(await service.token(workspaceId, person.id, ['kanban:read']))).toBe(200)
  })
})
