import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { expectAccessible, expectGood, expectNotFound, looks, openWindow } from '../../support/chromium.ts'
import type { Person } from '../../support/service.ts'
import { startSite } from '../../support/site.ts'

const wide = { viewport: { width: 1280, height: 800 } }
const phone = { viewport: { width: 390, height: 844 } }

describe('the reference of the API in a browser', () => {
  let person: Person
  const site = startSite(async (service) => (person = await service.person(await service.workspace(), 'owner', 'Olivia Stone')))
  const field = (page: Page) => page.getByRole('searchbox', { name: 'Search the operations' })
  const hits = (page: Page) => page.locator('.hits a')
  const focused = (page: Page) => page.locator(':focus').getAttribute('href')
  const open = async (path: string, options: BrowserContextOptions = wide) => {
    const page = await openWindow(site.browser, site.url, options)
    await page.goto(path)
    return page
  }

  const pages = ['', '/errors', '?q=label', '/cards.list', '/boards.batch', '/attachments.upload', '/absent'].map((path) => `/docs${path}`)
  test.each(looks)('every kind of page is accessible, fits its window and violates no policy: %s', async (look, options) => {
    const page = await open(pages[0]!, options)
    for (const path of pages) {
      await page.goto(path)
      // Closed details are not examined.
      await page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))")
      await expectGood(page, `reference${path.replace(/[/?=]/g, '-')}`, look, path === '/docs/cards.list' ? 'all' : 'none')
    }
  })

  test.each([true, false])('on a phone the sidebar is closed at first, with JavaScript: %s', async (javaScriptEnabled) => {
    const page = await open('/docs/cards.create', { ...phone, javaScriptEnabled })
    const link = page.locator('.sidebar').getByRole('link', { name: 'archive' })
    expect(await link.isVisible()).toBe(false)
    await page.getByText('All operations', { exact: true }).click()
    await link.click()
    await page.getByRole('heading', { name: 'cards.archive', level: 1 }).waitFor()
  })

  test('operations are found while a person types, and the keys lead to one', async () => {
    const page = await open('/docs')
    await page.keyboard.press('/')
    await page.keyboard.type('due_before')
    await page.locator('.hits').getByText('Matches due_before').waitFor()
    expect(await field(page).inputValue()).toBe('due_before')
    await field(page).fill('apply_label')
    await expect.poll(() => hits(page).count()).toBe(1)
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
    await expect.poll(() => hits(page).count()).toBe(1)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'comments.create', level: 1 }).waitFor()
    // It is a character where a person writes.
    await page.getByLabel('Access token').fill('')
    await page.getByLabel('Access token').press('/')
    expect(await page.getByLabel('Access token').inputValue()).toBe('/')
  })

  test('the page of a search has what typing finds', async () => {
    const query = 'post label'
    const hrefs = (page: Page, links: string): Promise<string[]> =>
      page.locator(links).evaluateAll((all) => all.map((link: any) => `${link.pathname}${link.search}`))
    const search = async (page: Page) => {
      await field(page).press('Enter')
      await page.getByRole('heading', { name: 'Search', level: 1 }).waitFor()
      expect(await field(page).inputValue()).toBe(query)
      return hrefs(page, 'main .operations a')
    }
    const [plain, page] = [await open('/docs', { javaScriptEnabled: false }), await open('/docs')]
    for (const one of [plain, page]) await field(one).fill(query)
    const found = await search(plain)
    expect(found.length).toBeGreaterThan(0)
    await page.locator('.hits').waitFor()
    const typed = (await hrefs(page, '.hits a')).filter((href) => !href.includes('?'))
    expect({ found: await search(page), typed }).toEqual({ found, typed: found.slice(0, 8) })
  })

  test('an example is copied as it is shown', async () => {
    const page = await open('/docs/boards.create')
    await page.getByRole('button', { name: 'Copy curl' }).click()
    await page.getByText('Copied.').waitFor()
    const copied: string = await page.evaluate('navigator.clipboard.readText()')
    expect(copied).toContain(`curl -X POST ${site.url}/v1/boards \\\n  -H "Authorization: Bearer $TOKEN" \\\n`)
    expect(copied).toBe(await page.locator('#example-curl').innerText())
  })

  test('an operation can be tried with a pasted token, which stays in the page only', async () => {
    const page = await open('/docs/boards.create')
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
    await page.evaluate("dispatchEvent(new Event('pagehide'))")
    expect({ token: await page.getByLabel('Access token').inputValue(), response: await response.textContent() }).toEqual({
      token: '',
      response: '',
    })
  })

  test('without JavaScript the pages can be read, and nothing can be tried or copied', async () => {
    const page = await open('/docs', { ...wide, javaScriptEnabled: false })
    await page.locator('main').getByRole('link', { name: 'cards.create' }).click()
    await page.getByRole('heading', { name: 'cards.create', level: 1 }).waitFor()
    expect(await page.getByText('await lk.cards.create(').isVisible()).toBe(true)
    expect(await page.locator('.sidebar').getByRole('link', { name: 'archive' }).isVisible()).toBe(true)
    expect(await page.getByLabel('Access token').isVisible()).toBe(false)
    expect(await page.getByRole('button', { name: /Copy/ }).count()).toBe(0)
  })
})
