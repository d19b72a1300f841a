import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { diffPolicies } from '../../../src/policy/decision-diff.ts'
import { operations } from '../../../src/resources/table.ts'
import { renderReport } from '../../../src/web/policy-report/page.ts'
import { expectGood, looks, openBrowser, openWindow } from '../../support/chromium.ts'
import { shipped } from '../../support/policy.ts'

const folder = mkdtempSync(join(tmpdir(), 'report-'))
const file = join(folder, 'report.html')
const url = pathToFileURL(file).href

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
  writeFileSync(file, renderReport(shipped, operations, diffPolicies(shipped, shipped)))
})
afterAll(async () => {
  await browser.close()
  rmSync(folder, { recursive: true })
})

/** Opens the file. It requests nothing outside its folder, which has nothing else. */
async function openReport(options: BrowserContextOptions = {}, hash = ''): Promise<Page> {
  const page = await openWindow(browser, pathToFileURL(folder).href, {
    reducedMotion: 'reduce',
    viewport: { width: 1300, height: 900 },
    ...options,
  })
  await page.goto(url + hash)
  return page
}

const why = /^boards\.delete, board\.visibility workspace, board\.caller member: allowed 403/
/** The text of each row of the matrix, as it is shown. */
const matrixText = (page: Page) =>
  page
    .locator('#matrix tr')
    .evaluateAll((rows: any[]) =>
      rows.map((row) => [...row.cells].map((cell) => `${cell.colSpan} ${cell.innerText.replace(/allowed|\s/g, '')}`)),
    )

describe('the report of a policy in a browser', () => {
  test.each(looks)('is accessible, fits its window and makes no request: %s', async (look, options) => {
    const page = await openReport(options)
    await expectGood(page, 'policies', look)
    await page.getByRole('button', { name: why }).click()
    // The rest was examined before, which takes seconds. The targets of the links in the dialog stay.
    await page.locator('main').evaluate((main: any) => {
      const targets = [...main.querySelectorAll('[id]')].map(({ id }) => Object.assign(main.ownerDocument.createElement('p'), { id }))
      main.replaceChildren(...targets)
    })
    await expectGood(page, 'policies-why', look, 'all')
  })

  test.each([1300, 390])('has nothing to press that is smaller than 24 px, in a window of %i px', async (width) => {
    const page = await openReport({ viewport: { width, height: 900 } })
    const small: string[] = await page.evaluate(() =>
      [...(globalThis as any).document.querySelectorAll('a, button, summary, select, input')]
        .filter((one: any) => one.checkVisibility() && !one.matches('.skip'))
        .map((one: any) => [one.textContent.trim().slice(0, 30), one.getBoundingClientRect()])
        .filter(([, { width, height }]: any) => width < 24 || height < 24)
        .map(([text, { width, height }]: any) => `${text} ${width} × ${height}`),
    )
    expect(small).toEqual([])
  })

  test('shows without JavaScript the matrix that the script makes', async () => {
    const plain = await openReport({ javaScriptEnabled: false })
    const rendered = await openReport()
    expect(await plain.getByLabel('Find', { exact: true }).isVisible()).toBe(false)
    // Without JavaScript, nothing can be evaluated: the page is opened again as text.
    const text = await openReport()
    await text.locator('#matrix').evaluate(
      (matrix: any, html) => {
        const parsed = new (globalThis as any).DOMParser().parseFromString(html, 'text/html')
        matrix.replaceWith(parsed.getElementById('matrix'))
      },
      await plain.content(),
    )
    const shown = await matrixText(rendered)
    expect(shown.length).toBeGreaterThan(operations.length)
    expect(await matrixText(text)).toEqual(shown)
  })

  test('is filtered by facts, texts and answers, and explains a cell with the chosen facts', async () => {
    const page = await openReport()
    await page.locator('#filter-caller\\.role').selectOption('member')
    await page.getByRole('button', { name: /^boards\.delete, board\.visibility workspace, board\.caller member: 403/ }).waitFor()
    await page.locator('#filter-token\\.scope').selectOption('kanban:write')
    await page
      .getByRole('button', { name: /^boards\.delete, board\.visibility workspace, board\.caller creator: insufficient scope/ })
      .click()
    await page.locator('#why .verdict', { hasText: '403 insufficient_scope' }).waitFor()
    await page.keyboard.press('Escape')
    // The dialog tells that it is closed in a later turn.
    await page.waitForURL(url)
    await page.getByRole('button', { name: 'Reset' }).click()
    await page.getByLabel('Find', { exact: true }).fill('P5')
    await page.getByText(/^1 of \d+ rows$/).waitFor()
    await page.getByLabel('Find', { exact: true }).fill('boards update')
    await page.getByLabel('Show', { exact: true }).selectOption('refused everywhere')
    const refused = shipped.vocabulary.permissions
      .get('update Board')!
      .fields!.filter((field) => !shipped.permissionRules.some(({ fields }) => fields?.includes(field)))
    await page.getByText(new RegExp(`^${refused.length} of \\d+ rows$`)).waitFor()
    await page.getByRole('button', { name: 'Reset' }).click()
    await page.getByLabel('Columns', { exact: true }).selectOption('token')
    await page.getByRole('button', { name: 'cards.delete, token.scope kanban:write: insufficient scope. Why?' }).waitFor()
  })

  test('explains a denial with what is missing, and another answer when a fact is changed', async () => {
    const page = await openReport()
    await page.getByRole('button', { name: why }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: /caller\.role member/ }).click()
    await dialog.locator('.verdict', { hasText: '403 forbidden' }).waitFor()
    expect(await dialog.getByText('✗ not met: board.caller is creator').count()).toBe(1)
    expect(await dialog.getByText('✗ not met: caller.role is owner or admin').count()).toBe(1)
    expect(await dialog.getByText('Decision “creator or officer”, case “workspace member, member”.').count()).toBe(1)
    await dialog.getByLabel('board.visibility').selectOption('private')
    await dialog.getByLabel('board.caller').focus()
    await dialog.getByLabel('board.caller').selectOption('none')
    await dialog.locator('.verdict', { hasText: '404 not_found' }).waitFor()
    expect(await dialog.getByText('is false: the response is 404').count()).toBe(1)
    expect(await page.locator(':focus').inputValue()).toBe('none')
    const link = new URL(page.url()).hash
    const again = await openReport({}, link)
    await again.locator('#why .verdict', { hasText: '404 not_found' }).waitFor()
  })

  test('can be used with the keyboard, and printed', async () => {
    const page = await openReport()
    const first = page.locator('#matrix td button').first()
    await first.focus()
    expect(await page.locator('#matrix td button[tabindex="0"]').count()).toBe(1)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const labelOf = async (one: Locator) => (await one.getAttribute('aria-label'))!
    const focused = () => labelOf(page.locator(':focus'))
    const label = await focused()
    expect(label).toContain('Why?')
    expect(label.startsWith(await labelOf(first))).toBe(false)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(focused).toBe(label)
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByLabel('Find', { exact: true }).isVisible()).toBe(false)
  })
})
