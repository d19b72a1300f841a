import { beforeEach, describe, expect, test } from 'vitest'
import { sha256Hex } from '../../src/auth/secrets.ts'
import { inviteUser } from '../../src/admin/users.ts'
import { MINUTE } from '../../src/model/time.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { drivers } from '../support/drivers.ts'
import { captureLog } from '../support/log.ts'
import { giveAuthenticator } from '../support/second-factor.ts'
import { Service, type Person } from '../support/service.ts'
import { formOf, giveAccount, PASSWORD, plaintextIn, signedIn, Visitor } from '../support/visitor.ts'

const SECRET = /^[\w-]{43}$/

describe.each(drivers)('signing in, up and out, on $name', async (driver) => {
  const captured = captureLog()
  let person: Person
  let email: string
  const service = await Service.forSuite(driver, { log: captured.log, proxies: 1 })
  const workspaceId = await service.workspace()
  const start = service.now
  beforeEach(async () => {
    service.now = start
    person = await service.person(workspaceId)
    email = await giveAccount(service, person)
  })
  const browser = () => new Visitor(service)
  const sessionOf = (visitor: Visitor) => service.write(GLOBAL, (tx) => tx.get(keys.session(sha256Hex(visitor.session ?? ''))))

  test('without a session every page redirects to the sign-in page', async () => {
    for (const path of ['/settings', '/settings/', '/settings/tokens', '/settings/tokens/new?workspace=x', '/settings/confirm/cnf_x']) {
      const visitor = browser()
      const page = await visitor.open(path)
      expect({ path, heading: /<h1>([^<]*)/.exec(page.text)?.[1], text: page.text }).toEqual({
        path,
        heading: 'Sign in',
        text: expect.not.stringContaining('class="message'),
      })
    }
  })

  test('the right password signs in, in whatever case the e-mail address is written', async () => {
    for (const address of [email, `  ${email.toUpperCase()} `]) {
      const visitor = browser()
      const page = await visitor.signIn(address)
      expect({ status: page.status, shown: page.shown, session: visitor.session }).toEqual({
        status: 200,
        shown: expect.stringContaining('API tokens'),
        session: expect.stringMatching(SECRET),
      })
    }
    expect(captured.text()).not.toContain(email)
  })

  test('an unknown e-mail address and a wrong password get the same page, except for the address itself', async () => {
    const pages = []
    const withApp = await service.person(workspaceId)
    await giveAuthenticator(service, withApp)
    for (const [address, password] of [
      [email, 'wrong'],
      [await giveAccount(service, withApp), 'wrong'],
      ['nobody@example.org', PASSWORD],
      ['not an address', 'x'],
    ] as const) {
      const visitor = browser()
      visitor.jar.set('lk_form', 'x'.repeat(43))
      const page = await visitor.signIn(address, password)
      expect(visitor.session).toBeUndefined()
      const headers = JSON.stringify([...page.headers].filter(([name]) => !['x-request-id', 'content-length'].includes(name)))
      const text = page.text.replace(`value="${address}"`, '').replaceAll(/(name="form_token" value=)"[\w-]{115}"/g, '$1')
      pages.push([page.status, headers, text].join('\n'))
    }
    expect(new Set(pages).size).toBe(1)
    expect(pages[0]).toMatch(/^401\n/)
    expect(pages[0]).not.toContain('Set-Cookie')
  })

  test('signing in replaces an existing session cookie, so that a planted one is useless', async () => {
    for (const planted of ['x'.repeat(43), (await signedIn(service, await service.person(workspaceId))).session!, '']) {
      const visitor = browser()
      visitor.jar.set('lk_session', planted)
      await visitor.signIn(email)
      expect(visitor.session).not.toBe(planted)
      expect((await sessionOf(visitor))!.user_id).toBe(person.id)
      const attacker = browser()
      attacker.jar.set('lk_session', planted)
      const page = await attacker.open('/settings/tokens')
      expect(page.text).not.toContain(person.id)
    }
  })

  test('every sign-in sets a new session cookie and form token, and earlier form tokens are refused', async () => {
    const visitor = browser()
    await visitor.open('/settings/sign-in')
    const before = formOf(visitor.page!.text).hidden['form_token']!
    await visitor.submit({ email, password: PASSWORD })
    const [first, session] = [visitor.session, (await sessionOf(visitor))!]
    await visitor.signIn(email)
    expect(visitor.session).not.toBe(first)
    expect([session.form_token, (await sessionOf(visitor))!.form_token]).not.toContain(before)
    expect((await visitor.post('/settings/sign-out', { form_token: before, where: 'here' })).status).toBe(403)
    expect((await visitor.post('/settings/sign-out', { form_token: session.form_token, where: 'here' })).status).toBe(403)
    expect(await visitor.isSignedIn()).toBe(true)
  })

  test('guessing a password is throttled with 429 and Retry-After, and the person can sign in from elsewhere', async () => {
    const attacker = browser()
    for (let i = 0; i < 8; i++) expect((await attacker.signIn(email, `guess number ${i}`)).status).toBe(401)
    for (const password of ['another guess', PASSWORD]) {
      const page = await attacker.signIn(email, password)
      expect({ status: page.status, retryAfter: page.headers.get('retry-after'), session: attacker.session }).toStrictEqual({
        status: 429,
        retryAfter: '120',
        session: undefined,
      })
      expect(page.shown).toContain('Too many attempts. Try again in 2 minutes.')
    }
    expect((await browser().signIn(email)).status).toBe(200)
    expect(captured.lines.filter(({ event }) => event === 'web.sign_in_throttled')).not.toEqual([])
    service.now += 2 * MINUTE
    expect((await attacker.signIn(email)).status).toBe(200)
  })

  test('signing out ends the session in this browser or in all', async () => {
    for (const where of ['here', 'everywhere']) {
      const [one, two] = [browser(), browser()]
      for (const visitor of [one, two]) await visitor.signIn(email)
      const [secret, form] = [one.session!, formOf((await one.open('/settings/tokens')).text, '/settings/sign-out')]
      const page = await one.post(form.action, { ...form.hidden, where })
      expect({ location: page.location, session: one.session, clearSiteData: page.headers.get('clear-site-data') }).toStrictEqual({
        location: '/settings/sign-in?out',
        session: undefined,
        clearSiteData: '"cache"',
      })
      expect((await one.open(page.location!)).shown).toContain('You are signed out.')
      one.jar.set('lk_session', secret)
      expect({ where, one: await one.isSignedIn(), two: await two.isSignedIn() }).toEqual({ where, one: false, two: where === 'here' })
    }
  })
})

