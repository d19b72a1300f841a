import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'
import { expectAccessible, expectGood, looks, screenshot } from '../../support/chromium.ts'
import { startRedis, type RedisServer } from '../../support/redis.ts'

// Two processes on one Redis: the browser talks to one, and the agents to the other.
let redis: RedisServer
let demo: DemoTeam
let base: string
let boardId: string
let columns: readonly string[]

const agent: DemoTeam['agent'] = (...asked) => demo.agent(...asked)

beforeAll(async () => {
  redis = await startRedis()
  demo = await startDemo(redis.url)
  base = demo.base
  ;({ id: boardId, columns } = await demo.board(['To do', 'Doing', 'Done']))
  const label = await agent('POST', `/boards/${boardId}/labels`, { name: 'urgent', color: '#cf222e' })
  for (const [i, title] of ['Notes', 'Poster', 'Stickers', 'Press'].entries())
    await agent('POST', `/boards/${boardId}/cards`, {
      column_id: columns[i % 2]!,
      title,
      description: i === 0 ? 'See **this** and https://example.org.\n\n- one' : '',
      label_ids: i === 0 ? [label.id] : [],
      due_at: i < 2 ? '2026-01-01T00:00:00Z' : null,
      subtasks: i === 0 ? ['First', { title: 'Second', completed: true }] : [],
    })
})
afterAll(async () => {
  await demo.stop()
  await redis.stop()
})

const boardPath = () => `${base}/boards/${boardId}`
const isLive = (page: Page) => page.getByText('Live', { exact: true }).waitFor()
const tile = (page: Page, title: string) => page.locator('.tile', { hasText: title })
/** Waits until something is marked as changed. */
const isMarked = (place: Locator) => place.and(place.page().locator('.fresh')).waitFor()
const said = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()
const titles = (page: Page, column: number) => page.locator('.lane').nth(column).locator('.tile-title').allInnerTexts()
const focusedText = (page: Page) => page.locator(':focus').textContent()

describe('what an agent changes through another process', () => {
  test('appears at once, is highlighted, and names the token; focus and search stay', async () => {
    const page = await demo.open(boardPath(), { timezoneId: 'Asia/Kathmandu' })
    await isLive(page)
    await page.getByText('Poster').focus()
    const isKept = () => tile(page, 'Poster').evaluate((element: any) => element.isKept === true)
    await tile(page, 'Poster').evaluate((element: any) => (element.isKept = true))
    // What is new is shown for a few seconds only: it is waited for before it is made.
    const shown = Promise.all([
      isMarked(tile(page, 'Made by an agent')),
      said(page, 'demo kanban:admin of Olivia Stone created “Made by an agent”'),
    ])
    const card = await agent('POST', `/boards/${boardId}/cards`, { column_id: columns[2]!, title: 'Made by an agent' })
    await shown
    // The tile has a time in the zone of the person, and the new version of the page has it in UTC: that is no change.
    expect({ focused: await focusedText(page), isKept: await isKept() }).toEqual({ focused: 'Poster', isKept: true })
    await screenshot(page, 'board-live')

    const moved = said(page, 'demo kanban:admin of Olivia Stone moved “Made by an agent”')
    await agent('POST', `/cards/${card.id}/move`, { column_id: columns[0]!, to: 'first' })
    await moved
    expect({ first: (await titles(page, 0))[0], last: await titles(page, 2) }).toEqual({ first: 'Made by an agent', last: [] })
    await agent('DELETE', `/cards/${card.id}`)
    await tile(page, 'Made by an agent').waitFor({ state: 'detached' })
  })

  test('appears on a card that is open', async () => {
    const cards = await agent('GET', `/boards/${boardId}/cards?q=notes`)
    const page = await demo.open(`${base}/cards/${cards[0].id}`)
    await isLive(page)
    const shown = Promise.all([
      isMarked(page.locator('.comments li', { hasText: 'I have checked it.' })),
      said(page, 'demo kanban:admin of Olivia Stone commented on “Notes”'),
    ])
    await agent('POST', `/cards/${cards[0].id}/comments`, { body: 'I have **checked** it.' })
    await shown
    // What was written now is shown as its distance from now, like what the page had at first.
    await page.locator('.comments time', { hasText: /just now|minute/ }).waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.locator('.toast p:empty').waitFor({ state: 'attached' })
    await page.keyboard.press('Escape')
    await page.waitForURL(`**${boardPath()}`)
  })

  test('as a claim appears on its card, and leaves it when it has run out, which no change says', async () => {
    const card = await agent('POST', `/boards/${boardId}/cards`, { column_id: columns[2]!, title: 'Taken' })
    const page = await demo.open(boardPath())
    await isLive(page)
    const holder = tile(page, 'Taken').locator('.holder', { hasText: 'Claimed by demo kanban:admin of Olivia Stone, until' })
    // The shortest time of a claim is ten seconds.
    await agent('PUT', `/cards/${card.id}/claim`, { ttl: 10 })
    await holder.waitFor()
    // However narrow its column is, it has one line: the name is cut, and is whole in the title.
    const line = await holder.evaluate((element) => {
      element.closest<HTMLElement>('.lane')!.style.flexBasis = '9rem'
      const [name, clock] = [element.querySelector<HTMLElement>('.name')!, element.querySelector('.clock')!]
      const size = Number.parseFloat(getComputedStyle(element).fontSize)
      const lines = Math.floor(element.clientHeight / size)
      const isInside = clock.getBoundingClientRect().right < element.closest('.tile')!.getBoundingClientRect().right
      return { lines, isInside, isCut: name.scrollWidth > name.clientWidth, title: name.title }
    })
    expect(line).toEqual({ lines: 1, isInside: true, isCut: true, title: 'demo kanban:admin of Olivia Stone' })
    await holder.waitFor({ state: 'detached' })
    await agent('DELETE', `/cards/${card.id}`)
  })

  test('is not shown any more when the person has signed out in another tab', async () => {
    const page = await demo.signIn()
    await page.goto(boardPath())
    await isLive(page)
    const other = await page.context().newPage()
    await other.goto('/app')
    await other.locator('[data-menu] summary').click()
    await other.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.waitForURL('**/settings/sign-in**')
    expect(await page.locator('.tile').count()).toBe(0)
  })
})

