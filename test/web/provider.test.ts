import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { disableUser, inviteUser, showUser, signOutUser, unbindUser } from '../../src/admin/users.ts'
import { createApp } from '../../src/app.ts'
import { IdentityProvider } from '../../src/auth/provider/identity-provider.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import { DAY, MINUTE } from '../../src/model/time.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { entriesOf, startWithAudit } from '../support/audit-trail.ts'
import { drivers } from '../support/drivers.ts'
import { captureLog } from '../support/log.ts'
import { engine, Service, type Person, type ServiceOptions } from '../support/service.ts'
import { StubProvider, type Tampering, type TokenClaims } from '../support/stub-provider.ts'
import { formOf, giveAccount, alertsOf, PASSWORD, signedIn, textOf, Visitor } from '../support/visitor.ts'

const BEGIN = '/sign-in/oidc'

let stub: StubProvider
beforeAll(async () => void (stub = await StubProvider.start()))
afterAll(() => stub.stop())

describe.each(drivers)('signing in with an identity provider, on $name', (driver) => {
  const captured = captureLog()
  let service: Service
  let workspaceId: string
  let person: Person
  let email: string
  const start = async (options: ServiceOptions = {}) => {
    let now = () => 0
    const provider = new IdentityProvider(stub.settings, () => now())
    const started = await Service.start(driver, { log: captured.log, proxies: 1, provider, ...options })
    now = () => started.now
    return started
  }
  beforeAll(async () => {
    service = await start()
    workspaceId = await service.workspace()
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    person = await service.person(workspaceId)
    email = await giveAccount(service, person)
  })
  afterEach(() => {
    stub.trouble = 'none'
    stub.metadata = {}
    stub.userInfo = undefined
    // A failure is remembered for five seconds.
    service.now += 5000
  })
  let subjects = 0
  const claimsOf = (members: Partial<TokenClaims> = {}): TokenClaims => ({
    sub: `sub-${++subjects}`,
    email,
    email_verified: true,
    ...members,
  })
  /** Goes to the provider. @returns where the browser was sent to */
  const begin = async (visitor: Visitor, path = BEGIN): Promise<string> => (await visitor.request(path)).location!
  const answer = (visitor: Visitor, address: string, claims: TokenClaims, tampering?: Tampering) =>
    visitor.request(stub.authorize(address, claims, tampering))
  const enter = async (claims: TokenClaims, visitor = new Visitor(service), path = BEGIN) => ({
    visitor,
    page: await answer(visitor, await begin(visitor, path), claims),
  })

  test('the page of the sign-in has a link to it', async () => {
    const page = await new Visitor(service).open('/settings/sign-in')
    expect(page.text).toContain(`<a class="button primary" href="${BEGIN}">Sign in with Acme SSO</a>`)
  })

  test('a browser is sent to the provider with PKCE, a state and a nonce', async () => {
    const address = new URL(await begin(new Visitor(service)))
    const { state, nonce, code_challenge, ...others } = Object.fromEntries(address.searchParams)
    expect(address.origin + address.pathname).toBe(`${stub.issuer}/authorize`)
    expect(others).toEqual({
      client_id: 'lanekeeper',
      redirect_uri: `http://localhost${BEGIN}/callback`,
      response_type: 'code',
      scope: 'openid email',
      code_challenge_method: 'S256',
    })
    for (const secret of [state, nonce, code_challenge]) expect(secret).toMatch(/^[\w-]{43,64}$/)
  })

  test('the first time, a verified address binds its person; afterwards only the subject counts', async () => {
    const claims = claimsOf()
    const first = await enter(claims)
    expect({ location: first.page.location, isSignedIn: await first.visitor.isSignedIn() }).toEqual({
      location: '/settings/tokens',
      isSignedIn: true,
    })
    expect(await showUser(service.deps, person.id)).toMatchObject({ email, identity: { issuer: stub.issuer, subject: claims.sub } })
    // One sign-in does not end the session of another.
    for (const changed of [{ email: 'new@example.org' }, { email_verified: false }, { email: undefined as never }]) {
      const { visitor } = await enter({ ...claims, ...changed })
      expect((await visitor.open('/settings/account')).shown).toContain(`You sign in with Acme SSO, as ${email}`)
    }
    expect(await first.visitor.isSignedIn()).toBe(true)
  })

  test('a person with a password is notified of the first sign-in, and a person without one is not', async () => {
    const { visitor } = await enter(claimsOf())
    const other = new Visitor(service)
    await other.signIn(email)
    for (const browser of [visitor, other])
      expect(textOf(alertsOf(await browser.open('/settings/account'))!)).toContain('The identity provider signs you in to your account')
    const invited = await service.person(workspaceId)
    email = `${invited.id}@invited.example`
    await inviteUser(service.deps, invited.id, 'http://localhost', email)
    await enter(claimsOf())
    expect(await service.write(GLOBAL, (tx) => tx.get(keys.alerts(invited.id)))).toBeUndefined()
  })

  test.each([
    ['an owner in a workspace without boards', 'owner', false, false, true],
    ['a member, who invites nobody', 'member', false, false, false],
    ['an owner where there is a board', 'owner', false, true, false],
    ['an owner who has signed up with a password before', 'owner', true, false, false],
  ] as const)('the welcome page is what the first sign-in leads to: %s', async (_who, role, hasPassword, hasBoard, isWelcome) => {
    const empty = await service.workspace('Fresh')
    const invited = await service.person(empty, role)
    if (hasBoard) await service.send(await service.person(empty, 'owner').then(({ write }) => write), 'POST', '/boards', { name: 'Plan' })
    email = `${invited.id}@invited.example`
    if (hasPassword) await giveAccount(service, invited, email)
    else await inviteUser(service.deps, invited.id, 'http://localhost', email)
    const claims = claimsOf()
    const welcome = `/app/${empty}/welcome`
    const first = await enter(claims)
    expect(first.page.location).toBe(isWelcome ? welcome : '/settings/tokens')
    if (isWelcome) expect((await first.visitor.open(welcome)).shown).toContain('Welcome to Fresh')
    expect((await enter(claims)).page.location).toBe('/settings/tokens')
  })

  test('what the provider says of itself is read once in ten minutes', async () => {
    service.now += 11 * MINUTE
    const reads = () => stub.requests.filter((request) => request.includes('openid-configuration')).length
    const before = reads()
    for (let i = 0; i < 3; i++) await begin(new Visitor(service))
    service.now += 9 * MINUTE
    await begin(new Visitor(service))
    expect(reads() - before).toBe(1)
    service.now += MINUTE
    await begin(new Visitor(service))
    expect(reads() - before).toBe(2)
  })

  test('an address is found in whatever case the provider writes it', async () => {
    expect(await (await enter(claimsOf({ email: email.toUpperCase() }))).visitor.isSignedIn()).toBe(true)
  })

  test.each<[what: string, members: () => Partial<TokenClaims>, reason: string]>([
    ['an address that is not verified', () => ({ email_verified: false }), 'email_not_verified'],
    ['an address without a statement', () => ({ email_verified: undefined as never }), 'email_not_verified'],
    ['an address that nobody has', () => ({ email: 'nobody@example.org' }), 'nobody'],
    ['no address', () => ({ email: undefined as never }), 'no_email'],
    ['what is no address', () => ({ email: 'nobody' }), 'email_not_verified'],
    [
      'letters that only look like the address',
      () => ({ email: email.replace('k', '\u212a').replace('e', '\u0435') }),
      'email_not_verified',
    ],
  ])('nobody gets in with %s', async (_what, members, reason) => {
    const { visitor, page } = await enter(claimsOf(members()))
    expect({ status: page.status, isSignedIn: await visitor.isSignedIn() }).toEqual({ status: 403, isSignedIn: false })
    expect(page.shown).toContain('You have no account here')
    expect(captured.lines.at(-1)).toMatchObject({ event: 'web.provider_refused', reason })
    expect(captured.text()).not.toContain('example.org')
  })

  describe('UserInfo', () => {
    const askUserInfo = async (userInfo: StubProvider['userInfo'] | ((sub: string) => StubProvider['userInfo']), inToken?: unknown) => {
      service.now += 11 * MINUTE
      const claims = { ...claimsOf(), email: inToken as never, email_verified: undefined as never }
      stub.userInfo = typeof userInfo === 'function' ? userInfo(claims.sub) : userInfo
      const entered = await enter(claims)
      service.now += 11 * MINUTE
      return { ...entered, line: captured.lines.findLast(({ event }) => String(event).startsWith('web.provider_')) }
    }

    test('is asked if the ID token has no address, and binds its person by a verified one', async () => {
      const { page, visitor } = await askUserInfo((sub) => ({ sub, email, email_verified: true }))
      expect({ location: page.location, isSignedIn: await visitor.isSignedIn() }).toEqual({
        location: '/settings/tokens',
        isSignedIn: true,
      })
      expect(stub.requests).toContain('GET /userinfo')
    })

    test.each<[what: string, userInfo: (sub: string) => StubProvider['userInfo'], status: number, reason: string]>([
      ['an address that is not verified', (sub) => ({ sub, email, email_verified: false }), 403, 'email_not_verified'],
      ['an address without a statement', (sub) => ({ sub, email }), 403, 'email_not_verified'],
      ['no address', (sub) => ({ sub, email_verified: true }), 403, 'no_email'],
      ['nothing, because there is none', () => undefined, 403, 'no_email'],
      ['another subject', () => ({ sub: 'other', email, email_verified: true }), 401, 'sub'],
      ['no subject', () => ({ email, email_verified: true }), 401, 'sub'],
      ['a refusal', () => 403, 503, 'status code'],
      ['a failure', () => 500, 503, 'status code'],
      ['too much', (sub) => ({ sub, email, email_verified: true, padding: 'x'.repeat(2 ** 21) }), 503, 'too long'],
    ])('lets nobody in if it says %s', async (_what, userInfo, status, reason) => {
      const { page, visitor, line } = await askUserInfo(userInfo)
      expect({ status: page.status, isSignedIn: await visitor.isSignedIn(), reason: line!['reason'] }).toEqual({
        status,
        isSignedIn: false,
        reason: expect.stringContaining(reason),
      })
    })

    // The subject tells who they are, so a provider whose UserInfo is out of order locks nobody out.
    test.each<[what: string, userInfo: StubProvider['userInfo']]>([
      ['fails', 500],
      ['refuses', 403],
      ['is about another subject', { sub: 'other' }],
    ])('is not asked about a person who is bound: they sign in, and prove it, while it %s', async (_what, userInfo) => {
      const claims = claimsOf()
      await enter(claims)
      service.now += 11 * MINUTE
      stub.userInfo = userInfo
      const asked = () => stub.requests.filter((one) => one === 'GET /userinfo').length
      const before = asked()
      const later = { ...claims, email: undefined as never, email_verified: undefined as never }
      const { page, visitor } = await enter(later)
      expect({ location: page.location, isSignedIn: await visitor.isSignedIn() }).toEqual({
        location: '/settings/tokens',
        isSignedIn: true,
      })
      const proved = await enter({ ...later, auth_time: service.now / 1000 }, visitor, `${BEGIN}/proof`)
      expect({ location: proved.page.location, asked: asked() - before }).toEqual({ location: '/settings/account', asked: 0 })
      service.now += 11 * MINUTE
    })

    test.each<[what: string, email: unknown]>([
      ['null', null],
      ['an empty text', ''],
      ['spaces', ' '],
    ])('is also asked if the address in the ID token is %s, which is not an address', async (_what, none) => {
      const address = email
      const { visitor } = await askUserInfo((sub) => ({ sub, email: address, email_verified: true }), none)
      expect(await visitor.isSignedIn()).toBe(true)
      const { line } = await askUserInfo((sub) => ({ sub, email: none, email_verified: true }), none)
      expect(line).toMatchObject({ reason: 'no_email' })
    })

    test('is not asked if the ID token has an address', async () => {
      service.now += 11 * MINUTE
      stub.userInfo = { sub: 'other' }
      const before = stub.requests.filter((one) => one === 'GET /userinfo').length
      expect(await (await enter(claimsOf())).visitor.isSignedIn()).toBe(true)
      expect(stub.requests.filter((one) => one === 'GET /userinfo').length).toBe(before)
      service.now += 11 * MINUTE
    })
  })

  describe('a person who has signed in with the provider', () => {
    const signOut = async (visitor: Visitor) => {
      await visitor.open('/settings/account')
      return visitor.post('/settings/sign-out', { form_token: visitor.formToken, where: 'here' })
    }

    test('signs out there too', async () => {
      service.now += 11 * MINUTE
      stub.metadata = { end_session_endpoint: `${stub.issuer}/end?x=y` }
      const { visitor } = await enter(claimsOf())
      // A link of somebody else signs nobody out.
      expect((await visitor.request(`${BEGIN}/sign-out`)).location).toBe('/settings/account')
      const left = await signOut(visitor)
      expect({ location: left.location, isSignedIn: await visitor.isSignedIn() }).toEqual({
        location: `${BEGIN}/sign-out`,
        isSignedIn: false,
      })
      const page = await visitor.request(left.location!)
      const [, address] = /^0; url=(.*)$/.exec(page.headers.get('refresh')!)!
      const { origin, pathname, searchParams } = new URL(address!)
      expect({ status: page.status, address: origin + pathname, query: Object.fromEntries(searchParams) }).toEqual({
        status: 200,
        address: `${stub.issuer}/end`,
        query: { x: 'y', client_id: 'lanekeeper', post_logout_redirect_uri: `http://localhost${BEGIN}/signed-out` },
      })
      expect((await visitor.open(`${BEGIN}/signed-out`)).shown).toContain('You are signed out.')
      service.now += 11 * MINUTE
    })

    test.each<[what: string, metadata: StubProvider['metadata']]>([
      ['offers it nowhere', {}],
      ['offers it at a script', { end_session_endpoint: 'javascript:alert(1)' }],
      ['makes no sense', { issuer: 'https://other.example' }],
    ])('signs out here if the provider %s', async (_what, metadata) => {
      const { visitor } = await enter(claimsOf())
      const left = await signOut(visitor)
      service.now += 11 * MINUTE
      stub.metadata = metadata
      expect((await visitor.open(left.location!)).shown).toContain('You are signed out.')
      service.now += 11 * MINUTE
    })

    test('signs out here alone if they have a password', async () => {
      expect((await signOut(await signedIn(service, person))).location).toBe('/settings/sign-in?out')
    })
  })

  test('another subject does not get a bound account, not with the same address, and not from another issuer', async () => {
    const claims = claimsOf()
    await enter(claims)
    const other = await enter(claimsOf())
    expect({ status: other.page.status, isSignedIn: await other.visitor.isSignedIn() }).toEqual({ status: 403, isSignedIn: false })
    expect(captured.lines.findLast(({ event }) => event === 'web.provider_refused')).toMatchObject({ reason: 'bound_to_another' })
    const foreign = await StubProvider.start()
    const elsewhere = await start({ provider: new IdentityProvider(foreign.settings, () => service.now) })
    const visitor = new Visitor(elsewhere)
    const page = await visitor.request(foreign.authorize(await begin(visitor), { ...claims, email: 'nobody@example.org' }))
    expect(page.status).toBe(403)
    await elsewhere.stop()
    await foreign.stop()
  })

  test('an unbound person is bound anew, and their sessions have ended', async () => {
    const { visitor } = await enter(claimsOf())
    expect(await unbindUser(service.deps, person.id)).toEqual({ user_id: person.id, unbound: true })
    expect(await visitor.isSignedIn()).toBe(false)
    expect(await (await enter(claimsOf())).visitor.isSignedIn()).toBe(true)
    expect(await unbindUser(service.deps, person.id)).toMatchObject({ unbound: true })
    expect(await unbindUser(service.deps, person.id)).toMatchObject({ unbound: false })
  })

  test('a disabled person does not get in, also when they are invited again by a link for another address', async () => {
    const claims = claimsOf()
    const { visitor } = await enter(claims)
    await disableUser(service.deps, person.id)
    expect(await visitor.isSignedIn()).toBe(false)
    expect((await enter(claims)).page.status).toBe(403)
    await inviteUser(service.deps, person.id, 'http://localhost', 'other@example.org')
    expect((await enter(claims)).page.status).toBe(403)
  })

  test('a person whose account is damaged does not get in', async () => {
    const claims = claimsOf()
    await enter(claims)
    await service.write(GLOBAL, async (tx) => {
      await tx.get(keys.account(person.id))
      tx.remove(keys.account(person.id))
    })
    expect((await enter(claims)).page.status).toBe(403)
    expect(captured.lines.at(-1)).toMatchObject({ reason: 'nobody', user_ids: [person.id] })
  })

  test('a link for somebody with an account is not the way to another address', async () => {
    const visitor = new Visitor(service)
    await visitor.open((await inviteUser(service.deps, person.id, 'http://localhost')).sign_up_link)
    expect((await enter(claimsOf({ email: 'another@example.org' }), visitor, `${BEGIN}?link`)).page.status).toBe(403)
  })

  describe('an invited person', () => {
    let invited: Person
    beforeEach(async () => {
      invited = await service.person(workspaceId)
      email = `${invited.id}@invited.example`
    })
    const invite = (address?: string) => inviteUser(service.deps, invited.id, 'http://localhost', address)

    test('is found by the address of the invitation, once', async () => {
      await invite(email)
      const claims = claimsOf()
      expect(await (await enter(claims)).visitor.isSignedIn()).toBe(true)
      expect(await showUser(service.deps, invited.id)).toMatchObject({ email, password: false, invited_until: null })
      const { visitor } = await enter(claims)
      const account = await visitor.open('/settings/account')
      expect({ status: account.status, shown: account.shown }).toEqual({
        status: 200,
        shown: expect.not.stringMatching(/Change password|authenticator/),
      })
      expect((await visitor.request('/settings/account/password')).status).toBe(404)
      // Their account is found by its address.
      await unbindUser(service.deps, invited.id)
      expect(await (await enter(claimsOf())).visitor.isSignedIn()).toBe(true)
    })

    test('is found by the link that the browser has', async () => {
      const visitor = new Visitor(service)
      const page = await visitor.open((await invite()).sign_up_link)
      expect(page.text).toContain(`href="${BEGIN}?link"`)
      // By the sign-in page, nobody was told whose link it is.
      expect((await enter(claimsOf(), visitor)).page.status).toBe(403)
      await enter(claimsOf(), visitor, `${BEGIN}?link`)
      expect(await visitor.isSignedIn()).toBe(true)
      expect(await showUser(service.deps, invited.id)).toMatchObject({ email })
    })

    test('is not found by a link for another address, nor after the invitation', async () => {
      const visitor = new Visitor(service)
      await visitor.open((await invite('somebody@example.org')).sign_up_link)
      expect((await enter(claimsOf(), visitor, `${BEGIN}?link`)).page.status).toBe(403)
      await invite(email)
      service.now += 8 * DAY
      expect((await enter(claimsOf())).page.status).toBe(403)
    })

    test.each<[what: string, other: (id: string) => Promise<unknown>]>([
      ['two are invited with the address', (id) => inviteUser(service.deps, id, 'http://localhost', email)],
      ['somebody else has chosen the address', (id) => giveAccount(service, { id }, email)],
    ])('is not found if %s', async (_what, other) => {
      await invite(email)
      const { id } = await service.person(workspaceId)
      await other(id)
      expect((await enter(claimsOf())).page.status).toBe(403)
      const { reason, user_ids } = captured.lines.at(-1) as unknown as { reason: string; user_ids: string[] }
      expect({ reason, user_ids: user_ids.toSorted() }).toEqual({ reason: 'ambiguous', user_ids: [id, invited.id].toSorted() })
    })

    test('whose invitation names the address goes before the person of a link', async () => {
      await invite(email)
      const visitor = new Visitor(service)
      const other = await service.person(workspaceId)
      await visitor.open((await inviteUser(service.deps, other.id, 'http://localhost')).sign_up_link)
      await enter(claimsOf(), visitor, `${BEGIN}?link`)
      expect(await showUser(service.deps, invited.id)).toMatchObject({ identity: { issuer: stub.issuer } })
    })
  })

  test.each<[what: string, tampering: Tampering]>([
    ['without a signature (alg: none)', { header: { alg: 'none' }, signature: 'none' }],
    ['with an empty signature', { signature: 'none' }],
    ['signed with the client secret (HS256)', { header: { alg: 'HS256' }, signature: 'secret' }],
    ['signed by an unknown key', { signature: 'other' }],
    ['with another nonce', { claims: { nonce: 'x'.repeat(64) } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['for another client', { claims: { aud: 'other' } }],
    ['of another issuer', { claims: { iss: 'https://other.example' } }],
    ['that has expired', { claims: { exp: Math.floor(Date.now() / 1000) - 120 } }],
    ['that is missing', { isWithout: true }],
    ['without a subject', { claims: { sub: undefined } }],
    ['with an empty subject', { claims: { sub: '' } }],
    ['with a subject that is no Unicode', { claims: { sub: '\ud800' } }],
    ['with a subject of 256 characters', { claims: { sub: 'x'.repeat(256) } }],
  ])('an ID token is refused %s', async (_what, tampering) => {
    const visitor = new Visitor(service)
    const page = await answer(visitor, await begin(visitor), claimsOf(), tampering)
    expect({ status: page.status, isSignedIn: await visitor.isSignedIn() }).toEqual({ status: 401, isSignedIn: false })
    expect(page.shown).toContain('The answer of the identity provider was not accepted.')
  })

  test('clocks may differ by 30 seconds', async () => {
    service.now += 11 * MINUTE
    const visitor = new Visitor(service)
    const now = Math.floor(Date.now() / 1000)
    await answer(visitor, await begin(visitor), claimsOf(), { claims: { exp: now - 20 } })
    expect(await visitor.isSignedIn()).toBe(true)
  })

  test('a provider that takes the secret in the body gets it there', async () => {
    service.now += 11 * MINUTE
    stub.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] }
    stub.takesSecretIn = 'body'
    expect(await (await enter(claimsOf())).visitor.isSignedIn()).toBe(true)
    stub.takesSecretIn = 'header'
    service.now += 11 * MINUTE
    stub.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'] }
    expect(
      await (await enter(claimsOf({ email: await giveAccount(service, await service.person(workspaceId)) }))).visitor.isSignedIn(),
    ).toBe(true)
    service.now += 11 * MINUTE
  })

  test('the operator chooses how the secret is sent, and the log says if a provider takes no secret', async () => {
    stub.takesSecretIn = 'body'
    const provider = new IdentityProvider({ ...stub.settings, authMethod: 'client_secret_post' }, () => service.now)
    const chosen = await start({ provider })
    const visitor = new Visitor(chosen)
    // Nobody is invited there: the code was taken.
    expect((await answer(visitor, await begin(visitor), claimsOf())).status).toBe(403)
    await chosen.stop()
    stub.takesSecretIn = 'header'
    service.now += 11 * MINUTE
    stub.metadata = { token_endpoint_auth_methods_supported: ['private_key_jwt'] }
    expect((await new Visitor(service).request(BEGIN)).status).toBe(503)
    expect(captured.lines.at(-1)).toMatchObject({ reason: expect.stringContaining('neither client_secret_basic nor client_secret_post') })
    stub.metadata = {}
    service.now += 11 * MINUTE
  })

  test.each<[what: string, answer: Record<string, string>, status: number, shown: string]>([
    ['an error of the provider', { error: 'access_denied', code: '' }, 401, 'cancelled or refused'],
    ['an error that is no code', { error: 'x <b>', code: '' }, 401, 'not accepted'],
    ['another issuer (mix-up)', { iss: 'https://other.example' }, 401, 'not accepted'],
    ['another code', { code: 'x' }, 401, 'not accepted'],
    ['another state', { state: 'x'.repeat(43) }, 400, 'This sign-in has ended'],
    ['no state', { state: '' }, 400, 'This sign-in has ended'],
  ])('a return with %s is refused', async (_what, changed, status, shown) => {
    const visitor = new Visitor(service)
    const page = await answer(visitor, await begin(visitor), claimsOf(), { answer: changed })
    expect({ status: page.status, isSignedIn: await visitor.isSignedIn() }).toEqual({ status, isSignedIn: false })
    expect(page.shown).toContain(shown)
    expect(captured.text()).not.toContain('<b>')
  })

  test('a state works once, in the browser that it was given to, for five minutes', async () => {
    const visitor = new Visitor(service)
    const address = await begin(visitor)
    const stranger = new Visitor(service)
    await begin(stranger)
    for (const other of [stranger, new Visitor(service)]) expect((await answer(other, address, claimsOf())).status).toBe(400)
    expect((await answer(visitor, address, claimsOf())).location).toBe('/settings/tokens')
    const replayed = stub.authorize(address, claimsOf())
    expect((await visitor.request(replayed)).status).toBe(400)
    const late = await begin(visitor)
    service.now += 5 * MINUTE
    expect((await answer(visitor, late, claimsOf())).status).toBe(400)
  })

  test('several tabs can be under way at the same time', async () => {
    const visitor = new Visitor(service)
    const claims = claimsOf()
    const [one, two] = [await begin(visitor), await begin(visitor)]
    expect((await answer(visitor, two, claims)).location).toBe('/settings/tokens')
    expect((await answer(visitor, one, claims)).location).toBe('/settings/tokens')
  })

  test('a person returns to the page that they asked for', async () => {
    const visitor = new Visitor(service)
    await visitor.open('/app')
    expect((await enter(claimsOf(), visitor)).page.location).toBe('/app')
  })

  test('a person who is bound loses the sessions that began with a password', async () => {
    const before = await signedIn(service, person)
    await enter(claimsOf({ email: `${person.id}@example.org` }))
    expect(await before.isSignedIn()).toBe(false)
  })

  test('HEAD changes nothing', async () => {
    for (const path of [BEGIN, `${BEGIN}/callback?state=x`]) {
      const { status, headers } = await new Visitor(service).request(path, { method: 'HEAD' })
      expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'GET' })
    }
  })

  test('another site cannot begin a sign-in', async () => {
    const page = await new Visitor(service).request(BEGIN, { headers: { 'sec-fetch-site': 'cross-site' } })
    expect({ status: page.status, location: page.location }).toEqual({ status: 303, location: '/settings/sign-in' })
  })

  test('a key that the provider has replaced is read again', async () => {
    const claims = claimsOf()
    await enter(claims)
    stub.rotateKey()
    service.now += 11 * MINUTE
    expect(await (await enter(claims)).visitor.isSignedIn()).toBe(true)
  })

  test.each(['errors', 'no_json'] as const)('the page says that the provider is down (%s), and sessions go on', async (trouble) => {
    const { visitor } = await enter(claimsOf())
    service.now += 11 * MINUTE
    stub.trouble = trouble
    const page = await new Visitor(service).request(BEGIN)
    expect({ status: page.status, shown: page.shown, text: page.text }).toEqual({
      status: 503,
      shown: expect.stringContaining('The identity provider cannot be reached'),
      text: expect.not.stringContaining('    at '),
    })
    expect(captured.lines.at(-1)).toMatchObject({ event: 'web.provider_unreachable' })
    expect(await visitor.isSignedIn()).toBe(true)
    stub.trouble = 'none'
    expect((await new Visitor(service).request(BEGIN)).status).toBe(503)
    service.now += 5000
    expect(
      await (await enter(claimsOf({ email: await giveAccount(service, await service.person(workspaceId)) }))).visitor.isSignedIn(),
    ).toBe(true)
  })

  test.each<[what: string, metadata: StubProvider['metadata']]>([
    ['names another issuer', { issuer: 'https://other.example' }],
    ['names no issuer', { issuer: null }],
    ['says a list', []],
    ['says nothing', null],
    ['says a text', 'x'],
    ['has no page to sign in', { authorization_endpoint: undefined }],
    ['has a script as its page', { authorization_endpoint: 'javascript:alert(1)' }],
    ['has no place for codes', { token_endpoint: undefined }],
    ['has no keys', { jwks_uri: 5 }],
    ['says too much', { padding: 'x'.repeat(2 ** 21) }],
  ])('a provider that %s is not trusted', async (_what, metadata) => {
    service.now += 11 * MINUTE
    stub.metadata = metadata
    expect((await new Visitor(service).request(BEGIN)).status).toBe(503)
    expect(captured.lines.at(-1)).toMatchObject({ event: 'web.provider_unreachable', reason: expect.stringMatching(/^.+$/) })
    stub.metadata = {}
    service.now += 5000
    expect((await new Visitor(service).request(BEGIN)).location).toContain(stub.issuer)
  })

  test('the page says that the provider takes no codes now, and the log says why an answer was refused', async () => {
    const visitor = new Visitor(service)
    const address = await begin(visitor)
    stub.trouble = 'busy'
    expect((await answer(visitor, address, claimsOf())).status).toBe(503)
    for (const trouble of ['errors', 'no_json', 'drops'] as const) {
      stub.trouble = 'none'
      const another = await begin(visitor)
      stub.trouble = trouble
      expect([trouble, (await answer(visitor, another, claimsOf())).status]).toEqual([trouble, 503])
    }
    stub.trouble = 'none'
    await answer(visitor, await begin(visitor), claimsOf(), { claims: { iss: 'https://other.example' } })
    expect(captured.lines.at(-1)).toMatchObject({ event: 'web.provider_refused', reason: expect.stringContaining('"iss"') })
  })

  test('a provider that hangs is not waited for, neither at the beginning nor with its answer', async () => {
    const impatient = await start({ provider: new IdentityProvider(stub.settings, () => service.now, 0.2) })
    stub.trouble = 'hangs'
    expect((await new Visitor(impatient).request(BEGIN)).status).toBe(503)
    expect(captured.lines.at(-1)).toMatchObject({ event: 'web.provider_unreachable' })
    stub.trouble = 'none'
    service.now += 5000
    const visitor = new Visitor(impatient)
    const address = await begin(visitor)
    stub.trouble = 'hangs'
    expect((await answer(visitor, address, claimsOf())).status).toBe(503)
    expect(captured.lines.at(-1)).toMatchObject({ event: 'web.provider_unreachable' })
    await impatient.stop()
  })

  test('a network begins 200 sign-ins at once, and five in each second', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.77' }
    const starts = async (count: number) => {
      const statuses = new Set<number>()
      for (let i = 0; i < count; i++) statuses.add((await new Visitor(service).request(BEGIN, { headers })).status)
      return [...statuses]
    }
    expect([await starts(200), await starts(1)]).toEqual([[303], [429]])
    service.now += 1000
    expect([await starts(5), await starts(1)]).toEqual([[303], [429]])
  })

  describe('a proof for kanban:admin', () => {
    const authTime = () => Math.floor(service.now / 1000)
    const choose = async (visitor: Visitor) => visitor.choose(workspaceId, { scope: 'kanban:admin' })
    const later = async (claims: TokenClaims) => {
      const { visitor } = await enter(claims)
      service.now += 11 * MINUTE
      return visitor
    }

    test('is asked of the provider, with max_age=0, and the form is as it was', async () => {
      const claims = claimsOf()
      const visitor = await later(claims)
      const page = await choose(visitor)
      const confirm = await visitor.submit({})
      const asked = confirm.text.includes('Continue with Acme SSO') ? confirm : page
      const [, link] = /href="(\/sign-in\/oidc\/proof\?[^"]*)"/.exec(asked.text)!
      expect(asked.text).not.toContain('type="password"')
      const address = await begin(visitor, link!.replaceAll('&amp;', '&'))
      expect(new URL(address).searchParams.get('max_age')).toBe('0')
      const proved = await answer(visitor, address, { ...claims, auth_time: authTime() })
      expect(proved.location).toMatch(/^\/settings\//)
      expect((await visitor.open(proved.location!)).text).not.toContain('Continue with Acme SSO')
    })

    test('in each of two tabs returns to the page of its own', async () => {
      const claims = claimsOf()
      const visitor = await later(claims)
      const pages = ['/settings/account/password', '/settings/tokens/new?name=CI&workspace=' + workspaceId]
      const addresses: string[] = []
      for (const page of pages) addresses.push(await begin(visitor, `${BEGIN}/proof?${new URLSearchParams({ back: page })}`))
      for (const [i, page] of pages.entries())
        expect((await answer(visitor, addresses[i]!, { ...claims, auth_time: authTime() })).location).toBe(page)
    })

    test('for a rotation keeps the days that were chosen', async () => {
      const visitor = await later(claimsOf())
      const { id } = (await service.write(workspaceId, (tx) => tx.get(keys.token(sha256Hex(person.admin)))))!
      await visitor.open(`/settings/tokens/${workspaceId}/${id}/rotate`)
      const refused = await visitor.submit({ days: 'custom', custom_days: '11' })
      const [, link] = /href="(\/sign-in\/oidc\/proof\?[^"]*)"/.exec(refused.text)!
      const back = new URL(link!.replaceAll('&amp;', '&'), 'http://localhost').searchParams.get('back')!
      expect((await visitor.open(back)).text).toMatch(/name="custom_days"[^>]* value="11"/)
    })

    test.each<[what: string, members: () => Partial<TokenClaims>, status: number]>([
      ['that does not say when', () => ({}), 401],
      ['that says it as text', () => ({ auth_time: String(authTime()) as never }), 401],
      ['of five minutes ago', () => ({ auth_time: authTime() - 300 }), 401],
      ['of the future', () => ({ auth_time: authTime() + 31 }), 401],
      ['of another person', () => ({ sub: 'somebody-else', email: 'nobody@example.org', auth_time: authTime() }), 403],
    ])('does not exist %s', async (_what, members, status) => {
      const claims = claimsOf()
      const visitor = await later(claims)
      const address = await begin(visitor, `${BEGIN}/proof?back=/settings/account`)
      expect((await answer(visitor, address, { ...claims, ...members() })).status).toBe(status)
      await choose(visitor)
      expect((await visitor.open('/settings/account/passkeys/new')).text).toContain('Continue with Acme SSO')
    })

    test.each([-299, 30])('may be %i seconds old, and lasts from then on', async (seconds) => {
      const claims = claimsOf()
      const visitor = await later(claims)
      const other = (await enter(claims)).visitor
      const address = await begin(visitor, `${BEGIN}/proof?back=/app`)
      expect((await answer(visitor, address, { ...claims, auth_time: authTime() + seconds })).location).toBe('/app')
      expect(await other.isSignedIn()).toBe(true)
      const asks = async () => (await visitor.open('/settings/account/passkeys/new')).text.includes('Continue with Acme SSO')
      service.now += (600 + Math.min(seconds, 0) - 2) * 1000
      expect(await asks()).toBe(false)
      service.now += 3000
      expect(await asks()).toBe(true)
    })

    test('does not exist for somebody who is bound to another person, or has another address', async () => {
      const claims = claimsOf()
      const visitor = await later(claims)
      const another = await service.person(workspaceId)
      const others = claimsOf({ email: await giveAccount(service, another) })
      await enter(others)
      const unbound = await signedIn(service, await service.person(workspaceId))
      for (const [who, sent] of [
        [visitor, others],
        [unbound, claimsOf({ email: 'nobody@example.org' })],
        [unbound, claimsOf({ email: undefined as never })],
      ] as const) {
        const address = await begin(who, `${BEGIN}/proof?back=/app`)
        expect((await answer(who, address, { ...sent, auth_time: authTime() })).status).toBe(403)
      }
    })

    test('is no sign-in at a provider that has not asked for the password again', async () => {
      for (const [auth_time, isProved] of [
        [undefined, false],
        [authTime() - 8 * 3600, false],
        [authTime() - 60, true],
      ] as const) {
        const { visitor } = await enter(
          claimsOf({ email: await giveAccount(service, await service.person(workspaceId)), auth_time: auth_time as never }),
        )
        expect([auth_time, (await visitor.open('/settings/account/passkeys/new')).text.includes('Continue with Acme SSO')]).toEqual([
          auth_time,
          !isProved,
        ])
      }
    })

    test('that binds a person ends their other sessions, unless somebody else is invited with the address', async () => {
      const alone = await service.person(workspaceId)
      const browser = await signedIn(service, alone)
      const own = claimsOf({ email: `${alone.id}@example.org`, auth_time: authTime() })
      expect((await answer(browser, await begin(browser, `${BEGIN}/proof?back=/app`), own)).location).toBe('/app')
      const [first, second] = [await signedIn(service, person), await signedIn(service, person)]
      const claims = () => claimsOf({ auth_time: authTime() })
      await inviteUser(service.deps, (await service.person(workspaceId)).id, 'http://localhost', email)
      const refused = await answer(first, await begin(first, `${BEGIN}/proof?back=/app`), claims())
      expect({ status: refused.status, isSignedIn: await second.isSignedIn() }).toEqual({ status: 403, isSignedIn: true })
      service.now += 8 * DAY
      // Their own invitation is not somebody else's.
      await inviteUser(service.deps, person.id, 'http://localhost', email)
      const [third, fourth] = [await signedIn(service, person), await signedIn(service, person)]
      expect((await answer(third, await begin(third, `${BEGIN}/proof?back=/app`), claims())).location).toBe('/app')
      expect({ third: await third.isSignedIn(), fourth: await fourth.isSignedIn() }).toEqual({ third: true, fourth: false })
    })

    test('of a person whose session has ended meanwhile leads to the sign-in', async () => {
      const claims = claimsOf()
      const visitor = await later(claims)
      const address = await begin(visitor, `${BEGIN}/proof?back=/app`)
      await signOutUser(service.deps, person.id)
      expect((await answer(visitor, address, { ...claims, auth_time: authTime() })).location).toBe('/settings/sign-in?over')
    })

    test('of another person binds nobody', async () => {
      const visitor = await later(claimsOf())
      const other = await service.person(workspaceId)
      await inviteUser(service.deps, other.id, 'http://localhost', 'other@invited.example')
      const address = await begin(visitor, `${BEGIN}/proof?back=/settings/account`)
      const claims = claimsOf({ email: 'other@invited.example', auth_time: authTime() })
      expect((await answer(visitor, address, claims)).status).toBe(403)
      expect(await showUser(service.deps, other.id)).toMatchObject({ identity: null, email: null })
    })

    test('chooses no page to return to for another site', async () => {
      const visitor = await later(claimsOf())
      const page = await visitor.request(`${BEGIN}/proof?back=/settings/tokens/new`, { headers: { 'sec-fetch-site': 'cross-site' } })
      expect({ location: page.location, cookies: page.cookies.size }).toEqual({ location: '/settings/sign-in', cookies: 0 })
    })

    test('returns to no other site', async () => {
      const claims = claimsOf()
      const visitor = await later(claims)
      const address = await begin(visitor, `${BEGIN}/proof?back=${encodeURIComponent('//evil.example/x')}`)
      expect((await answer(visitor, address, { ...claims, auth_time: authTime() })).location).toBe('/settings/account')
    })
  })

  describe('without passwords', () => {
    let closed: Service
    beforeAll(async () => void (closed = await start({ hasPasswords: false })))
    afterAll(() => closed.stop())

    test('the provider is the only way in, and nothing suggests a password', async () => {
      const [member] = [await closed.person(await closed.workspace())]
      const address = await giveAccount(closed, member)
      const visitor = new Visitor(closed)
      const page = await visitor.open('/settings/sign-in')
      expect(page.text).toContain('Sign in with Acme SSO')
      expect(page.text).not.toMatch(/<input[^>]*type="password"|passkey/i)
      expect((await visitor.post('/settings/sign-in', { email: address, password: 'x' })).status).not.toBe(200)
      await answer(visitor, await begin(visitor), { sub: 'closed', email: address, email_verified: true })
      const account = await visitor.open('/settings/account')
      expect({ status: account.status, shown: account.shown }).toEqual({
        status: 200,
        shown: expect.not.stringMatching(/password|passkey|authenticator/i),
      })
      for (const path of ['password', 'authenticator', 'passkeys/new', 'recovery-codes'])
        expect([path, (await visitor.request(`/settings/account/${path}`)).status]).toEqual([path, 404])
    })

    test('sessions and proofs that a password began end at their next use, and for good', async () => {
      const open = await start()
      const member = await open.person(await open.workspace())
      const address = await giveAccount(open, member)
      const claims = { sub: 'kept', email: address, email_verified: true }
      const byProvider = new Visitor(open)
      await answer(byProvider, await begin(byProvider), claims)
      const byPassword = new Visitor(open)
      await byPassword.signIn(address)
      await byPassword.choose(member.workspaceId, { scope: 'kanban:admin' })
      const { action, hidden } = formOf(byPassword.page!.text, '/settings/confirm')
      // A password that was changed in the session of the provider is no proof of the provider.
      open.now += 11 * MINUTE
      await byProvider.open('/settings/account/password')
      const changed = { present: PASSWORD, password: 'another passphrase', again: 'another passphrase' }
      expect((await byProvider.submit(changed, '/settings/account/password')).shown).toContain('Your password is changed')
      await byPassword.signIn(address, 'another passphrase')
      // The same storage, in a process with LANEKEEPER_PASSWORDS=off.
      const openApp = open.app
      const { store, clock, random } = open.deps
      const provider = new IdentityProvider(stub.settings, clock)
      const closedApp = createApp({
        store,
        clock,
        random,
        blobs: open.place.blobs,
        log: captured.log,
        engine,
        proxies: 1,
        provider,
        hasPasswords: false,
      })
      Object.assign(open, { app: closedApp })
      expect((await byPassword.request('/settings/account')).location).toBe('/settings/sign-in?over')
      const confirmed = await byPassword.post(action, hidden)
      expect({ status: confirmed.status, location: confirmed.location, text: confirmed.text }).toEqual({
        status: 303,
        location: '/settings/sign-in?over',
        text: expect.not.stringMatching(/lk_pat_/),
      })
      const account = await byProvider.open('/settings/account')
      expect({ status: account.status, sessions: account.text.match(/class="state active">this session/g)?.length }).toEqual({
        status: 200,
        sessions: 1,
      })
      await byProvider.choose(member.workspaceId, { scope: 'kanban:admin' })
      expect((await byProvider.submit({}, '/settings/confirm')).status).toBe(403)
      Object.assign(open, { app: openApp })
      expect(await byPassword.isSignedIn()).toBe(false)
      await open.stop()
    })

    test('a link of an invitation ends at the button of the provider', async () => {
      const member = await closed.person(await closed.workspace())
      const visitor = new Visitor(closed)
      const page = await visitor.open((await inviteUser(closed.deps, member.id, 'http://localhost')).sign_up_link)
      expect({ shown: page.shown, text: page.text }).toEqual({
        shown: expect.stringContaining('Sign in with Acme SSO'),
        text: expect.not.stringMatching(/password/i),
      })
      await answer(visitor, await begin(visitor, `${BEGIN}?link`), { sub: 'invited', email: 'invited@example.org', email_verified: true })
      expect(await visitor.isSignedIn()).toBe(true)
    })
  })

  test('the audit trail has sign-ins, bindings, and refusals of those who are known', async () => {
    let now = () => 0
    const { service: audited, recorder } = await startWithAudit(driver, { provider: new IdentityProvider(stub.settings, () => now()) })
    now = () => audited.now
    const member = await audited.person(await audited.workspace())
    const claims = { sub: 'audited', email: await giveAccount(audited, member), email_verified: true }
    const visitor = new Visitor(audited)
    const other = new Visitor(audited)
    const enter = async (one: Visitor, path: string, sent: TokenClaims) => answer(one, await begin(one, path), sent)
    const entries = await entriesOf(audited, recorder, GLOBAL, async () => {
      await enter(visitor, BEGIN, claims)
      await enter(other, BEGIN, { ...claims, sub: 'another' })
      await enter(other, BEGIN, { ...claims, sub: 'stranger', email: 'stranger@example.org' })
      await enter(visitor, `${BEGIN}/proof?back=/app`, claims)
      await enter(visitor, `${BEGIN}/proof?back=/app`, { ...claims, sub: 'another', auth_time: Math.floor(audited.now / 1000) })
    })
    expect(entries.map(({ user_id, operation, outcome, status }) => [user_id, operation, outcome, status])).toEqual([
      [member.id, 'web.account.bind_identity', 'done', 303],
      [member.id, 'web.sign_in.provider', 'done', 303],
      [member.id, 'web.sign_in.provider', 'denied', 403],
      [member.id, 'web.account.prove', 'denied', 401],
      [member.id, 'web.account.prove', 'denied', 403],
    ])
    await audited.stop()
  })

  test('without a provider there are no such pages', async () => {
    const plain = await Service.start(driver)
    for (const path of [BEGIN, `${BEGIN}/callback?state=x&code=y`]) expect((await new Visitor(plain).request(path)).status).toBe(404)
    const visitor = await signedIn(plain, await plain.person(await plain.workspace()))
    expect((await visitor.request(`${BEGIN}/proof`)).status).toBe(404)
    await plain.stop()
  })
})
