import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect, inject } from 'vitest'

const EXECUTABLE = '/usr/bin/chromium'
const INSTALL = 'apt-get update && apt-get install -y --no-install-recommends chromium'

/** Makes sure that there is a Chromium: installs Debian's where that can be done, else says how. */
export function requireChromium(): void {
  if (existsSync(EXECUTABLE)) return
  if (process.getuid?.() !== 0) throw new Error(`The tests need Debian's chromium. Install it:  sudo sh -c '${INSTALL}'`)
  execFileSync('sh', ['-c', `${INSTALL} >/dev/null`], { stdio: 'inherit' })
}

/** Where pictures go: never into the repository. It is made with the first of them. */
export function artefactFolder(): string {
  return process.env['LANEKEEPER_ARTEFACTS'] ?? join(tmpdir(), `lanekeeper-artefacts-${randomUUID()}`)
}

export function openBrowser(): Promise<Browser> {
  const root = process.getuid?.() === 0
  return chromium.launch({ executablePath: EXECUTABLE, headless: true, args: root ? ['--no-sandbox'] : [] })
}

/** A browser's window, and all that went wrong in it. */
export interface Window {
  readonly page: Page
  /** requests that left to another origin, errors of scripts, and what the console complains of, as CSP does */
  readonly complaints: readonly string[]
  close(): Promise<void>
}

/** Opens a window of its own, with cookies of its own. */
export async function openWindow(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Window> {
  const context = await browser.newContext({ baseURL: url, permissions: ['clipboard-read', 'clipboard-write'], ...options })
  context.setDefaultTimeout(15_000)
  const complaints: string[] = []
  context.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:')) complaints.push(`a request to ${request.url()}`)
  })
  // That a page answers 403 or 410 is what some of them are for.
  context.on('console', (message) => {
    const text = message.text()
    if (['error', 'warning'].includes(message.type()) && !/the server responded with a status of 4\d\d/.test(text)) complaints.push(text)
  })
  context.on('weberror', (error) => complaints.push(String(error.error())))
  const page = await context.newPage()
  return { page, complaints, close: () => context.close() }
}

/** The folder that pictures of this run go to. */
export const pictures = (): string => inject('artefacts' as never) as string

/** Takes a picture of a page. */
export async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(pictures(), `${name}.png`), fullPage: true })
}

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Expects that axe finds nothing on a page. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  await page.evaluate(await axe)
  const violations: unknown[] = await page.evaluate(async () => {
    const { violations } = await (globalThis as any).axe.run()
    return violations.map(({ id, help, nodes }: any) => ({
      id,
      help,
      nodes: nodes.map((node: any) => `${node.html} ${node.failureSummary}`),
    }))
  })
  expect([name, violations]).toEqual([name, []])
}

/** What a page holds, once it is there: a browser's own error page comes after the failure that it is about. */
async function contentOf(page: Page): Promise<string> {
  for (;;) {
    const content = await page.content().catch((error: Error) => {
      if (!error.message.includes('navigating')) throw error
    })
    if (content !== undefined) return content
    await page.waitForLoadState()
  }
}

/** Expects that a text is nowhere: not on the page, in what it stores, or in where the window has been. */
export async function expectNowhere(page: Page, secret: string): Promise<void> {
  expect(await contentOf(page)).not.toContain(secret)
  const stored = await page.evaluate(async () => {
    const kept = globalThis as any
    // On a page of the browser's own there is no storage to look at.
    if (!kept.location.href.startsWith('http')) return ''
    const caches = kept.caches === undefined ? [] : await kept.caches.keys()
    return JSON.stringify([{ ...kept.localStorage }, { ...kept.sessionStorage }, kept.history.state, kept.name, caches])
  })
  expect(stored).not.toContain(secret)
  const cdp = await page.context().newCDPSession(page)
  expect(JSON.stringify(await cdp.send('Page.getNavigationHistory'))).not.toContain(secret)
  await cdp.detach()
  expect(JSON.stringify(await page.context().cookies())).not.toContain(secret)
}
