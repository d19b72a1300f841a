import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectAccessible, expectGood, looks } from '../../support/chromium.ts'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'

let demo: DemoTeam
let board: Awaited<ReturnType<DemoTeam['board']>>
let page: Page
/** How many documents the window has loaded. */
let loads = 0

const agent: DemoTeam['agent'] = (...asked) => demo.agent(...asked)

beforeAll(async () => {
  demo = await startDemo()
})
afterAll(() => demo.stop())

/** Two columns of forty and two cards. */
beforeEach(async () => {
  board = await demo.board(['To do', 'Done'])
  const operations = Array.from({ length: 42 }, (_, i) => ({
    operation: 'cards.create',
    body: { column_id: board.columns[i < 40 ? 0 : 1], title: `Card ${i + 1}`, description: i === 29 ? 'All of **it**' : '' },
  }))
  for (const some of [operations.slice(0, 21), operations.slice(21)]) await agent('POST', `/boards/${board.id}/batch`, { operations: some })
})

async function open(query = '', options: BrowserContextOptions = {}): Promise<void> {
  page = await demo.open(`${demo.base}/boards/${board.id}${query}`, options)
  await page.getByText('Live', { exact: true }).waitFor()
  loads = 0
  page.on('domcontentloaded', () => loads++)
}
const tile = (title: string) => page.locator('.tile', { has: page.getByRole('link', { name: title, exact: true }) })
const link = (title: string) => page.getByRole('link', { name: title, exact: true })
const panel = () => page.locator('dialog.card-panel')
const heading = (title: string) => panel().getByRole('heading', { level: 1, name: title, exact: true })
const focused = () => page.locator(':focus').textContent()
const keys = async (...names: string[]) => {
  for (const name of names) await page.keyboard.press(name)
}
const path = () => page.evaluate(() => (globalThis as any).location.pathname as string)
const scrolled = () =>
  page
    .locator('.tiles')
    .first()
    .evaluate((list: any) => list.scrollTop as number)
const cardOf = async (title: string) =>
  (await agent('GET', `/boards/${board.id}/cards?limit=100`)).find((card: { title: string }) => card.title === title)
/** Expects the board as it was left: its address, scrolling, filter and focus, and no page loaded. */
async function expectBoard(query: string, scroll: number, title: string): Promise<void> {
  await panel().waitFor({ state: 'hidden' })
  await page.waitForURL(`**/boards/${board.id}${query}`)
  expect({ scroll: await scrolled(), focused: await focused(), loads }).toEqual({ scroll, focused: title, loads: 0 })
}

