import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { beginSession, endSessions, liveSessionsOf, renewSession, resumeSession, useSession } from '../../../src/auth/accounts/sessions.ts'
import type { Confirmation, Session } from '../../../src/model/account.ts'
import { newId } from '../../../src/model/ids.ts'
import { DAY, HOUR, MINUTE } from '../../../src/model/time.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { drivers } from '../../support/drivers.ts'
import { Service } from '../../support/service.ts'
import { BROWSER } from '../../support/visitor.ts'

describe.each(drivers)('sessions, on $name', async (driver) => {
  let userId: string
  const service = await Service.forSuite(driver)
  const start = service.now
  beforeEach(() => {
    userId = newId('user', service.deps.random)
  })
  afterEach(() => void (service.now = start))

  const waitUntil = (elapsed: number) => void (service.now = start + elapsed)
  const begin = (id = userId) =>
    service.write(GLOBAL, (tx) => beginSession(tx, { user_id: id, email: 'a@example.org', ...BROWSER }, service.deps))
  const beginSeveral = async (count: number) => {
    const secrets: string[] = []
    for (let i = 0; i < count; i++) {
      waitUntil(i)
      secrets.push((await begin()).secret)
    }
    return secrets
  }
  const beginOther = async () => (await begin(newId('user', service.deps.random))).secret
  const resume = (secret: string) => service.write(GLOBAL, (tx) => resumeSession(tx, secret, service.deps))
  const isLive = async (secret: string) => (await resume(secret)) !== undefined
  const sessions = async () => (await service.recordKeys(GLOBAL)).filter((key) => key.startsWith('session:'))

  test('a cookie leads to its session, and the session record does not contain the cookie', async () => {
    const { secret, session } = await begin()
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(await resume(secret)).toEqual(session)
    expect(session).toMatchObject({ user_id: userId, proved_at: session.begun_at, confirmations: [] })
    expect(JSON.stringify(session)).not.toContain(secret)
    for (const other of ['', session.hash, session.form_token, `${secret}A`, secret.toLowerCase()])
      expect(await resume(other)).toBeUndefined()
  })

  test.each([
    [-1, true],
    [0, false],
  ])('a session ends seven days after its last use, and 30 days after sign-in: %d ms from then it is live: %s', async (offset, live) => {
    const [idle, used] = await beginSeveral(2)
    waitUntil(7 * DAY + offset)
    expect(await isLive(idle!)).toBe(live)
    for (let elapsed = 6 * DAY; elapsed < 30 * DAY - 1; elapsed += 6 * DAY) {
      waitUntil(elapsed)
      expect(await isLive(used!)).toBe(true)
    }
    waitUntil(30 * DAY + 1 + offset)
    expect(await isLive(used!)).toBe(live)
  })

  test.each([
    [-1, true],
    [0, false],
  ])('the lifetimes are settings, for sessions that there are too: %d ms from the end of one it is live: %s', async (offset, live) => {
    const shorter = { ...service.deps, sessions: { idle: 30 * MINUTE, max: 2 * HOUR } }
    const inUse = (secret: string) => service.write(GLOBAL, async (tx) => (await resumeSession(tx, secret, shorter)) !== undefined)
    const [idle, used] = await beginSeveral(2)
    for (let elapsed = 25 * MINUTE; elapsed < 2 * HOUR; elapsed += 25 * MINUTE) {
      waitUntil(elapsed)
      expect(await inUse(used!)).toBe(true)
    }
    waitUntil(30 * MINUTE + offset)
    expect(await inUse(idle!)).toBe(live)
    waitUntil(2 * HOUR + 1 + offset)
    expect(await inUse(used!)).toBe(live)
  })

  test('a page that is open keeps its session, up to its maximum, and writes that at most once a minute', async () => {
    const { session } = await begin()
    const watch = () => service.write(GLOBAL, (tx) => useSession(tx, session.hash, service.deps))
    const seenAt: (string | undefined)[] = []
    for (const elapsed of [1000, MINUTE, MINUTE + 1000, 6 * DAY, 12 * DAY, 18 * DAY, 24 * DAY, 30 * DAY - 1, 30 * DAY]) {
      waitUntil(elapsed)
      seenAt.push((await watch())?.seen_at)
    }
    const at = (elapsed: number) => new Date(start + elapsed).toISOString()
    const written = [0, MINUTE, MINUTE, 6 * DAY, 12 * DAY, 18 * DAY, 24 * DAY, 30 * DAY - 1].map(at)
    expect(seenAt).toEqual([...written, undefined])
    expect(session.proved_at).toBe(at(0))
  })

  test.each([
    [0, true],
    [1, false],
  ])('a session from the future is valid for clocks that differ by five minutes: with %d ms more it is live: %s', async (more, live) => {
    const { secret } = await begin()
    waitUntil(-5 * MINUTE - more)
    expect(await isLive(secret)).toBe(live)
  })

  const renew = (session: Session) =>
    service.write(GLOBAL, async (tx) => {
      await tx.get(keys.session(session.hash))
      return renewSession(tx, session, service.deps)
    })

  test('a renewed session has a new secret, form token and proof, the old secret is refused, and the rest stays', async () => {
    const { secret, session } = await begin()
    const confirmations: Confirmation[] = [{ id: 'cnf_1', workspace_id: 'wsp_1', name: 'CI', scopes: ['kanban:admin'], days: 30 }]
    waitUntil(20 * MINUTE)
    const renewed = await renew({ ...session, confirmations })
    expect({ old: await resume(secret), renewed: await resume(renewed.secret) }).toStrictEqual({ old: undefined, renewed: renewed.session })
    const { hash, form_token } = renewed.session
    const at = new Date(start + 20 * MINUTE).toISOString()
    expect(renewed.session).toEqual({ ...session, confirmations, hash, form_token, seen_at: at, proved_at: at })
    expect(renewed.secret).not.toBe(secret)
    expect(form_token).not.toBe(session.form_token)
  })

  test('the time of the last request is written at most once a minute', async () => {
    const { secret, session } = await begin()
    const seenAt: unknown[] = []
    for (const elapsed of [MINUTE - 1, MINUTE]) {
      waitUntil(elapsed)
      seenAt.push((await resume(secret))!.seen_at)
    }
    expect(seenAt).toEqual([session.seen_at, new Date(start + MINUTE).toISOString()])
  })

  test('the 21st session of a person ends their oldest one, and no session of anyone else', async () => {
    const other = await beginOther()
    const secrets = await beginSeveral(22)
    expect(await Promise.all(secrets.map(isLive))).toEqual(secrets.map((_secret, i) => i >= 2))
    expect(await isLive(other)).toBe(true)
  })

  test('ended sessions are removed when the next one begins, and do not count towards the maximum', async () => {
    const before = (await sessions()).length
    await beginSeveral(20)
    waitUntil(8 * DAY)
    const { secret } = await begin()
    expect({ isLive: await isLive(secret), sessions: (await sessions()).length }).toEqual({ isLive: true, sessions: before + 1 })
  })

  test('the list of a person has their live sessions, newest first', async () => {
    const begun: Session[] = []
    for (const days of [0, 3, 6]) {
      waitUntil(days * DAY)
      begun.push((await begin()).session)
    }
    waitUntil(7 * DAY)
    const listed = await service.write(GLOBAL, (tx) => liveSessionsOf(tx, userId, service.deps))
    expect(listed).toEqual([begun[2], begun[1]])
  })

  test('sessions that have ended do not end older ones that are in use', async () => {
    const used = await beginSeveral(19)
    waitUntil(20)
    await begin()
    waitUntil(6 * DAY)
    for (const secret of used) await resume(secret)
    // The twentieth session has ended: it was not used for seven days.
    waitUntil(8 * DAY)
    await begin()
    expect(await Promise.all(used.map(isLive))).toEqual(used.map(() => true))
  })

  test('ending all sessions of a person ends as many as there can be, and no session of anyone else', async () => {
    const other = await beginOther()
    const secrets = await beginSeveral(20)
    await service.write(GLOBAL, (tx) => endSessions(tx, userId))
    expect(await Promise.all([...secrets, other].map(isLive))).toEqual([...secrets.map(() => false), true])
  })
})
