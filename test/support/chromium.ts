import { createRequire } from 'node:module'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import { missingProgram, sandboxArguments } from './programs.ts'
import { PASSWORD } from './visitor.ts'

/** Starts the browser that the run found. @throws {Error} when there is none */
export function openBrowser(): Promise<Browser> {
  const location = inject('browser')
  if (location === undefined) throw missingProgram('chromium-headless-shell')
  return chromium.launch({ ...location, args: sandboxArguments() })
}

/**
 * Opens a window with its own cookies until the test ends. The test fails if a page makes a request to another origin, if a script fails,
 * and for errors and warnings in the console, such as violations of the CSP.
 * @param others more origins that pages may make requests to
 */
export async function openWindow(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  others: readonly string[] = [],
): Promise<Page> {
  const context = await browser.newContext({ baseURL: url, permissions: ['clipboard-read', 'clipboard-write'], ...options })
  const allowed = ['data:', ...[url, ...others].map((origin) => `${origin}/`)]
  // Only what hangs is to be ended: on a loaded machine a page can take long.
  context.setDefaultTimeout(120_000)
  const problems: string[] = []
  context.on('request', (request) => {
    if (!allowed.some((prefix) => request.url().startsWith(prefix))) problems.push(`request to ${request.url()}`)
  })
  // A page with a 4xx status is not a problem: some tests expect it, and one that there is no connection.
  context.on('console', (message) => {
    const text = message.text()
    if (['error', 'warning'].includes(message.type()) && !/a status of 4\d\d|ERR_INTERNET_DISCONNECTED/.test(text)) problems.push(text)
  })
  context.on('weberror', (error) => problems.push(String(error.error())))
  onTestFinished(async () => {
    await context.close()
    expect(problems).toEqual([])
  })
  return context.newPage()
}

/** The looks that a page is examined in. */
export const looks = [
  ['light', { colorScheme: 'light', viewport: { width: 1200, height: 800 } }],
  ['dark', { colorScheme: 'dark', viewport: { width: 1200, height: 800 } }],
  ['forced', { colorScheme: 'dark', forcedColors: 'active', viewport: { width: 1200, height: 800 } }],
  ['phone', { colorScheme: 'light', viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }],
] as const satisfies readonly (readonly [string, BrowserContextOptions])[]
export type Look = (typeof looks)[number][0]

/**
 * Expects that what a page shows now is accessible, and fits its window. The dark pages have the elements of the light ones in other
 * colors.
 * @param phoneRules whether a phone is shown elements that no wide window has
 */
export async function expectGood(page: Page, name: string, look: Look, phoneRules: 'all' | 'none' = 'none'): Promise<void> {
  await screenshot(page, `${name}-${look}`)
  const rules = { light: 'all', dark: 'color', forced: 'forced', phone: phoneRules } as const
  await expectAccessible(page, name, rules[look])
  if (look === 'forced') await expectForcedColors(page, name)
  await expectFits(page, name)
}

/**
 * Expects that a page says the same where the system chooses the colors: of the tabs only the current one has a line, and what is nothing
 * but a color keeps it.
 */
async function expectForcedColors(page: Page, name: string): Promise<void> {
  const lost: string[] = await page.evaluate(() => {
    const { document, getComputedStyle, matchMedia } = globalThis as any
    if (!matchMedia('(forced-colors: active)').matches) return ['the colors are not forced']
    const ground = getComputedStyle(document.body).backgroundColor
    const isLined = (tab: any) => getComputedStyle(tab).borderBottomColor !== ground
    const tabs = [...document.querySelectorAll(':is(.tabs, .sections) a')].filter(
      (tab: any) => isLined(tab) !== tab.hasAttribute('aria-current'),
    )
    const dots = [...document.querySelectorAll('.dot, .band')].filter((dot: any) => getComputedStyle(dot).forcedColorAdjust !== 'none')
    const people = [...document.querySelectorAll('.avatar')].filter((one: any) => getComputedStyle(one).borderTopWidth === '0px')
    return [...tabs, ...dots, ...people].map(({ outerHTML }: any) => outerHTML.slice(0, 120))
  })
  expect([name, lost]).toEqual([name, []])
}

/** Expects that a page is no wider than its window. */
export async function expectFits(page: Page, name: string): Promise<void> {
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
  expect([name, await page.evaluate(overflow)]).toEqual([name, 0])
}