describe('a card opens over its board', () => {
  test.each([
    ['Escape', () => keys('Escape')],
    ['going back', () => page.goBack()],
    ['its button', () => panel().getByRole('button', { name: 'Close', exact: true }).first().click()],
    ['a click beside it', () => page.mouse.click(5, 400)],
    ['the link to the board', () => panel().getByRole('link', { name: 'Spring release' }).click()],
  ])('%s leads back to exactly where it was', async (_name, leave) => {
    await open('?state=open')
    await link('Card 30').focus()
    const scroll = await scrolled()
    expect(scroll).toBeGreaterThan(0)
    await keys('Enter')
    await heading('Card 30').waitFor()
    const { id } = await cardOf('Card 30')
    expect({ path: await path(), title: await page.title() }).toEqual({
      path: `${demo.base}/cards/${id}`,
      title: expect.stringContaining('Card 30 · Spring release'),
    })
    await leave()
    await expectBoard('?state=open', scroll, 'Card 30')
    expect(await page.title()).toContain('Spring release · Lanekeeper')
  })

  test('both are live: the card shows a comment, and the board behind it what moves', async () => {
    await open()
    await link('Card 2').click()
    await heading('Card 2').waitFor()
    const { id } = await cardOf('Card 2')
    await agent('POST', `/cards/${id}/comments`, { body: 'Seen by an agent' })
    await panel().getByText('Seen by an agent').waitFor()
    await agent('POST', `/cards/${id}/move`, { column_id: board.columns[1], to: 'last' })
    await page.locator('.lane').nth(1).locator('.tile', { hasText: 'Card 2' }).waitFor()
    await panel().getByText('Done', { exact: true }).first().waitFor()
    await keys('Escape')
    await expectBoard('', await scrolled(), 'Card 2')
  })

  test('its forms work in place, and the board shows the result', async () => {
    await open()
    await link('Card 3').click()
    await heading('Card 3').waitFor()
    await panel().locator('#edit-title summary').click()
    await panel().locator('#title-text').fill('Card three')
    await keys('Enter')
    await heading('Card three').waitFor()
    await panel().locator('#write-comment textarea').fill('Done soon')
    await keys('Control+Enter')
    await panel().locator('.comments li', { hasText: 'Done soon' }).waitFor()
    await keys('Escape', 'Escape')
    await tile('Card three').waitFor()
    await expectBoard('', await scrolled(), 'Card three')
  })

  test('what was done there is taken back there, by a key', async () => {
    await open()
    await link('Card 7').click()
    await heading('Card 7').waitFor()
    await panel()
      .getByRole('button', { name: /^Complete/ })
      .click()
    await panel().getByText('The card is completed.').waitFor()
    await panel().focus()
    await keys('u')
    await panel().getByText('Undone: “Card 7” is completed.').waitFor()
    expect((await cardOf('Card 7')).completed_at).toBeNull()
  })

  test('what is written and not sent is there when the card is opened again', async () => {
    await open()
    await link('Card 1').click()
    await heading('Card 1').waitFor()
    await panel().locator('#write-comment textarea').fill('Half')
    await keys('Escape', 'Escape')
    await panel().waitFor({ state: 'hidden' })
    await link('Card 2').click()
    await heading('Card 2').waitFor()
    expect(await panel().locator('#write-comment textarea').inputValue()).toBe('')
    await keys('Escape')
    await panel().waitFor({ state: 'hidden' })
    await agent('PATCH', `/cards/${(await cardOf('Card 1')).id}`, { title: 'Card one' })
    await link('Card one').click()
    await heading('Card one').waitFor()
    expect(await panel().locator('#write-comment textarea').inputValue()).toBe('Half')
  })

  test('its address leads to its whole page, and going back from there leads to the board', async () => {
    await open()
    await link('Card 4').click()
    await heading('Card 4').waitFor()
    await page.reload()
    await page.locator('main > article.whole-card').waitFor()
    expect(await panel().count()).toBe(0)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.goBack()
    await tile('Card 4').waitFor()
    await page.goForward()
    await page.getByRole('heading', { level: 1, name: 'Card 4', exact: true }).waitFor()
  })

  test('another card opens in its place, and Escape leads back to the board in one step', async () => {
    const [first, second] = [await cardOf('Card 1'), await cardOf('Card 41')]
    await agent('PUT', `/cards/${first.id}/blockers/${second.id}`)
    await open()
    await link('Card 1').click()
    await heading('Card 1').waitFor()
    await panel().getByRole('link', { name: 'Card 41' }).click()
    await heading('Card 41').waitFor()
    await page.goBack()
    await heading('Card 1').waitFor()
    await page.goForward()
    await heading('Card 41').waitFor()
    await keys('Escape')
    await panel().waitFor({ state: 'hidden' })
    await page.waitForURL(`**/boards/${board.id}`)
    expect(loads).toBe(0)
  })

  test('its history is shown in place', async () => {
    await open()
    await link('Card 6').click()
    await panel().getByRole('link', { name: 'Show who changed this card, and when' }).click()
    await panel().locator('.history > li').first().waitFor()
    expect(await path()).toContain('/cards/')
    await keys('Escape')
    await expectBoard('', await scrolled(), 'Card 6')
  })

  test('the first click beside an open form counts, although the cards move when the form closes', async () => {
    await open()
    await page.locator('.lane').first().getByText('Add card').click()
    await page.locator('.adder input:focus').waitFor()
    await page
      .locator('.tiles')
      .first()
      .evaluate((list: any) => (list.scrollTop = list.scrollHeight))
    await link('Card 40').click()
    await heading('Card 40').waitFor()
  })

  test('a click with another button or key opens it elsewhere', async () => {
    await open()
    const opened = page.context().waitForEvent('page')
    await link('Card 5').click({ modifiers: ['ControlOrMeta'] })
    await (await opened).locator('main > article.whole-card').waitFor()
    expect(await panel().isVisible()).toBe(false)
  })

  test.each(looks)('it is accessible and fits its window: %s', async (look, options) => {
    await open('', options)
    await link('Card 30').click()
    await heading('Card 30').waitFor()
    await expectGood(page, 'card-panel', look, 'all')
  })
})

