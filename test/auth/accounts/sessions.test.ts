import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ABSOLUTE, beginSession, endSessions, IDLE, renewSession, resumeSession } from '../../../src/auth/accounts/sessions.ts'
import type { Session } from '../../../src/model/account.ts'
import { newId } from '../../../src/model/ids.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { drivers } from '../../support/drivers.ts'
import { Service } from '../../support/service.ts'

const MINUTE = 60_000

describe.each(drivers)('sessions, on $name', (driver) => {
  let service: Service
  let userId: string
  beforeAll(async () => {
    service = await Service.start(driver)
  })
  afterAll(() => service.stop())
  beforeEach(() => {
    userId = newId('user', service.deps.random)
  })

  const begin = (id = userId) =>
    service.write(GLOBAL, (tx) => beginSession(tx, { user_id: id, email: 'a@example.org' }, service.deps.clock, service.deps.random))
  const resume = (secret: string) => service.write(GLOBAL, (tx) => resumeSession(tx, secret, service.deps.clock))
  const sessions = async () => (await service.recordKeys(GLOBAL)).filter((key) => key.startsWith('session:'))

  test('ended everywhere, not one of as many as there can be is left', async () => {
    const secrets = []
    for (let i = 0; i < 20; i++) secrets.push((await begin()).secret)
    await service.write(GLOBAL, (tx) => endSessions(tx, userId))
    for (const secret of secrets) expect(await resume(secret)).toBeUndefined()
  })

  test('a cookie finds its session, which holds nothing that the cookie could be made from', async () => {
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
    [1, false],
  ])('without a request it lives for 30 minutes: %d ms from then: %s', async (off, live) => {
    const at = service.now
    const { secret } = await begin()
    service.now = at + IDLE + off
    const found = await resume(secret)
    service.now = at
    expect([IDLE, found !== undefined]).toEqual([30 * MINUTE, live])
  })

  test.each([
    [-1, true],
    [0, false],
  ])('and whatever comes, for 12 hours: %d ms from then: %s', async (off, live) => {
    const at = service.now
    const { secret } = await begin()
    for (let passed = 29 * MINUTE; passed < ABSOLUTE - 1; passed += 29 * MINUTE) {
      service.now = at + passed
      expect(await resume(secret)).toBeDefined()
    }
    service.now = at + ABSOLUTE + off
    const found = await resume(secret)
    service.now = at
    expect([ABSOLUTE, found !== undefined]).toEqual([12 * 60 * MINUTE, live])
  })

  test('giving the password again makes it no older and no younger', async () => {
    const at = service.now
    const { session } = await begin()
    service.now = at + 20 * MINUTE
    const renewed = await service.write(GLOBAL, (tx) => renewOf(tx, session))
    service.now = at
    expect(renewed.session).toMatchObject({ begun_at: session.begun_at, proved_at: new Date(at + 20 * MINUTE).toISOString() })
  })

  const renewOf = async (tx: Parameters<typeof renewSession>[0], session: Session) => {
    await tx.get(keys.session(session.hash))
    return renewSession(tx, session, service.deps.clock, service.deps.random)
  }

  test('renewed, it has another secret and form token, and the old ones are worth nothing', async () => {
    const { secret, session } = await begin()
    const renewed = await service.write(GLOBAL, (tx) => renewOf(tx, session))
    expect(renewed.secret).not.toBe(secret)
    expect(renewed.session.form_token).not.toBe(session.form_token)
    expect([await resume(secret), await resume(renewed.secret)]).toEqual([undefined, renewed.session])
  })

  test('that it was seen is written once a minute', async () => {
    const at = service.now
    const { secret, session } = await begin()
    const seen: unknown[] = []
    for (const passed of [MINUTE - 1, MINUTE]) {
      service.now = at + passed
      seen.push((await resume(secret))!.seen_at)
    }
    service.now = at
    expect(seen).toEqual([session.seen_at, new Date(at + MINUTE).toISOString()])
  })

  test('twenty at once: the oldest goes, and nobody else loses one', async () => {
    const at = service.now
    const other = await begin(newId('user', service.deps.random))
    const secrets: string[] = []
    for (let i = 0; i < 22; i++) {
      service.now = at + i
      secrets.push((await begin()).secret)
    }
    const live = await Promise.all(secrets.map(async (secret) => (await resume(secret)) !== undefined))
    service.now = at
    expect(live).toEqual(secrets.map((_secret, i) => i >= 2))
    expect(await resume(other.secret)).toBeDefined()
  })

  test('those that are over are removed when the next begins, and do not count', async () => {
    const at = service.now
    const before = (await sessions()).length
    for (let i = 0; i < 20; i++) await begin()
    service.now = at + IDLE
    const { secret } = await begin()
    const found = await resume(secret)
    service.now = at
    expect([found !== undefined, (await sessions()).length]).toEqual([true, before + 1])
  })

  test('ended everywhere, none is left, and nobody else loses one', async () => {
    const other = await begin(newId('user', service.deps.random))
    const own = [await begin(), await begin(), await begin()]
    await service.write(GLOBAL, (tx) => endSessions(tx, userId))
    expect(await Promise.all(own.map(({ secret }) => resume(secret)))).toEqual([undefined, undefined, undefined])
    expect(await resume(other.secret)).toBeDefined()
  })
})