test('the keys go from card to card, open a card, search, and show themselves', async () => {
  const page = await demo.open(boardPath())
  const press = (key: string) => page.keyboard.press(key)
  await press('ArrowDown')
  expect(await focusedText(page)).toBe('Notes')
  await press('ArrowDown')
  expect(await focusedText(page)).toBe('Stickers')
  await press('ArrowRight')
  expect(await focusedText(page)).toBe('Press')
  await press('k')
  await press('ArrowLeft')
  expect(await focusedText(page)).toBe('Notes')
  await press('?')
  await page.getByRole('dialog').getByText('Go from card to card').waitFor()
  await expectAccessible(page, 'keys')
  await press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await press('/')
  await page.keyboard.type('POST')
  // The page searches while one types: on a loaded machine, first for a part of the word.
  await page.waitForURL('**?q=POST')
  await tile(page, 'Press').waitFor({ state: 'detached' })
  expect({ first: await titles(page, 0), second: await titles(page, 1), search: new URL(page.url()).search }).toEqual({
    first: [],
    second: ['Poster'],
    search: '?q=POST',
  })
  await page.locator('summary', { hasText: 'Filters' }).click()
  await page.getByLabel('Due').selectOption('Without a due date')
  await tile(page, 'Poster').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Show all cards' }).click()
  await tile(page, 'Notes').waitFor()
  // This is another page: its script may come later than its cards.
  await isLive(page)
  await press('ArrowDown')
  await press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Notes' }).waitFor()
})

test('keys of one letter can be switched off, and on again from the menu', async () => {
  const page = await demo.open(boardPath())
  const dialog = page.getByRole('dialog', { name: 'Keys' })
  const box = dialog.getByLabel('Use keys of one letter or sign')
  await page.keyboard.press('?')
  await box.uncheck()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.reload()
  for (const key of ['?', '/', 'c']) await page.keyboard.press(key)
  expect({ isOpen: await dialog.isVisible(), isTyping: await page.evaluate("document.activeElement.matches('input')") }).toEqual({
    isOpen: false,
    isTyping: false,
  })
  await page.keyboard.press('ArrowDown')
  expect(await focusedText(page)).toBe('Notes')
  await page.locator('#board-menu > summary').click()
  await page.getByRole('button', { name: 'Keys', exact: true }).click()
  await box.check()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.keyboard.press('?')
  await dialog.waitFor()
})

