import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startListener, type Listener } from '../../../src/http/server.ts'
import { expectAccessible, expectNotFound, openBrowser, openWindow, screenshot } from '../../support/chromium.ts'
import { memory } from '../../support/memory.ts'
import { Service, type Person } from '../../support/service.ts'

describe('the reference of the API in a browser', () => {
  let browser: Browser
  let service: Service
  let listener: Listener
  let person: Person
  beforeAll(async () => {
    browser = await openBrowser()
    service = await Service.start(memory)
    person = await service.person(await service.workspace(), 'owner', 'Olivia Stone')
    listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    await browser.close()
    await listener.close()
    await service.stop()
  })

  const pages = ['/docs', '/docs/cards.list', '/docs/boards.create', '/docs/attachments.attach', '/docs/absent']
  test.each([
    ['light', { colorScheme: 'light', viewport: { width: 1100, height: 800 } }],
    ['dark', { colorScheme: 'dark', viewport: { width: 1100, height: 800 } }],
    ['phone', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
  ] as const)('every kind of page is accessible, fits its window and violates no policy: %s', async (look, options) => {
    const window = await openWindow(browser, listener.url, options)
    for (const path of pages) {
      await window.page.goto(path)
      // Closed details are not examined.
      await window.page.evaluate(() => {
        for (const details of (globalThis as any).document.querySelectorAll('details')) details.open = true
      })
      await screenshot(window.page, `reference${path.replaceAll('/', '-')}-${look}`)
      if (look !== 'phone') await expectAccessible(window.page, path, look === 'dark' ? 'color' : 'all')
      const overflow = await window.page.evaluate(() => {
        const { scrollWidth, clientWidth } = (globalThis as any).document.documentElement
        return scrollWidth - clientWidth
      })
      expect([path, overflow]).toEqual([path, 0])
    }
    expect(window.problems).toEqual([])
    await window.close()
  })

  test('an operation can be tried with a pasted token, which stays in the page only', async () => {
    const window = await openWindow(browser, listener.url)
    const { page } = window
    await page.goto('/docs/boards.create')
    await page.getByLabel('Access token').fill(person.write)
    await page.getByLabel('Body (JSON)').fill('{"name":"From the <b>reference</b>"}')
    await page.getByRole('button', { name: 'Send' }).click()
    const response = page.getByLabel('Response', { exact: true })
    await response.getByText('201 Created').waitFor()
    expect(await response.innerText()).toContain('"name": "From the <b>reference</b>"')
    await expectNotFound(page, person.write)

    await page.goto('/docs/boards.read')
    expect(await page.getByLabel('Access token').inputValue()).toBe('')
    await page.getByLabel('Access token').fill('wrong')
    await page.getByLabel('board_id').fill('../account')
    await page.getByRole('button', { name: 'Send' }).click()
    await response.getByText('401 Unauthorized').waitFor()
    // The browser may keep the page for its back button.
    await page.evaluate(() => (globalThis as any).dispatchEvent(new Event('pagehide')))
    expect([await page.getByLabel('Access token').inputValue(), await response.textContent()]).toEqual(['', ''])
    expect(window.problems).toEqual([])
    await window.close()
  })

  test('without JavaScript the pages can be read, and nothing can be tried', async () => {
    const window = await openWindow(browser, listener.url, { javaScriptEnabled: false })
    await window.page.goto('/docs')
    await window.page.getByRole('link', { name: 'cards.create' }).click()
    await window.page.getByRole('heading', { name: 'cards.create' }).waitFor()
    expect(await window.page.getByLabel('Access token').isVisible()).toBe(false)
    await window.close()
  })
})