describe('cookies', () => {
  const attributes = (line: string) =>
    line
      .replace(/; Max-Age=\d+/, '')
      .split('; ')
      .slice(1)
  /** Signs up, signs in, creates a token and signs out. @returns the cookies set on the way, by name, and the headers of a page */
  const collectCookies = async (url: string | undefined, at: string, base: string) => {
    const service = await Service.start(drivers[0]!, { url, proxies: 1 })
    const workspaceId = await service.workspace()
    const person = await service.person(workspaceId)
    const email = await giveAccount(service, person)
    const collected = new Map<string, string[]>()
    const visitor = new Visitor(service, { origin: at, base })
    const request = visitor.request.bind(visitor)
    visitor.request = async (...args) => {
      const page = await request(...args)
      for (const [name, line] of page.cookies) (collected.get(name) ?? collected.set(name, []).get(name)!).push(line)
      return page
    }
    const { sign_up_link } = await inviteUser(service.deps, person.id, at + base)
    await visitor.open(sign_up_link)
    await visitor.submit({ email, password: PASSWORD, again: PASSWORD })
    await visitor.signIn(email)
    plaintextIn(await (await visitor.choose(workspaceId), visitor.submit()))
    await visitor.open('/settings/tokens')
    const { headers } = visitor.page!
    await visitor.submit({ where: 'here' }, '/settings/sign-out')
    await service.stop()
    return { cookies: collected, headers }
  }

  test.each([
    ['https://kanban.example', 'https://kanban.example', '/', '__Host-', ['Secure'], 'max-age=31536000'],
    ['https://example.org/kanban', 'https://example.org', '/kanban', '__Secure-', ['Secure'], 'max-age=31536000'],
    ['http://example.org/a/b', 'http://example.org', '/a/b', '', [], null],
    [undefined, 'http://localhost', '/', '', [], null],
  ])(
    'at the public URL %s are out of reach of scripts, and over HTTPS of other hosts and plain HTTP',
    async (url, at, path, prefix, secure, hsts) => {
      const { cookies, headers } = await collectCookies(url, at, path === '/' ? '' : path)
      expect([...cookies.keys()].toSorted()).toEqual(['device', 'form', 'session', 'sign_up'].map((name) => `${prefix}lk_${name}`))
      for (const line of [...cookies.values()].flat())
        expect(attributes(line)).toEqual([`Path=${path}`, 'HttpOnly', ...secure, 'SameSite=Lax'])
      const ages = cookies.get(`${prefix}lk_session`)!.map((line) => /; Max-Age=(\d+);/.exec(line)?.[1])
      expect(new Set(ages)).toEqual(new Set([String(30 * 24 * 60 * 60), '0']))
      expect(ages.at(-1)).toBe('0')
      expect(headers.get('strict-transport-security')).toBe(hsts)
    },
  )

  test('over HTTPS a cookie without the prefix is ignored', async () => {
    const service = await Service.start(drivers[0]!, { url: 'https://kanban.example', proxies: 1 })
    const person = await service.person(await service.workspace())
    const visitor = await signedIn(service, person, { origin: 'https://kanban.example' })
    const secret = visitor.session!
    visitor.jar.clear()
    visitor.jar.set('lk_session', secret)
    expect((await visitor.request('/settings/tokens')).location).toBe('/settings/sign-in')
    visitor.jar.set('__Host-lk_session', secret)
    expect((await visitor.request('/settings/tokens')).status).toBe(200)
    await service.stop()
  })
})
