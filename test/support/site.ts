import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
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

/** Opens a window, and signs a person in there. */
export async function signInAt({ browser, url }: Site, email: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openWindow(browser, url, options)
  await enterPassword(page, email)
  await page.waitForURL('**/settings/tokens')
  return page
}
