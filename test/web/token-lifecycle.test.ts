import { beforeEach, describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import type { Session } from '../../src/model/account.ts'
import { DAY, MINUTE } from '../../src/model/time.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { drivers } from '../support/drivers.ts'
import { captureLog } from '../support/log.ts'
import { Service, type Person } from '../support/service.ts'
import { formOf, PASSWORD, plaintextIn, signedIn, textOf, Visitor, type ReceivedPage } from '../support/visitor.ts'

describe.each(drivers)('tokens in the web app, on $name', async (driver) => {
  const captured = captureLog()
  let person: Person
  let visitor: Visitor
  const service = await Service.forSuite(driver, { log: captured.log, proxies: 1 })
  const workspaceId = await service.workspace('Acme')
  const start = service.now
  beforeEach(async () => {
    service.now = start
    person = await service.person(workspaceId)
    visitor = await signedIn(service, person)
  })

  const account = async (token: string) => {
    const response = await service.send(token, 'GET', '/account')
    await service.app.services.usage.settled()
    return response
  }
  const status = async (token: string) => (await account(token)).status
  const entries = async () => {
    const { text } = await visitor.open('/settings/tokens')
    return [...text.matchAll(/<li class="token [^>]*>.*?<\/dl>(<p class="actions">.*?<\/p>)?<\/li>/gs)].map(([entry]) => entry)
  }
  const entryOf = async (id: string) => (await entries()).find((entry) => entry.includes(id))!
  const rotate = async (id: string, fields: Record<string, string> = {}) => {
    await visitor.open(`/settings/tokens/${workspaceId}/${id}/rotate`)
    return visitor.submit({ days: '30', ...fields })
  }
  const loggedOf = (id: string, name: string) => captured.lines.filter(({ token_id, event }) => token_id === id && event === name)
  const idOf = async (token: string): Promise<string> => (await account(token)).body.data.token.id

  test('a token is chosen, confirmed, shown once, used, and listed', async () => {
    const chosen = await visitor.choose(workspaceId, { name: 'Nightly build', scope: 'kanban:write', days: '7' })
    for (const text of ['Create this token?', 'Nightly build', 'Acme', '2026-11-27 12:00 UTC, after 7 days', 'kanban:write', 'P13'])
      expect(chosen.shown).toContain(text)
    expect(await entries()).toHaveLength(4)
    await visitor.open(formOf(chosen.text).action)
    const issued = await visitor.submit()
    const plaintext = plaintextIn(issued)
    expect({ cacheControl: issued.headers.get('cache-control'), location: issued.location }).toEqual({
      cacheControl: 'no-store',
      location: null,
    })
    const { data } = (await account(plaintext)).body
    expect(data).toMatchObject({ scopes: ['kanban:read', 'kanban:write'], token: { name: 'Nightly build' } })
    const text = textOf(await entryOf(data.token.id))
    expect(text).toBe(
      `Nightly build kanban:write Expires in 7 days Created 2026-11-20 12:00 UTC Last used just now 30 days 1 call, none refused ID ${data.token.id} Rotate Nightly build Revoke Nightly build`,
    )
    expect((await visitor.open('/settings/tokens')).text).not.toContain(plaintext)
    expect(captured.lines.filter(({ token_id }) => token_id === data.token.id)).toMatchObject([
      { event: 'token.created', user_id: person.id },
    ])
    expect(captured.text()).not.toContain(plaintext)
  })

  test('a confirmation that is sent several times at once, and again, creates exactly one token', async () => {
    for (const scope of ['kanban:read', 'kanban:admin']) {
      service.now += scope === 'kanban:admin' ? 11 * MINUTE : 0
      const before = (await entries()).length
      await visitor.choose(workspaceId, { scope })
      const { action, hidden } = formOf(visitor.page!.text)
      const responses = await Promise.all(Array.from({ length: 6 }, () => visitor.post(action, { ...hidden, password: PASSWORD })))
      const successes = responses.filter(({ status }) => status === 200)
      expect(successes).toHaveLength(1)
      plaintextIn(successes[0]!)
      for (const page of responses) if (page !== successes[0]) expect([303, 403, 409, 410]).toContain(page.status)
      // The other requests may have been redirected to sign in, but the browser has the session of the successful one.
      expect(await entries()).toHaveLength(before + 1)
      const again = await visitor.post(action, { ...hidden, ...formOf(visitor.page!.text, '/settings/sign-out').hidden })
      expect({ posted: again.status, got: (await visitor.request(action)).status, text: again.text }).toEqual({
        posted: 410,
        got: 410,
        text: expect.not.stringContaining('lk_pat_'),
      })
      expect(await entries()).toHaveLength(before + 1)
    }
  })

  test('the list contains every active token, however many tokens have been created and ended since', async () => {
    const old = await idOf(await visitor.create(workspaceId, { days: '90' }))
    service.now += DAY
    await service.write(workspaceId, async (tx) => {
      for (let i = 0; i < 450; i++) {
        const request = { userId: person.id, name: 'flood', scopes: ['kanban:read'], lifetime: 1 }
        await issueToken(tx, request, service.deps)
        service.now += 1
      }
    })
    service.now += 1
    visitor = await signedIn(service, person)
    const listed = await entries()
    expect({
      flood: listed.filter((entry) => entry.includes('flood')).length,
      old: listed.filter((entry) => entry.includes(old)).length,
    }).toEqual({ flood: 200, old: 1 })
    // After 90 days, the list stops reading at the newest tokens.
    service.now += 90 * DAY
    visitor = await signedIn(service, person)
    service.store.trips = 0
    expect(await entries()).toHaveLength(200)
    expect(service.store.trips).toBeLessThan(9)
  })

  test('a session has at most five unconfirmed tokens, and the oldest one is discarded', async () => {
    const confirmations: string[] = []
    for (let i = 0; i < 6; i++) confirmations.push(formOf((await visitor.choose(workspaceId, { name: `CI ${i}` })).text).action)
    const statuses = await Promise.all(confirmations.map(async (action) => (await visitor.request(action)).status))
    expect(statuses).toEqual([410, 200, 200, 200, 200, 200])
  })

  test('after a rotation the old token fails, the new one works, and the list shows both', async () => {
    const old = await visitor.create(workspaceId, { name: 'CI', scope: 'kanban:write', days: '7' })
    const id = await idOf(old)
    service.now += DAY
    visitor = await signedIn(service, person)
    const page = await visitor.open(`/settings/tokens/${workspaceId}/${id}/rotate`)
    expect(page.text).toMatch(/name="days" value="7" checked/)
    const fresh = plaintextIn(await visitor.submit({ days: '90' }))
    expect({ old: await status(old), fresh: await status(fresh) }).toEqual({ old: 401, fresh: 200 })
    const { token, scopes } = (await account(fresh)).body.data
    expect({ name: token.name, scope: scopes.at(-1), expiresAt: Date.parse(token.expires_at) }).toEqual({
      name: 'CI',
      scope: 'kanban:write',
      expiresAt: service.now + 90 * DAY,
    })
    const entry = await entryOf(id)
    expect(textOf(entry)).toMatch(/^CI rotated /)
    expect(entry).not.toContain('/rotate"')
    expect(captured.lines.filter(({ replaced }) => replaced === id)).toMatchObject([{ event: 'token.rotated', token_id: token.id }])
  })

  test('a revoked token fails at the next request and cannot be rotated', async () => {
    const token = await visitor.create(workspaceId)
    const id = await idOf(token)
    await visitor.open(`/settings/tokens/${workspaceId}/${id}/revoke`)
    const before = await status(token)
    expect((await visitor.submit()).shown).toContain('The token is revoked.')
    expect({ before, after: await status(token) }).toEqual({ before: 200, after: 401 })
    expect(textOf(await entryOf(id))).toMatch(/^CI revoked /)
    expect((await visitor.request(`/settings/tokens/${workspaceId}/${id}/rotate`)).status).toBe(409)
    expect(loggedOf(id, 'token.revoked')).toHaveLength(1)
  })

  test('revoking a token that has ended changes nothing and is not logged', async () => {
    const old = await visitor.create(workspaceId)
    const id = await idOf(old)
    const form = formOf((await visitor.open(`/settings/tokens/${workspaceId}/${id}/revoke`)).text)
    plaintextIn(await rotate(id))
    const entry = await entryOf(id)
    await visitor.post(form.action, form.hidden)
    expect(await entryOf(id)).toBe(entry)
    expect(loggedOf(id, 'token.revoked')).toEqual([])
  })

  test.each([
    [14 * DAY + 1, undefined, undefined],
    [14 * DAY, 'in 14 days', 'ahead'],
    [7 * DAY + 1, 'in 8 days', 'ahead'],
    [7 * DAY, 'in 7 days', 'near'],
    [DAY + 1, 'in 2 days', 'near'],
    [DAY, 'in 1 day', 'urgent'],
    [DAY - 1, 'in 24 hours', 'urgent'],
    [1, 'in less than a minute', 'urgent'],
    [0, undefined, undefined],
  ])('%d ms before a token expires the list says %s', async (remaining, text, level) => {
    const id = await idOf(await visitor.create(workspaceId, { days: '30' }))
    service.now += 30 * DAY - remaining
    visitor = await signedIn(service, person)
    const entry = await entryOf(id)
    const warning = /<strong class="expires (\w+)"><time[^>]*>([^<]*)</.exec(entry)
    expect({ text: warning?.[2], level: warning?.[1] }).toEqual({ text, level })
    expect(textOf(entry)).toMatch(remaining === 0 ? /^CI expired kanban:read Ended just now / : /^CI kanban:read Expires in /)
  })

  describe('re-authentication for kanban:admin', () => {
    const ACTIONS = ['create', 'rotate'] as const
    /** Submits the page that issues a token. */
    const issue = (action: (typeof ACTIONS)[number], fields: Record<string, string>): Promise<ReceivedPage> =>
      visitor.submit(action === 'create' ? fields : { days: '30', ...fields })
    /** Opens the page that issues a token, `elapsed` ms after the password was entered. */
    const openIssuePage = async (action: (typeof ACTIONS)[number], elapsed: number): Promise<ReceivedPage> => {
      const start = service.now
      if (action === 'create') await visitor.choose(workspaceId, { scope: 'kanban:admin' })
      const id = action === 'rotate' ? await idOf(person.admin) : ''
      service.now = start + elapsed
      return visitor.open(action === 'create' ? formOf(visitor.page!.text).action : `/settings/tokens/${workspaceId}/${id}/rotate`)
    }

    const limits = ACTIONS.flatMap((action) => [[action, 10 * MINUTE, false] as const, [action, 10 * MINUTE + 1000, true] as const])
    test.each(limits)(
      'the form to %s a token, %d ms after the password was entered, requires it: %s',
      async (action, elapsed, required) => {
        const page = await openIssuePage(action, elapsed)
        expect(page.text.includes('type="password"')).toBe(required)
        const issued = await issue(action, {})
        if (!required) return void plaintextIn(issued)
        expect({ status: issued.status, shown: issued.shown }).toEqual({
          status: 403,
          shown: expect.stringContaining('Enter your password to continue.'),
        })
        expect(issued.text).not.toContain('lk_pat_')
        expect(await entries()).toHaveLength(4)
      },
    )

    test.each(ACTIONS)('%s: entering the password again renews the session cookie and counts for ten minutes', async (action) => {
      await openIssuePage(action, 20 * MINUTE)
      const before = visitor.session!
      const wrong = await issue(action, { password: 'wrong password' })
      expect({ status: wrong.status, shown: wrong.shown, session: visitor.session }).toEqual({
        status: 403,
        shown: expect.stringContaining('The password is wrong.'),
        session: before,
      })
      // A password manager can fill it in, and a screen reader says what is wrong.
      expect(wrong.text).toMatch(
        /<input id="password"[^>]*password-error" aria-invalid="true"[^>]* autocomplete="current-password" required/,
      )
      expect(reauthentications()).toEqual([[40, 'web.reauthentication_refused', visitor.address]])
      const issued = await issue(action, { password: PASSWORD })
      plaintextIn(issued)
      expect(reauthentications().slice(1)).toEqual([[30, 'web.reauthenticated', visitor.address]])
      expect(visitor.session).not.toBe(before)
      const stale = new Visitor(service)
      stale.jar.set('lk_session', before)
      expect((await stale.request('/settings/tokens')).location).toBe('/settings/sign-in?over')
      expect(await idOf(plaintextIn(issued))).toMatch(/^tok_/)
      plaintextIn(await (await visitor.choose(workspaceId, { scope: 'kanban:admin' }), visitor.submit()))
    })

    const reauthentications = () =>
      captured.lines
        .filter(({ event, user_id }) => user_id === person.id && String(event).startsWith('web.reauth'))
        .map(({ level, event, address }) => [level, event, address])

    test('guesses are throttled and logged, and then even the right password is refused', async () => {
      await openIssuePage('create', 20 * MINUTE)
      for (let i = 0; i < 8; i++) await issue('create', { password: `guess number ${i}` })
      const throttled = await issue('create', { password: PASSWORD })
      expect({ status: throttled.status, retryAfter: throttled.headers.get('retry-after') }).toEqual({ status: 429, retryAfter: '120' })
      expect(reauthentications().at(-1)).toEqual([40, 'web.reauthentication_throttled', visitor.address])
    })

    test.each<[string, number, (session: Session) => Session | undefined]>([
      ['the session ends', 409, () => undefined],
      ['the confirmation is used', 410, (session) => ({ ...session, confirmations: [] })],
    ])('if %s while the password is checked, no token is issued (%d), and the session is not renewed', async (_what, status, change) => {
      await openIssuePage('create', 20 * MINUTE)
      const before = visitor.session!
      const key = keys.session(sha256Hex(before))
      // The first commit stores the time of this request.
      service.now += MINUTE
      service.store.afterCommit = () =>
        service.write(GLOBAL, async (tx) => {
          const changed = change((await tx.get(key))!)
          if (changed === undefined) tx.remove(key)
          else tx.put(key, changed)
        })
      expect({ status: (await issue('create', { password: PASSWORD })).status, session: visitor.session }).toEqual({
        status,
        session: before,
      })
      expect((await visitor.request('/settings/tokens')).status).toBe(status === 409 ? 303 : 200)
    })

    test('a scope below kanban:admin never requires the password again', async () => {
      await visitor.choose(workspaceId, { scope: 'kanban:write' })
      service.now += 29 * MINUTE
      plaintextIn(await visitor.submit())
    })

    test.each(ACTIONS)('%s: if the storage fails after the password was entered, the person stays signed in', async (action) => {
      await openIssuePage(action, 20 * MINUTE)
      service.store.afterCommit = async () => {
        service.store.beforeCommit = async () => {
          throw new StorageUnavailable('gone')
        }
      }
      const failed = await issue(action, { password: PASSWORD })
      expect({ status: failed.status, retryAfter: failed.headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '1' })
      expect((await visitor.request('/settings/tokens')).status).toBe(200)
      expect(await entries()).toHaveLength(4)
    })

    test('if the membership ends while the password is checked, no token is issued and the person stays signed in', async () => {
      await openIssuePage('create', 20 * MINUTE)
      service.store.afterCommit = async () => void (await endMembership(service.deps, workspaceId, person.id))
      expect((await issue('create', { password: PASSWORD })).status).toBe(404)
      expect((await visitor.request('/settings/tokens')).status).toBe(200)
    })
  })
})
