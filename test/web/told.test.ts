import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'
import { signedIn, Visitor } from '../support/visitor.ts'

let service: Service
let owner: Person
beforeAll(async () => {
  service = await Service.start(memory)
  owner = await service.person(await service.workspace(), 'owner')
})
afterAll(() => service.stop())

/** The pages' messages about what was done, by the addresses of the pages. */
const CLAIMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/settings/account': {
    password: 'Your password is changed',
    session: 'The session has ended.',
    sessions: 'Your other sessions have ended.',
    tokens: 'All your tokens are revoked.',
    passkey: 'The passkey is added.',
    renamed: 'The passkey has its new name.',
    removed: 'The passkey is removed.',
    authenticator: 'The authenticator app is removed.',
  },
  '/settings/tokens': { revoked: 'The token is revoked.' },
  '/settings/workspace/{workspace}': { revoked: 'The token is revoked.', changed: 'The rules are changed.' },
  '/settings/sign-in': { out: 'You are signed out.', over: 'Your session has ended.', late: 'your password was changed' },
}
const cases = Object.entries(CLAIMS).flatMap(([path, claims]) => Object.entries(claims).map(([name, text]) => [path, name, text] as const))

describe('a link', () => {
  test.each(cases)('to %s?%s does not make the page say that something was done which was not', async (path, name, text) => {
    const visitor = await signedIn(service, owner)
    const address = path.replace('{workspace}', owner.workspaceId)
    for (const query of [name, `${name}=&until=9999999999999&signed=`, `${name}&until=9999999999999&signed=${'A'.repeat(43)}`]) {
      const page = await visitor.request(`${address}?${query}`)
      expect({ status: page.status, shown: page.shown }).toEqual({ status: 200, shown: expect.not.stringContaining(text) })
    }
  })

  test('of the page that did something makes the page say so, for this browser alone', async () => {
    const [one, other] = [await signedIn(service, owner), await signedIn(service, owner)]
    await one.open('/settings/account')
    const { location } = await one.post('/settings/account/sessions', { form_token: one.formToken, end: 'others' })
    expect((await one.request(location!)).shown).toContain('Your other sessions have ended.')
    const again = await signedIn(service, owner)
    expect((await again.request(location!)).shown).not.toContain('Your other sessions have ended.')
    expect((await other.request(location!)).status).toBe(303)
  })

  test('to the page of signing in says that a session is over only to a browser that had one', async () => {
    const [stranger, person] = [new Visitor(service), await signedIn(service, owner)]
    service.now += 8 * 24 * 3_600_000
    expect((await stranger.request('/settings/sign-in?over')).shown).not.toContain('Your session has ended.')
    expect((await person.open('/settings/tokens')).shown).toContain('Your session has ended.')
  })
})
