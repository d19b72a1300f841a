import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectGood, looks } from '../../support/chromium.ts'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'

let demo: DemoTeam
let board: Awaited<ReturnType<DemoTeam['board']>>
let page: Page
/** How many documents the window has loaded. */
let loads = 0
const ids: Record<string, string> = {}

beforeAll(async () => {
  demo = await startDemo()
  board = await demo.board(['To do'])
  const other = await demo.agent('POST', '/boards', { name: 'Autumn fair' })
  const column = await demo.agent('POST', `/boards/${other.id}/columns`, { name: 'To do' })
  for (const [title, column_id, on] of [
    ['Zebra crossing', board.columns[0], board.id],
    ['Zebra stall', column.id, other.id],
  ])
    ids[title] = (await demo.agent('POST', `/boards/${on}/cards`, { column_id, title })).id
  ids['Autumn fair'] = other.id
})
afterAll(() => demo.stop())

async function open(path: string, options: BrowserContextOptions = {}): Promise<void> {
  page = await demo.open(path, options)
  // The shortcut is there when the script is.
  await page.locator('[data-find][title*="K)"]').waitFor()
  loads = 0
  page.on('domcontentloaded', () => loads++)
}
const field = () => page.getByRole('combobox', { name: 'Search boards and cards' })
const option = (name: string) => page.getByRole('option', { name, exact: true })
const focused = () => page.evaluate('document.activeElement.id || document.activeElement.className || document.activeElement.name')
async function type(text: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.locator('.chooser input:focus').waitFor()
  await page.keyboard.type(text)
}

test('on any page, a key, some letters and Enter lead to a card, and Escape gives the focus back', async () => {
  await open('/settings/account')
  await page.getByRole('link', { name: 'API tokens' }).focus()
  await type('zeb cross')
  await option('Zebra crossing Spring release').waitFor()
  await page.keyboard.press('Escape')
  expect({ isThere: await field().isVisible(), focused: await page.locator(':focus').textContent() }).toEqual({
    isThere: false,
    focused: 'API tokens',
  })
  await type('zeb cross')
  // Before the search has answered: what is chosen is what it finds.
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/cards/${ids['Zebra crossing']}`)
  await type('fair')
  await option('Autumn fair Board').waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/boards/${ids['Autumn fair']}`)
})

test('on a board, its card opens over it; a card of another board opens as a page', async () => {
  await open(`${demo.base}/boards/${board.id}`)
  await page.getByText('Live', { exact: true }).waitFor()
  await type('zebra crossing')
  await option('Zebra crossing Spring release').waitFor()
  await page.keyboard.press('Enter')
  await page.locator('dialog.card-panel h1', { hasText: 'Zebra crossing' }).waitFor()
  expect(loads).toBe(0)
  // Over the card, from a field with half a text.
  await page.locator('dialog.card-panel #write-comment textarea').fill('Half')
  await type('stall')
  await option('Zebra stall Autumn fair').waitFor()
  await page.keyboard.press('Escape')
  expect({ focused: await focused(), written: await page.locator('#write-comment textarea').inputValue(), loads }).toEqual({
    focused: 'body',
    written: 'Half',
    loads: 0,
  })
  await page.locator('#write-comment textarea').fill('')
  await type('stall')
  await option('Zebra stall Autumn fair').click()
  await page.waitForURL(`**/cards/${ids['Zebra stall']}`)
  await page.locator('main > article.whole-card').waitFor()
})

test('arrows choose, the last choice is the search of cards, and Ctrl+Enter opens another tab', async () => {
  await open('/app')
  await page.getByTitle('Search (Ctrl+K)').click()
  await option('Autumn fair Board').waitFor()
  await page.keyboard.type('zebra')
  await option('Zebra stall Autumn fair').waitFor()
  await page.keyboard.press('ArrowDown')
  const opened = page.context().waitForEvent('page')
  await page.keyboard.press('Control+Enter')
  await (await opened).waitForURL('**/cards/crd_*')
  await type('zebra')
  await option('All cards with “zebra”').waitFor()
  await option('Zebra stall Autumn fair').waitFor()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/cards?view=recent&q=zebra')
})

test.each(looks)('it is accessible and fits its window: %s', async (look, options) => {
  await open('/app', options)
  await page.locator('[data-find]').click()
  await page.locator('.chooser').getByRole('option').first().waitFor()
  await expectGood(page, 'search-everywhere', look, 'all')
})