/** Takes a screenshot of a page, in the folder that LANEKEEPER_ARTEFACTS names. Without it, there are no screenshots. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['LANEKEEPER_ARTEFACTS']
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}

/**
 * Gives a page a platform authenticator that always agrees. It is gone as soon as another session of
 * the protocol of Chromium's developer tools ends, as for `expectNotFound`.
 */
export async function addAuthenticator(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  } as const
  await cdp.send('WebAuthn.addVirtualAuthenticator', { options: { ...options, automaticPresenceSimulation: true } })
}

/** Presses the button with a name. */
export function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click()
}

/** Fills in fields: label → value. */
export async function fillIn(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value)
}

/** Enters an e-mail address and a password on the page that asks for them. */
export async function enterPassword(page: Page, email: string, password = PASSWORD, path = '/settings/sign-in'): Promise<void> {
  await page.goto(path)
  await fillIn(page, { 'E-mail address': email, Password: password })
  await press(page, 'Sign in')
}

/** The rules of axe about what is seen, and about names and roles. */
const SEEN = ['cat.sensory-and-visual-cues', 'cat.name-role-value']
const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Expects that axe finds no accessibility violation on a page, and that no words are joined. @param rules with `color`, only what depends
 * on colors is checked; with `forced`, only what depends on what is seen, without contrasts: axe reads our colors, and the system paints
 * others; with `none`, only the words
 */
export async function expectAccessible(page: Page, name: string, rules: 'all' | 'color' | 'forced' | 'none' = 'all'): Promise<void> {
  await expectSpaced(page, name)
  if (rules === 'none') return
  await page.evaluate(await axe)
  const runOnly = { all: {}, color: { runOnly: ['cat.color'] }, forced: { runOnly: SEEN } }[rules]
  const violations: unknown[] = await page.evaluate(async (options) => {
    const { violations } = await (globalThis as any).axe.run({ resultTypes: ['violations'], ...options })
    return violations.map(({ id, help, nodes }: any) => ({
      id,
      help,
      nodes: nodes.map((node: any) => `${node.html} ${node.failureSummary}`),
    }))
  }, runOnly)
  expect([name, violations]).toEqual([name, []])
}

/** Expects that words of a page that stand in one line of text have a space between them where an element begins or ends. */
async function expectSpaced(page: Page, name: string): Promise<void> {
  const joined: string[] = await page.evaluate(() => {
    const { document, getComputedStyle } = globalThis as any
    // The children of a flex container are no text of one line: their display is not inline.
    const isInline = (node: any) => node?.nodeType === 3 || (node?.nodeType === 1 && getComputedStyle(node).display === 'inline')
    const found: string[] = []
    for (const element of document.querySelectorAll('main *, body > header *')) {
      if (!isInline(element) || element.closest('pre, code, svg') !== null) continue
      for (const [before, after] of [
        [element.previousSibling, element],
        [element, element.nextSibling],
      ]) {
        if (!isInline(before) || !isInline(after)) continue
        const [first, second] = [before.textContent, after.textContent]
        if (/[\p{L}\p{N}.,:;)”]$/u.test(first) && /^[\p{L}\p{N}(“]/u.test(second)) found.push(`${first.slice(-30)}|${second.slice(0, 30)}`)
      }
    }
    return found
  })
  expect([name, joined]).toEqual([name, []])
}

/** Returns the HTML of a page. It waits for a navigation that is in progress, such as that to the browser's error page. */
async function contentOf(page: Page): Promise<string> {
  for (;;) {
    const content = await page.content().catch((error: Error) => {
      if (!error.message.includes('navigating')) throw error
    })
    if (content !== undefined) return content
    await page.waitForLoadState()
  }
}

/** Expects that a text is not on the page, in its storage, its cookies or the window's history. */
export async function expectNotFound(page: Page, secret: string): Promise<void> {
  expect(await contentOf(page)).not.toContain(secret)
  const stored = await page.evaluate(async () => {
    const page = globalThis as any
    // The browser's error pages have no storage.
    if (!page.location.href.startsWith('http')) return ''
    const caches = page.caches === undefined ? [] : await page.caches.keys()
    return JSON.stringify([{ ...page.localStorage }, { ...page.sessionStorage }, page.history.state, page.name, caches])
  })
  expect(stored).not.toContain(secret)
  const cdp = await page.context().newCDPSession(page)
  expect(JSON.stringify(await cdp.send('Page.getNavigationHistory'))).not.toContain(secret)
  await cdp.detach()
  expect(JSON.stringify(await page.context().cookies())).not.toContain(secret)
}
