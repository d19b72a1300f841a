import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { diffPolicies } from '../../../src/policy/decision-diff.ts'
import { operations } from '../../../src/resources/table.ts'
import { renderReport } from '../../../src/web/policy-report/page.ts'
import { expectAccessible, expectFits, openBrowser, screenshot } from '../../support/chromium.ts'
import { handWrittenCells, handWrittenOperations } from '../../support/hand-written-decisions.ts'
import { decideCell, shipped } from '../../support/policy.ts'

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

/** Opens the file. It must make no other request and report no problem. */
async function openReport(options: BrowserContextOptions = {}, hash = '') {
  const context = await browser.newContext({ reducedMotion: 'reduce', viewport: { width: 1300, height: 900 }, ...options })
  context.setDefaultTimeout(120_000)
  const problems: string[] = []
  const requests: string[] = []
  context.on('request', (request) => requests.push(request.url().split('#')[0]!))
  context.on('console', (message) => problems.push(message.text()))
  context.on('weberror', (error) => problems.push(String(error.error())))
  const page = await context.newPage()
  await page.goto(url + hash)
  const close = async () => {
    expect([problems, requests.filter((one) => one !== 'data:,')]).toEqual([[], [url]])
    await context.close()
  }
  return { page, close }
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
  test.each([
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['phone', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
  ] as const)('is accessible, fits its window and makes no request: %s', async (look, options) => {
    const { page, close } = await openReport(options)
    const rules = look === 'dark' ? 'color' : 'all'
    await screenshot(page, `policies-${look}`)
    if (look !== 'phone') await expectAccessible(page, look, rules)
    await expectFits(page, look)
    await page.getByRole('button', { name: why }).click()
    await screenshot(page, `policies-why-${look}`)
    await expectFits(page, look)
    // The rest was examined before, which takes seconds.
    await page.evaluate(() => {
      const main = (globalThis as any).document.querySelector('main')
      // The targets of the links in the dialog stay.
      main.replaceChildren(
        ...[...main.querySelectorAll('[id]')].map(({ id }) => Object.assign(main.ownerDocument.createElement('p'), { id })),
      )
    })
    await expectAccessible(page, `${look}, why`, rules)
    await close()
  })

  test('shows without JavaScript the matrix that the script makes', async () => {
    const plain = await openReport({ javaScriptEnabled: false })
    const rendered = await openReport()
    expect(await plain.page.getByLabel('Find', { exact: true }).isVisible()).toBe(false)
    // Without JavaScript, nothing can be evaluated: the page is opened again as text.
    const text = await openReport()
    await text.page.evaluate(
      (html) => {
        const { document, DOMParser } = globalThis as any
        const parsed = new DOMParser().parseFromString(html, 'text/html')
        document.getElementById('matrix').replaceWith(parsed.getElementById('matrix'))
      },
      await plain.page.content(),
    )
    const shown = await matrixText(rendered.page)
    expect(shown.length).toBeGreaterThan(operations.length)
    expect(await matrixText(text.page)).toEqual(shown)
    for (const one of [plain, rendered, text]) await one.close()
  })

  test('answers in a sample of cells what the hand-written decisions and the engine say, and names the rules', async () => {
    const { page, close } = await openReport()
    const all = handWrittenOperations.flatMap((operation) => handWrittenCells(operation).map((cell) => ({ operation, cell })))
    // A prime number, so that the sample has every value of every fact.
    const sample = all.filter((_one, i) => i % 101 === 0)
    const links = sample.map(({ operation, cell }) => {
      const { groups } = shipped.vocabulary.permissions.get(operation.permission)!
      const rest = groups.flatMap((group) => shipped.vocabulary.groups.get(group)!).map(({ name, values }) => [name, values[0]!])
      const facts = { ...Object.fromEntries(rest), ...cell.facts }
      const field = cell.field === undefined ? {} : { field: cell.field }
      return { facts, link: `#why?${new URLSearchParams({ operation: operation.id, ...field, ...facts })}` }
    })
    const shown: string[][] = await page.evaluate(
      (hashes) => {
        const { document, history, HashChangeEvent, dispatchEvent } = globalThis as any
        return hashes.map((hash) => {
          history.replaceState(null, '', hash)
          dispatchEvent(new HashChangeEvent('hashchange'))
          const dialog = document.getElementById('why')
          const titles = [...dialog.querySelectorAll('.stage h3')].map((title: any) => title.textContent)
          return [dialog.querySelector('.verdict').textContent.trim(), titles.at(-2), titles.at(-1)]
        })
      },
      links.map(({ link }) => link),
    )
    for (const [i, { operation, cell }] of sample.entries()) {
      const { rules } = decideCell(shipped, operation.permission, { facts: links[i]!.facts, field: cell.field })
      const [verdict, byRules, byHand] = shown[i]!
      const expected = { ok: /Allowed$/, 401: /401:/, 403: /403 forbidden/, 404: /404 not_found|Left out/ }[cell.response]
      expect([links[i]!.link, verdict]).toEqual([links[i]!.link, expect.stringMatching(expected)])
      expect(byRules).toBe(`3. Permission table: ${rules.length > 0 ? `allowed by ${rules.join(', ')}` : 'no rule allows it'}`)
      expect(byHand).toBe(`Hand-written decision: ${cell.response}, as the tables`)
    }
    await close()
  })

  test('is filtered by facts, texts and answers, and explains a cell with the chosen facts', async () => {
    const { page, close } = await openReport()
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
    await close()
  })

  test('explains a denial with what is missing, and another answer when a fact is changed', async () => {
    const { page, close } = await openReport()
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
    expect(await dialog.getByLabel('board.caller').evaluate((select: any) => select === select.ownerDocument.activeElement)).toBe(true)
    const link = new URL(page.url()).hash
    await close()
    const again = await openReport({}, link)
    await again.page.locator('#why .verdict', { hasText: '404 not_found' }).waitFor()
    await again.close()
  })

  test('can be used with the keyboard, and remembers the theme', async () => {
    const { page, close } = await openReport({ colorScheme: 'light' })
    const first = page.locator('#matrix td button').first()
    await first.focus()
    expect(await page.locator('#matrix td button[tabindex="0"]').count()).toBe(1)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const focused = () => page.evaluate(() => (globalThis as any).document.activeElement.getAttribute('aria-label'))
    const label = await focused()
    expect([label, label.startsWith(await first.getAttribute('aria-label'))]).toEqual([expect.stringContaining('Why?'), false])
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(focused).toBe(label)
    const ground = () => page.evaluate(() => (globalThis as any).getComputedStyle((globalThis as any).document.body).backgroundColor)
    const light = await ground()
    await page.getByLabel('Theme').selectOption('dark')
    expect(await ground()).not.toBe(light)
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByLabel('Find', { exact: true }).isVisible()).toBe(false)
    await close()
  })
})