test('a board is filtered by several labels and people', async () => {
  const cards = await agent('GET', `/boards/${boardId}/cards`)
  const poster = cards.find(({ title }: { title: string }) => title === 'Poster')
  const { user_id: me } = await agent('GET', '/account')
  await agent('PUT', `/cards/${poster.id}/assignees/${me}`)
  const page = await demo.open(boardPath())
  await isLive(page)
  await page.locator('summary', { hasText: 'Filters' }).click()
  await page.getByLabel('Me', { exact: true }).check()
  await tile(page, 'Notes').waitFor({ state: 'detached' })
  expect([await titles(page, 0), await titles(page, 1)]).toEqual([[], ['Poster']])
  await page.getByLabel('Nobody').check()
  await tile(page, 'Press').waitFor()
  await page.getByLabel('urgent').check()
  await page.getByLabel('Without a label').check()
  await page.locator('summary', { hasText: '2 active' }).waitFor()
  await page.reload()
  await tile(page, 'Press').waitFor()
  expect({ first: await titles(page, 0), query: new URL(page.url()).searchParams.getAll('assignee') }).toEqual({
    first: ['Notes', 'Stickers'],
    query: ['me', 'none'],
  })
  await agent('DELETE', `/cards/${poster.id}/assignees/${me}`)
})

test.each([
  ['a window of 1280 × 800', 1280, 800, 150],
  ['a phone', 390, 844, 160],
])('the first card is near the top of %s', async (_name, width, height, most) => {
  const page = await demo.open(boardPath(), { viewport: { width, height } })
  await isLive(page)
  // An alert about the account may stand above the board.
  await page.evaluate(`document.querySelector('.alerts')?.remove()`)
  expect((await page.locator('.tile').first().boundingBox())!.y).toBeLessThanOrEqual(most)
})

test.each([true, false])(
  'on a phone the filters stand behind a button that counts them, with JavaScript: %s',
  async (javaScriptEnabled) => {
    const page = await demo.open(`${boardPath()}?due=overdue`, { javaScriptEnabled, viewport: { width: 390, height: 844 } })
    const button = page.locator('summary', { hasText: 'Filters' })
    expect({ lines: (await button.innerText()).split('\n'), isOpen: await page.getByLabel('urgent').isVisible() }).toEqual({
      lines: ['Filters', '1 active'],
      isOpen: false,
    })
    await button.click()
    await page.getByLabel('urgent').check()
    if (!javaScriptEnabled) await page.getByRole('button', { name: 'Apply' }).click()
    await page.locator('summary', { hasText: '2 active' }).waitFor()
    if (!javaScriptEnabled) return
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    await page.locator('[data-search]:focus').waitFor()
  },
)

test('without JavaScript a person finds a board, filters it and opens a card', async () => {
  const page = await demo.open('/app', { javaScriptEnabled: false })
  await page.getByRole('link', { name: 'Spring release' }).click()
  expect(await page.getByText('Live', { exact: true }).isVisible()).toBe(false)
  await page.locator('summary', { hasText: 'Filters' }).click()
  await page.getByLabel('urgent').check()
  await page.getByRole('button', { name: 'Apply' }).click()
  expect(await page.locator('.tile-title').allInnerTexts()).toEqual(['Notes'])
  await page.getByRole('link', { name: 'Notes' }).click()
  for (const text of ['See this and', '1 of 2', 'urgent']) await page.getByText(text).first().waitFor()
})

test.each(looks)('every page of boards is accessible and fits its window: %s', async (look, options) => {
  const page = await demo.open('/app', options)
  const cards = await agent('GET', `/boards/${boardId}/cards?q=notes`)
  const all = {
    front: '/',
    boards: '/app',
    board: boardPath(),
    filtered: `${boardPath()}?due=overdue`,
    card: `${base}/cards/${cards[0].id}`,
    history: `${base}/cards/${cards[0].id}?history`,
    cards: `${base}/cards?view=overdue`,
    recent: `${base}/cards?view=recent`,
    none: `${base}/cards?q=absent`,
    absent: '/wrong',
  }
  for (const [name, path] of Object.entries(all)) {
    await page.goto(path)
    if (name === 'board') await isLive(page)
    await expectGood(page, name, look, 'all')
  }
  await page.goto(boardPath())
  await page.emulateMedia({ media: 'print' })
  expect({ hasHeader: await page.locator('body > header').isVisible(), hasTile: await tile(page, 'Press').isVisible() }).toEqual({
    hasHeader: false,
    hasTile: true,
  })
})
