import { rm } from 'node:fs/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectAccessible, expectFits, fillIn, openBrowser, openWindow, press, screenshot } from '../../support/chromium.ts'
import { freePort } from '../../support/ports.ts'
import { CommandHost, startService, type StartedService } from '../../support/process.ts'
import { RealProvider } from '../../support/real-provider.ts'
import { newFolder } from '../../support/run.ts'
import { formOf, visitorOf } from '../../support/visitor.ts'

// People sign in to the built service by the pages of a real provider. The two are different sites for the browser.
const BEGIN = '/sign-in/oidc'
const [WIDE, PHONE] = [
  { width: 1100, height: 800 },
  { width: 360, height: 740 },
]
/** Sets the clock of a process back by eleven minutes: what it proves is too old for one with the right time. */
const EARLIER = `--import=data:text/javascript,${encodeURIComponent('const now = Date.now; Date.now = () => now() - 660_000')}`

const emailOf = (name: string) => `${name}@acme.example`

/** A service with its provider, and their operator. */
class Installation {
  readonly url: string
  readonly workspaceId: string
  readonly provider: RealProvider
  readonly #host: CommandHost
  readonly #env: Record<string, string>
  readonly #folder: string
  #service: StartedService | undefined

  private constructor(
    url: string,
    workspaceId: string,
    provider: RealProvider,
    host: CommandHost,
    env: Record<string, string>,
    folder: string,
  ) {
    this.url = url
    this.workspaceId = workspaceId
    this.provider = provider
    this.#host = host
    this.#env = env
    this.#folder = folder
  }

  static async start(more: Record<string, string> = {}): Promise<Installation> {
    const [folder, port] = [newFolder(), String(await freePort())]
    const url = `http://localhost:${port}`
    // Of `unverified-ann` the address is not verified.
    const accountOf = (name: string) => ({ email: emailOf(name), email_verified: !name.startsWith('unverified-') })
    const provider = await RealProvider.start(`${url}${BEGIN}/callback`, accountOf)
    const env = {
      PORT: port,
      LANEKEEPER_STORAGE: `fs:${folder}/data`,
      LANEKEEPER_URL: url,
      LANEKEEPER_OIDC_ISSUER: provider.issuer,
      LANEKEEPER_OIDC_CLIENT_ID: provider.client.id,
      LANEKEEPER_OIDC_CLIENT_SECRET: provider.client.secret,
      LANEKEEPER_OIDC_NAME: 'Acme SSO',
    }
    const host = new CommandHost({ LANEKEEPER_STORAGE: env.LANEKEEPER_STORAGE })
    const workspace = await run(host, 'workspace', 'create', 'Acme')
    const started = new Installation(url, workspace.id, provider, host, env, folder)
    await started.#begin(more)
    return started
  }