describe('beside a tile', () => {
  const chooser = () => page.locator('.chooser')
  const on = async (title: string) => {
    await open()
    await link(title).focus()
  }

  test('two keys assign a card to the person, and two more take it back', async () => {
    await on('Card 1')
    await keys('a', 'Enter')
    await tile('Card 1').getByTitle('Olivia Stone').waitFor()
    expect(await focused()).toBe('Card 1')
    await keys('a', 'Enter')
    await tile('Card 1').getByTitle('Olivia Stone').waitFor({ state: 'detached' })
    expect(loads).toBe(0)
  })

  test('people are found by a part of their name, and the list can be left', async () => {
    await on('Card 1')
    await keys('a')
    await chooser().getByRole('option').nth(1).waitFor()
    await expectAccessible(page, 'chooser')
    await page.keyboard.type('cole')
    await keys('Enter')
    await tile('Card 1').getByTitle('Adrian Cole').waitFor()
    await keys('a')
    await page.keyboard.type('nobody has this name')
    await chooser().getByText('Nothing matches.').waitFor()
    await keys('Escape')
    await chooser().waitFor({ state: 'hidden' })
    expect(await focused()).toBe('Card 1')
  })

  test('a label is made and put on a card, and taken off', async () => {
    await on('Card 2')
    await keys('l')
    await page.keyboard.type('urgent')
    await chooser().getByRole('option', { name: 'New label “urgent”' }).waitFor()
    await keys('Enter', 'ArrowDown', 'Enter')
    await tile('Card 2').getByText('urgent').waitFor()
    expect(await agent('GET', `/boards/${board.id}/labels`)).toMatchObject([{ name: 'urgent', color: '#1a7f37' }])
    await keys('l', 'Enter')
    await tile('Card 2').getByText('urgent').waitFor({ state: 'detached' })
  })

  test.each([
    ['tomorrow', ['t', 'o', 'm'], '2026-03-01T22:59:00.000Z'],
    ['a date', [...'2026-12-24'], '2026-12-24T22:59:00.000Z'],
  ])('a card becomes due at the end of a day in the zone of the person: %s', async (_name, typed, due) => {
    await open('', { timezoneId: 'Europe/Berlin' })
    await page.clock.setFixedTime('2026-02-28T12:00:00Z')
    await link('Card 3').focus()
    await keys('d', ...typed, 'Enter')
    await expect.poll(async () => (await cardOf('Card 3')).due_at).toBe(due)
    await keys('d')
    await page.keyboard.type('no due')
    await keys('Enter')
    await expect.poll(async () => (await cardOf('Card 3')).due_at).toBeNull()
  })

  test('a card is renamed, and a name that somebody else has changed meanwhile is not overwritten', async () => {
    await on('Card 4')
    await keys('e')
    await page.keyboard.type('Card four')
    await keys('Enter')
    await tile('Card four').waitFor()
    await keys('e')
    await page.keyboard.type('Card 4.0')
    await agent('PATCH', `/cards/${(await cardOf('Card four')).id}`, { title: 'Card IV' })
    await keys('Enter')
    const conflict = page.locator('dialog.conflict')
    await conflict.getByText('Card IV').first().waitFor()
    await page.keyboard.press('Escape')
    await conflict.waitFor({ state: 'detached' })
    await tile('Card IV').waitFor()
  })

  test('a card is moved to a column, with a mouse, too', async () => {
    await on('Card 5')
    await keys('m')
    await page.keyboard.type('done')
    await keys('Enter')
    await page.locator('.lane').nth(1).locator('.tile', { hasText: 'Card 5' }).waitFor()
    await tile('Card 6').hover()
    await tile('Card 6').getByRole('button').click()
    await page.getByRole('menuitem', { name: 'Move', exact: true }).click()
    await chooser().getByRole('option', { name: 'Done' }).click()
    await page.locator('.lane').nth(1).locator('.tile', { hasText: 'Card 6' }).waitFor()
    expect(loads).toBe(0)
  })
})
