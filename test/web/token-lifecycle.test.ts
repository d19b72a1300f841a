import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { drivers } from '../support/drivers.ts'
import { keptLog } from '../support/log.ts'
import { Service, type Person } from '../support/service.ts'
import { formOf, PASSWORD, plaintextIn, signedIn, textOf, type PageSeen, type Visitor } from '../support/visitor.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

describe.each(drivers)('a token in the web app, on $name', (driver) => {
  const kept = keptLog()
  let service: Service
  let workspaceId: string
  let person: Person
  let visitor: Visitor
  let start: number
  beforeAll(async () => {
    service = await Service.start(driver, { log: kept.log, proxies: 1 })
    workspaceId = await service.workspace('Acme')
    start = service.now
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    service.now = start
    person = await service.person(workspaceId)
    visitor = await signedIn(service, person)
  })

  const account = async (token: string) => {
    const reply = await service.send(token, 'GET', '/account')
    await service.app.services.usage.settled()
    return reply
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
  const idOf = async (token: string): Promise<string> => (await account(token)).body.data.token.id

  test('is chosen, shown as it will be, confirmed, shown once, used, and seen in the list', async () => {
    const chosen = await visitor.choose(workspaceId, { name: 'Nightly build', scope: 'kanban:write', days: '7' })
    for (const text of ['Issue this token?', 'Nightly build', 'Acme', '2026-11-27 12:00 UTC, after 7 days', 'kanban:write', 'P13'])
      expect(textOf(chosen.text)).toContain(text)
    expect(await entries()).toHaveLength(4)
    await visitor.open(formOf(chosen.text).action)
    const issued = await visitor.submit()
    const plaintext = plaintextIn(issued)
    expect(textOf(issued.text)).toContain(`curl -s http://localhost/v1/account -H 'Authorization: Bearer ${plaintext}'`)
    expect([issued.headers.get('cache-control'), issued.location]).toEqual(['no-store', null])
    const { data } = (await account(plaintext)).body
    expect(data).toMatchObject({ scopes: ['kanban:read', 'kanban:write'], token: { name: 'Nightly build' } })
    const text = textOf(await entryOf(data.token.id))
    expect(text).toBe(
      `Nightly build active Scope kanban:write Id ${data.token.id} Created 2026-11-20 12:00 UTC Expires 2026-11-27 12:00 UTC in 7 days Last used 2026-11-20 12:00 UTC Rotate Nightly build Revoke Nightly build`,
    )
    expect((await visitor.open('/settings/tokens')).text).not.toContain(plaintext)
    expect(kept.lines.filter(({ token_id }) => token_id === data.token.id)).toMatchObject([{ event: 'token.created', user_id: person.id }])
    expect(kept.text()).not.toContain(plaintext)
  })

  test('a confirmation counts once, also when its page is sent again or gone back to', async () => {
    await visitor.choose(workspaceId)
    const { action, hidden } = formOf(visitor.shown!.text)
    plaintextIn(await visitor.post(action, hidden))
    const before = (await entries()).length
    const again = await visitor.post(action, hidden)
    expect([again.status, (await visitor.request(action)).status, (await entries()).length]).toEqual([410, 410, before])
    expect(again.text).not.toContain('lk_pat_')
  })

  test('sent by two at the same time, it makes exactly one token', async () => {
    for (const scope of ['kanban:read', 'kanban:admin']) {
      service.now += scope === 'kanban:admin' ? 11 * MINUTE : 0
      const before = (await entries()).length
      await visitor.choose(workspaceId, { scope })
      const { action, hidden } = formOf(visitor.shown!.text)
      const sent = await Promise.all(Array.from({ length: 6 }, () => visitor.post(action, { ...hidden, password: PASSWORD })))
      const shown = sent.filter(({ status }) => status === 200)
      expect(shown).toHaveLength(1)
      plaintextIn(shown[0]!)
      for (const page of sent) if (page !== shown[0]) expect([303, 403, 409, 410]).toContain(page.status)
      // Those that came too late were told to sign in, but the browser has the session that the first one got.
      expect(await entries()).toHaveLength(before + 1)
    }
  })

  test('however many were made and ended since, one that works is in the list', async () => {
    const old = await idOf(await visitor.create(workspaceId, { days: '90' }))
    service.now += DAY
    await service.write(workspaceId, async (tx) => {
      for (let i = 0; i < 450; i++) {
        const request = { userId: person.id, name: 'flood', scopes: ['kanban:read'], lifetime: 1 }
        await issueToken(tx, request, service.deps.clock, service.deps.random)
      }
    })
    service.now += 1
    visitor = await signedIn(service, person)
    const listed = await entries()
    expect([listed.filter((entry) => entry.includes('flood')).length, listed.filter((entry) => entry.includes(old)).length]).toEqual([
      200, 1,
    ])
    // And after 90 days nothing is looked for any more beyond the newest.
    service.now += 90 * DAY
    visitor = await signedIn(service, person)
    service.store.trips = 0
    expect(await entries()).toHaveLength(200)
    expect(service.store.trips).toBeLessThan(7)
  })

  test('at most five wait to be confirmed; the oldest goes', async () => {
    const waiting: string[] = []
    for (let i = 0; i < 6; i++) waiting.push(formOf((await visitor.choose(workspaceId, { name: `CI ${i}` })).text).action)
    const statuses = await Promise.all(waiting.map(async (action) => (await visitor.request(action)).status))
    expect(statuses).toEqual([410, 200, 200, 200, 200, 200])
  })

  test('rotated, the old one fails and the new one works at once; what it replaced is in the list', async () => {
    const old = await visitor.create(workspaceId, { name: 'CI', scope: 'kanban:write', days: '7' })
    const id = await idOf(old)
    service.now += DAY
    visitor = await signedIn(service, person)
    const page = await visitor.open(`/settings/tokens/${workspaceId}/${id}/rotate`)
    expect(page.text).toMatch(/name="days"[^>]* value="7"/)
    const fresh = plaintextIn(await visitor.submit({ days: '90' }))
    expect([await status(old), await status(fresh)]).toEqual([401, 200])
    const { token, scopes } = (await account(fresh)).body.data
    expect([token.name, scopes.at(-1), Date.parse(token.expires_at)]).toEqual(['CI', 'kanban:write', service.now + 90 * DAY])
    const entry = await entryOf(id)
    expect(textOf(entry)).toMatch(/^CI rotated /)
    expect(entry).not.toContain('/rotate"')
    expect(kept.lines.filter(({ replaced }) => replaced === id)).toMatchObject([{ event: 'token.rotated', token_id: token.id }])
  })

  test('of two who rotate it one gets a token, and the other is told and gets none', async () => {
    const id = await idOf(await visitor.create(workspaceId))
    await visitor.open(`/settings/tokens/${workspaceId}/${id}/rotate`)
    const { action, hidden } = formOf(visitor.shown!.text)
    const sent = await Promise.all(Array.from({ length: 4 }, () => visitor.post(action, { ...hidden, days: '30' })))
    expect(sent.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
    for (const { text, status: came } of sent) expect([came, text.includes('lk_pat_')]).toEqual([came, came === 200])
    expect((await visitor.request(action)).status).toBe(409)
  })

  test('revoked, it fails with the very next request, and cannot be rotated', async () => {
    const token = await visitor.create(workspaceId)
    const id = await idOf(token)
    await visitor.open(`/settings/tokens/${workspaceId}/${id}/revoke`)
    const before = await status(token)
    expect(textOf((await visitor.submit()).text)).toContain('The token is revoked.')
    expect([before, await status(token)]).toEqual([200, 401])
    expect(textOf(await entryOf(id))).toMatch(/^CI revoked /)
    expect((await visitor.request(`/settings/tokens/${workspaceId}/${id}/rotate`)).status).toBe(409)
    expect(kept.lines.filter(({ token_id, event }) => token_id === id && event === 'token.revoked')).toHaveLength(1)
  })

  test('revoking what has ended already changes nothing, and is not logged as if it had', async () => {
    const old = await visitor.create(workspaceId)
    const id = await idOf(old)
    const form = formOf((await visitor.open(`/settings/tokens/${workspaceId}/${id}/revoke`)).text)
    plaintextIn(await rotate(id))
    const entry = await entryOf(id)
    await visitor.post(form.action, form.hidden)
    expect(await entryOf(id)).toBe(entry)
    expect(kept.lines.filter(({ token_id, event }) => token_id === id && event === 'token.revoked')).toEqual([])
  })

  test.each([
    [14 * DAY + 1, undefined, undefined],
    [14 * DAY, 'in 14 days', 'ahead'],
    [7 * DAY + 1, 'in 8 days', 'ahead'],
    [7 * DAY, 'in 7 days', 'near'],
    [DAY + 1, 'in 2 days', 'near'],
    [DAY, 'within a day', 'urgent'],
    [1, 'within a day', 'urgent'],
    [0, undefined, undefined],
  ])('%d ms before it expires the list says %s', async (left, said, level) => {
    const id = await idOf(await visitor.create(workspaceId, { days: '30' }))
    service.now += 30 * DAY - left
    visitor = await signedIn(service, person)
    const entry = await entryOf(id)
    const warning = /<strong class="expires (\w+)">([^<]*)</.exec(entry)
    expect([warning?.[2], warning?.[1]]).toEqual([said, level])
    expect(textOf(entry)).toMatch(left === 0 ? /^CI expired / : /^CI active /)
  })

  describe('with kanban:admin', () => {
    const issue = async (what: 'create' | 'rotate', fields: Record<string, string>): Promise<PageSeen> => {
      if (what === 'create') return visitor.submit(fields)
      return visitor.submit({ days: '30', ...fields })
    }
    /** The page that issues one, so long after the password was given. */
    const ready = async (what: 'create' | 'rotate', passed: number): Promise<PageSeen> => {
      const at = service.now
      if (what === 'create') await visitor.choose(workspaceId, { scope: 'kanban:admin' })
      const id = what === 'rotate' ? await idOf(person.admin) : ''
      service.now = at + passed
      return visitor.open(what === 'create' ? formOf(visitor.shown!.text).action : `/settings/tokens/${workspaceId}/${id}/rotate`)
    }

    test.each([
      ['create', 10 * MINUTE - 1000, false],
      ['create', 10 * MINUTE, false],
      ['create', 10 * MINUTE + 1000, true],
      ['rotate', 10 * MINUTE - 1000, false],
      ['rotate', 10 * MINUTE, false],
      ['rotate', 10 * MINUTE + 1000, true],
    ] as const)('%s %d ms after the password was given asks for it: %s', async (what, passed, asks) => {
      const page = await ready(what, passed)
      expect(page.text.includes('type="password"')).toBe(asks)
      const issued = await issue(what, {})
      if (!asks) return void plaintextIn(issued)
      expect([issued.status, textOf(issued.text).includes('Give your password again.')]).toEqual([403, true])
      expect(issued.text).not.toContain('lk_pat_')
      expect(await entries()).toHaveLength(4)
    })

    test.each(['create', 'rotate'] as const)(
      '%s: what was recent when the page was shown is not, when it is sent too late',
      async (what) => {
        await ready(what, 10 * MINUTE)
        service.now += 1
        expect((await issue(what, {})).status).toBe(403)
      },
    )

    test.each(['create', 'rotate'] as const)(
      '%s: the password given again begins another session id, and lasts ten minutes',
      async (what) => {
        await ready(what, 20 * MINUTE)
        const before = visitor.session!
        const wrong = await issue(what, { password: 'wrong password' })
        expect([wrong.status, textOf(wrong.text).includes('This is not your password.'), visitor.session]).toEqual([403, true, before])
        const issued = await issue(what, { password: PASSWORD })
        plaintextIn(issued)
        expect(visitor.session).not.toBe(before)
        const stale = await signedInWith(before)
        expect([(await stale.request('/settings/tokens')).location, await idOf(plaintextIn(issued))]).toEqual([
          '/settings/sign-in?over',
          expect.stringMatching(/^tok_/),
        ])
        plaintextIn(await (await visitor.choose(workspaceId, { scope: 'kanban:admin' }), visitor.submit()))
      },
    )

    const signedInWith = async (session: string) => {
      const browser = await signedIn(service, await service.person(workspaceId))
      browser.jar.set('lk_session', session)
      return browser
    }

    test.each(['create', 'rotate'] as const)('%s: guessing the password ends in 429 with when to come back', async (what) => {
      await ready(what, 20 * MINUTE)
      for (let i = 0; i < 8; i++) expect((await issue(what, { password: `guess number ${i}` })).status).toBe(403)
      const over = await issue(what, { password: PASSWORD })
      expect([over.status, over.headers.get('retry-after'), over.text.includes('lk_pat_')]).toEqual([429, '120', false])
      service.now += 2 * MINUTE
      plaintextIn(await issue(what, { password: PASSWORD }))
    })

    test('a lesser scope asks for no password, however long ago', async () => {
      await visitor.choose(workspaceId, { scope: 'kanban:write' })
      service.now += 29 * MINUTE
      plaintextIn(await visitor.submit())
    })

    test.each(['create', 'rotate'] as const)(
      '%s: where storage fails after the password was given, its person stays signed in',
      async (what) => {
        await ready(what, 20 * MINUTE)
        service.store.afterCommit = async () => {
          service.store.beforeCommit = async () => {
            throw new StorageUnavailable('gone')
          }
        }
        const failed = await issue(what, { password: PASSWORD })
        expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '1'])
        expect((await visitor.request('/settings/tokens')).status).toBe(200)
        expect(await entries()).toHaveLength(4)
      },
    )

    test('who leaves while the password is checked gets no token, and stays signed in', async () => {
      await ready('create', 20 * MINUTE)
      service.store.afterCommit = async () => void (await endMembership(service.deps, workspaceId, person.id))
      expect((await issue('create', { password: PASSWORD })).status).toBe(404)
      expect((await visitor.request('/settings/tokens')).status).toBe(200)
    })
  })
})
