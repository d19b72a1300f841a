import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startListener, type Listener } from '../../../src/listener/listener.ts'
import { expectAccessible, expectFits, expectNotFound, openBrowser, openWindow, screenshot } from '../../support/chromium.ts'
import { memory } from '../../support/memory.ts'
import { Service, type Person } from '../../support/service.ts'

const wide = { viewport: { width: 1280, height: 800 } }
const phone = { viewport: { width: 390, height: 844 } }

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
  const field = (page: Page) => page.getByRole('searchbox', { name: 'Search the operations' })
  const hits = (page: Page) => page.locator('.hits a')
  const focused = (page: Page): Promise<string | null> =>
    page.evaluate(() => (globalThis as any).document.activeElement.getAttribute('href'))

  const pages = [
    '/docs',
    '/docs/errors',
    '/docs?q=label',
    '/docs/cards.list',
    '/docs/boards.batch',
    '/docs/attachments.attach',
    '/docs/absent',
  ]
  test.each([
    ['light', { colorScheme: 'light', ...wide }],
    ['dark', { colorScheme: 'dark', ...wide }],
    ['phone', { colorScheme: 'light', ...phone }],
  ] as const)('every kind of page is accessible, fits its window and violates no policy: %s', async (look, options) => {
    const window = await openWindow(browser, listener.url, options)
    for (const path of pages) {
      await window.page.goto(path)
      await screenshot(window.page, `reference${path.replace(/[/?=]/g, '-')}-${look}`)
      // Closed details are not examined.
      await window.page.evaluate(() => {
        for (const details of (globalThis as any).document.querySelectorAll('details')) details.open = true
      })
      if (look !== 'phone' || path === '/docs/cards.list') await expectAccessible(window.page, path, look === 'dark' ? 'color' : 'all')
      await expectFits(window.page, path)
    }
    expect(window.problems).toEqual([])
    await window.close()
  })

  test('the sidebar stays on a wide screen, shows the present page, and leaves room for the examples beside the text', async () => {
    const window = await openWindow(browser, listener.url, wide)
    const { page } = window
    await page.goto('/docs/files.update')
    const current = page.locator('.sidebar [aria-current]')
    expect(await current.innerText()).toMatch(/^update\s+PATCH$/)
    await page.evaluate(() => (globalThis as any).scrollTo(0, 1500))
    await page.waitForFunction(() => (globalThis as any).scrollY > 1000)
    const box = async (selector: string) => (await page.locator(selector).boundingBox())!
    const [header, sidebar, present] = [await box('body > header'), await box('.sidebar'), await box('.sidebar [aria-current]')]
    expect([header.y, sidebar.y]).toEqual([0, header.height])
    expect([present.y > sidebar.y, present.y + present.height < 800]).toEqual([true, true])
    const [details, examples] = [await box('.details'), await box('.examples')]
    expect([examples.x > details.x + details.width, examples.y > header.height]).toEqual([true, true])
    await window.close()
  })

  test.each([true, false])('on a phone the sidebar is closed at first, with JavaScript: %s', async (javaScriptEnabled) => {
    const window = await openWindow(browser, listener.url, { ...phone, javaScriptEnabled })
    const { page } = window
    await page.goto('/docs/cards.create')
    const link = page.locator('.sidebar').getByRole('link', { name: 'archive' })
    expect(await link.isVisible()).toBe(false)
    await page.getByText('All operations', { exact: true }).click()
    await link.click()
    await page.getByRole('heading', { name: 'cards.archive', level: 1 }).waitFor()
    await window.close()
  })

  test('operations are found while a person types, and the keys lead to one', async () => {
    const window = await openWindow(browser, listener.url, wide)
    const { page } = window
    await page.goto('/docs')
    await page.keyboard.press('/')
    await page.keyboard.type('due_before')
    await page.locator('.hits').getByText('Matches due_before').waitFor()
    expect(await field(page).inputValue()).toBe('due_before')
    await field(page).fill('apply_label')
    await page.waitForFunction(() => (globalThis as any).document.querySelectorAll('.hits a').length === 1)
    await field(page).fill('cards')
    await page
      .locator('.hits')
      .getByText(/^All \d+ operations$/)
      .waitFor()
    const [first, second] = await hits(page).evaluateAll((links) => links.map((link: any) => link.getAttribute('href')))
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe(first)
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe(second)
    await expectAccessible(page, 'hits')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    expect(await focused(page)).toBe(null)
    await page.keyboard.press('Escape')
    expect(await page.locator('.hits').isVisible()).toBe(false)
    await field(page).fill('comments.create')
    await page.waitForFunction(() => (globalThis as any).document.querySelectorAll('.hits a').length === 1)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'comments.create', level: 1 }).waitFor()
    // It is a character where a person writes.
    await page.getByLabel('Access token').fill('')
    await page.getByLabel('Access token').press('/')
    expect(await page.getByLabel('Access token').inputValue()).toBe('/')
    expect(window.problems).toEqual([])
    await window.close()
  })

  test.each(['post label', 'no such operation'])('the page of a search for "%s" has what typing finds', async (query) => {
    const [window, plain] = [
      await openWindow(browser, listener.url, wide),
      await openWindow(browser, listener.url, { ...wide, javaScriptEnabled: false }),
    ]
    const results = (page: Page) =>
      page.locator('main .operations a').evaluateAll((links) => links.map((link: any) => link.getAttribute('href')))
    for (const { page } of [window, plain]) {
      await page.goto('/docs/boards.read')
      await field(page).fill(query)
    }
    await window.page.locator('.hits').waitFor()
    const typed = (await hits(window.page).evaluateAll((links) => links.map((link: any) => link.getAttribute('href')))).filter(
      (href) => !href.includes('?'),
    )
    for (const { page } of [window, plain]) {
      await field(page).press('Enter')
      await page.getByRole('heading', { name: 'Search', level: 1 }).waitFor()
      expect(await field(page).inputValue()).toBe(query)
    }
    const found = await results(plain.page)
    expect([await results(window.page), typed]).toEqual([found, found.slice(0, 8)])
    expect(found.length > 0).toBe(query !== 'no such operation')
    expect([...window.problems, ...plain.problems]).toEqual([])
    await window.close()
    await plain.close()
  })

  test('an example is copied as it is shown', async () => {
    const window = await openWindow(browser, listener.url, wide)
    const { page } = window
    await page.goto('/docs/boards.create')
    await page.getByRole('button', { name: 'Copy curl' }).click()
    await page.getByText('Copied.').waitFor()
    expect(await page.evaluate(() => (globalThis as any).navigator.clipboard.readText())).toBe(
      [
        `curl -X POST ${listener.url}/v1/boards \\`,
        `  -H "Authorization: Bearer $TOKEN" \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -d '{"name":"Spring release"}'`,
      ].join('\n'),
    )
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

  test('without JavaScript the pages can be read, and nothing can be tried or copied', async () => {
    const window = await openWindow(browser, listener.url, { ...wide, javaScriptEnabled: false })
    const { page } = window
    await page.goto('/docs')
    await page.locator('main').getByRole('link', { name: 'cards.create' }).click()
    await page.getByRole('heading', { name: 'cards.create', level: 1 }).waitFor()
    expect(await page.getByText('await lk.cards.create(').isVisible()).toBe(true)
    expect(await page.locator('.sidebar').getByRole('link', { name: 'archive' }).isVisible()).toBe(true)
    expect(await page.getByLabel('Access token').isVisible()).toBe(false)
    expect(await page.getByRole('button', { name: /Copy/ }).count()).toBe(0)
    await window.close()
  })
})