  async #begin(more: Record<string, string>): Promise<void> {
    this.#service = await startService([], { ...this.#env, ...more })
  }

  async restart(more: Record<string, string> = {}): Promise<void> {
    expect(await this.#service!.stop()).toBe(0)
    await this.#begin(more)
  }

  operator(...args: string[]): Promise<any> {
    return run(this.#host, ...args)
  }

  /** Invites a person, who becomes a member. @returns their id, and a link */
  async invite(name: string, email?: string): Promise<{ readonly id: string; readonly link: string }> {
    const user = await this.operator('user', 'add', name, ...(email === undefined ? [] : ['--email', email]), '--url', this.url)
    await this.operator('member', 'add', this.workspaceId, user.id)
    return { id: user.id, link: user.sign_up_link }
  }

  /** what the service has written since it was started */
  get output(): string {
    return this.#service!.stdout() + this.#service!.stderr()
  }

  async stop(): Promise<void> {
    await this.#service?.stop()
    await this.provider.stop()
    await rm(this.#folder, { recursive: true })
  }
}

async function run(host: CommandHost, ...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await host.run([...args, '--json'])
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  return JSON.parse(stdout)
}

let browser: Browser
beforeAll(async () => void (browser = await openBrowser()))
afterAll(() => browser.close())

const open = ({ url, provider }: Installation, options: BrowserContextOptions = {}) =>
  openWindow(browser, url, { viewport: WIDE, ...options }, [provider.issuer])
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor()
const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click()

/** Fills in the pages of the provider: the name with any password, and whether what the service asks for may be told. */
async function signInAtProvider(page: Page, name: string, asksForConsent = true): Promise<void> {
  await page.getByPlaceholder('Enter any login').fill(name)
  await page.getByPlaceholder('and password').fill('any password')
  await press(page, 'Sign-in')
  if (asksForConsent) await press(page, 'Continue')
}

/** Expects a heading, and that the page is accessible and fits its window, wide and on a phone. The phone has the dark look. */
async function expectPage(page: Page, title: string, name: string): Promise<void> {
  await heading(page, title)
  await screenshot(page, `provider-${name}`)
  await expectAccessible(page, name)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize(PHONE)
  await screenshot(page, `provider-${name}-phone`)
  await expectFits(page, name)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(WIDE)
}

describe('people with passwords or a provider', () => {
  let site: Installation
  beforeAll(async () => void (site = await Installation.start()))
  afterAll(() => site.stop())

  test.each([
    ['with', true],
    ['without', false],
  ])('%s JavaScript an invited person signs in to the boards, signs out, and in again', async (how, javaScriptEnabled) => {
    const name = `nora-${how}`
    const { id } = await site.invite('Nora Lindqvist', emailOf(name))
    const page = await open(site, { javaScriptEnabled })
    const look = (title: string, what: string) => (javaScriptEnabled ? expectPage(page, title, what) : heading(page, title))
    const boards = `${site.url}/app`
    await page.goto(boards)
    await look('Sign in', 'sign-in')
    await follow(page, 'Sign in with Acme SSO')
    await signInAtProvider(page, name)
    await page.waitForURL(boards)
    expect(await site.operator('user', 'show', id)).toMatchObject({
      email: emailOf(name),
      password: false,
      invited_until: null,
      identity: { issuer: site.provider.issuer, subject: name, bound_at: expect.stringMatching(/^20/) },
    })
    await page.goto('/settings/account')
    await page.getByText(`You sign in with Acme SSO, as ${emailOf(name)}`).waitFor()
    await look('Your account', 'account')
    await page.locator('[data-menu] summary').first().click()
    await press(page, 'Sign out')
    // The provider asks whether they want that.
    await press(page, 'Yes, sign me out')
    await page.getByText('You are signed out.').waitFor()
    await follow(page, 'Sign in with Acme SSO')
    await signInAtProvider(page, name)
    await heading(page, 'API tokens')
  })

  test('nobody else gets in, and the page says whom to ask', async () => {
    const { id } = await site.invite('Ann Able', emailOf('unverified-ann'))
    for (const name of ['unverified-ann', 'stranger']) {
      const page = await open(site)
      await page.goto('/settings/sign-in')
      await follow(page, 'Sign in with Acme SSO')
      await signInAtProvider(page, name)
      await expectPage(page, 'You have no account here', 'no-account')
      await page.getByText('Ask your administrator').waitFor()
      expect(await page.locator('body').innerText()).not.toContain(name)
      await page.goto('/settings/account')
      await heading(page, 'Sign in')
    }
    expect(await site.operator('user', 'show', id)).toMatchObject({ identity: null })
  })

  test('who cancels at the provider is told so, and can try again', async () => {
    await site.invite('Ben Carter', emailOf('ben'))
    const page = await open(site)
    await page.goto('/settings/sign-in')
    await follow(page, 'Sign in with Acme SSO')
    await follow(page, '[ Cancel ]')
    await expectPage(page, 'You are not signed in', 'cancelled')
    await page.reload()
    await expectPage(page, 'This sign-in has ended', 'ended')
    await page.getByRole('main').getByRole('link', { name: 'Sign in', exact: true }).click()
    await follow(page, 'Sign in with Acme SSO')
    await signInAtProvider(page, 'ben')
    await heading(page, 'API tokens')
  })

  test('whose session has ended gets the form back as it was, by the provider', async () => {
    const { id } = await site.invite('Ida Berg', emailOf('ida'))
    const page = await open(site)
    await page.goto(`/settings/tokens/new?workspace=${site.workspaceId}`)
    await follow(page, 'Sign in with Acme SSO')
    await signInAtProvider(page, 'ida')
    await heading(page, 'New token in Acme')
    await fillIn(page, { Name: 'Größe & more, 100%' })
    await page.getByLabel('kanban:write').check()
    await site.operator('user', 'sign-out', id)
    await press(page, 'Continue')
    await page.getByText('Your session has ended.').waitFor()
    await follow(page, 'Sign in with Acme SSO')
    await heading(page, 'New token in Acme')
    expect({ name: await page.getByLabel('Name').inputValue(), isChecked: await page.getByLabel('kanban:write').isChecked() }).toEqual({
      name: 'Größe & more, 100%',
      isChecked: true,
    })
  })

  /** Signs somebody in by the pages of the provider, in a browser of their own. @returns the address that it is sent to then */
  async function answerOf(address: string, name: string): Promise<string> {
    const visitor = visitorOf(site.provider.issuer)
    let page = await visitor.request(address)
    while (!page.location?.startsWith(site.url)) {
      if (page.location !== null) page = await visitor.request(page.location)
      else {
        expect(page.status).toBe(200)
        const { action, hidden } = formOf(page.text, site.provider.issuer)
        page = await visitor.post(action, { ...hidden, login: name, password: 'any password' })
      }
    }
    return page.location
  }

  test('an answer works once, and only in the browser that began', async () => {
    await site.invite('Olga Dahl', emailOf('olga'))
    const [first, second] = [visitorOf(site.url), visitorOf(site.url)]
    await second.request(BEGIN)
    const begun = new URL((await first.request(BEGIN)).location!)
    const answer = new URL(await answerOf(begun.href, 'olga'))
    expect(answer.searchParams.get('iss')).toBe(site.provider.issuer)
    for (const other of [second, visitorOf(site.url)]) {
      const page = await other.request(answer.href)
      expect({ status: page.status, shown: page.shown, isSignedIn: await other.isSignedIn() }).toEqual({
        status: 400,
        shown: expect.stringContaining('This sign-in has ended'),
        isSignedIn: false,
      })
    }
    const page = await first.request(answer.href)
    expect({ status: page.status, location: page.location, isSignedIn: await first.isSignedIn() }).toEqual({
      status: 303,
      location: '/settings/tokens',
      isSignedIn: true,
    })
    expect((await first.request(answer.href)).status).toBe(400)
    // A used code is of no use with the state of another attempt either.
    const state = new URL((await second.request(BEGIN)).location!).searchParams.get('state')!
    const mixed = new URL(answer)
    mixed.searchParams.set('state', state)
    expect({ status: (await second.request(mixed.href)).status, isSignedIn: await second.isSignedIn() }).toEqual({
      status: 401,
      isSignedIn: false,
    })
    for (const secret of [answer.searchParams.get('code')!, answer.searchParams.get('state')!, state, site.provider.client.secret])
      expect(site.output).not.toContain(secret)
  })
})

describe('when the proof is too old, and passwords are switched off', () => {
  let site: Installation
  beforeAll(async () => void (site = await Installation.start({ NODE_OPTIONS: EARLIER })))
  afterAll(() => site.stop())

  test('a token with kanban:admin requires a new sign-in at the provider', async () => {
    await site.invite('Olivia Stone', emailOf('olivia'))
    const page = await open(site)
    await page.goto('/settings/sign-in')
    await follow(page, 'Sign in with Acme SSO')
    await signInAtProvider(page, 'olivia')
    await heading(page, 'API tokens')
    // What the page has not loaded yet, such as its icon, would meet a closed port.
    await page.goto('about:blank')
    await site.restart({ LANEKEEPER_PASSWORDS: 'off' })

    // The session goes on.
    await page.goto(`/settings/tokens/new?workspace=${site.workspaceId}`)
    await fillIn(page, { Name: 'Nightly build' })
    await page.getByLabel('kanban:admin').check()
    await press(page, 'Continue')
    await expectPage(page, 'Create this token?', 'prove')
    const confirmation = page.url()
    await press(page, 'Create token')
    await page.getByText('Sign in again to continue.').waitFor()
    expect(await page.locator('input[type=password]').count()).toBe(0)

    const proof = page.getByRole('link', { name: 'Continue with Acme SSO', exact: true })
    const begin = async () => page.request.get((await proof.getAttribute('href'))!, { maxRedirects: 0 })
    await site.provider.pause()
    const down = await begin()
    expect({ status: down.status(), text: await down.text() }).toEqual({
      status: 503,
      text: expect.stringContaining('The identity provider cannot be reached'),
    })
    await site.provider.resume()
    // A failure is remembered for five seconds.
    let location = ''
    const again = async () => {
      const reply = await begin()
      location = reply.headers()['location'] ?? ''
      return reply.status()
    }
    await expect.poll(again, { interval: 1000 }).toBe(303)

    // The person, or who sits at their browser, leaves out the question: the provider does not ask then, and it is no proof.
    const asked = new URL(location)
    expect(asked.searchParams.get('max_age')).toBe('0')
    asked.searchParams.delete('max_age')
    await page.goto(asked.href)
    await expectPage(page, 'You are not signed in', 'not-accepted')
    await page.goto(confirmation)

    await proof.click()
    await signInAtProvider(page, 'olivia', false)
    await page.waitForURL(confirmation)
    await page.getByText('Nightly build').waitFor()
    expect(await proof.count()).toBe(0)
    await press(page, 'Create token')
    expect(await page.locator('#plaintext').innerText()).toMatch(/^lk_pat_/)
  })

  test('the provider is the only way in, also for an invitation', async () => {
    await site.restart({ LANEKEEPER_PASSWORDS: 'off' })
    const { id, link } = await site.invite('Maya Ortiz')
    const page = await open(site)
    const expectNoPassword = async () => {
      expect(await page.locator('input:not([type=hidden])').count()).toBe(0)
      expect(await page.getByRole('main').innerText()).not.toMatch(/password|passkey/i)
    }
    await page.goto('/settings/sign-in')
    await expectPage(page, 'Sign in', 'only-provider')
    await expectNoPassword()
    await page.goto(link)
    await expectPage(page, 'Sign up', 'sign-up')
    await expectNoPassword()
    await follow(page, 'Sign in with Acme SSO')
    await signInAtProvider(page, 'maya')
    await heading(page, 'API tokens')
    expect(await site.operator('user', 'show', id)).toMatchObject({ email: emailOf('maya'), identity: { subject: 'maya' } })
    await page.goto('/settings/account')
    await expectPage(page, 'Your account', 'only-provider-account')
    await expectNoPassword()
  })
})
