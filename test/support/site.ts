import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { startListener, type Listener } from '../../src/listener/listener.ts'
import { enterPassword, openBrowser, openWindow } from './chromium.ts'
import { memory } from './memory.ts'
import { Service } from './service.ts'

/** A service in the process of the test, and a browser. */
export interface Site {
  readonly browser: Browser
  readonly service: Service
  /** with a host name, which passkeys need */
  readonly url: string
}

/** Three looks, for pages whose colors and widths are examined. */
export const looks = {
  light: { colorScheme: 'light', viewport: { width: 1200, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1200, height: 800 } },
  phone: { colorScheme: 'light', viewport: { width: 360, height: 740 } },
} as const satisfies Record<string, BrowserContextOptions>

/** Starts a site for the tests of a suite. It can be used from the first test on. @param prepare fills the service */
export function startSite(prepare: (service: Service) => Promise<unknown>): Site {
  const site = {} as { -readonly [name in keyof Site]: Site[name] }
  let listener: Listener
  beforeAll(async () => {
    site.browser = await openBrowser()
    site.service = await Service.start(memory, { proxies: 1 })
    listener = await startListener(site.service.app.h3, { port: 0, host: '127.0.0.1' })
    site.url = listener.url.replace('127.0.0.1', 'localhost')
    await prepare(site.service)
  })
  afterAll(async () => {
    await site.browser.close()
    await listener.close()
    await site.service.stop()
  })
  return site
}

/** Runs a visit in a window of its own, in which no problem must occur. @param email of the person who signs in; undefined: nobody does */
export async function visit(
  { browser, url }: Site,
  run: (page: Page) => Promise<unknown>,
  { email, ...options }: BrowserContextOptions & { readonly email?: string } = {},
): Promise<void> {
  const { page, problems, close } = await openWindow(browser, url, options)
  if (email !== undefined) {
    await enterPassword(page, email)
    await page.waitForURL('**/settings/tokens')
  }
  await run(page)
  expect(problems).toEqual([])
  await close()
}
