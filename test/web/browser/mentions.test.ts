import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'
import { expectGood, looks, screenshot } from '../../support/chromium.ts'

// A person mentions others by name while somebody else works on the same card.
let demo: DemoTeam
let columns: readonly string[]
let boardId: string
let cardId: string
const idOf: Record<string, string> = {}

beforeAll(async () => {
  demo = await startDemo()
  ;({ id: boardId, columns } = await demo.board(['To do']))
  for (const { user_id, display_name } of await demo.agent('GET', '/members')) idOf[display_name] = user_id
})
beforeEach(async () => {
  cardId = (await demo.agent('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title: 'Poster' })).id
})
afterAll(() => demo.stop())

async function openCard(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await demo.open(`${demo.base}/cards/${cardId}`, options)
  await page.locator('[data-live][data-state=live]').waitFor()
  return page
}
const comment = (page: Page) => page.getByLabel('New comment')
const options = (page: Page) => page.getByRole('listbox', { name: 'Members' }).getByRole('option')
const offered = (page: Page) => options(page).allTextContents()
/** Types one key after another, and waits for the list that follows. */
async function write(page: Page, text: string, names: readonly string[]): Promise<void> {
  await page.keyboard.type(text)
  await expect.poll(() => offered(page)).toEqual(names)
}
/** The name of the active option, as the text area states it to screen readers. */
const active = (page: Page) =>
  page.evaluate(() => {
    const { document } = globalThis as any
    const option = document.getElementById(document.activeElement.getAttribute('aria-activedescendant') ?? '')
    return option && [option.textContent, option.getAttribute('aria-selected')].join(' ')
  })
const all = ['Adrian Cole', 'Ben Carter', 'Mira Patel', 'Nora Lindqvist']

test('with the keyboard: a name is chosen from the list, is an id in the text, can be undone, and is a name on the page', async () => {
  const page = await openCard()
  const requests: string[] = []
  page.on('request', (request) => requests.push(new URL(request.url()).pathname))
  await comment(page).focus()
  await write(page, 'Dear @', all)
  await page.getByText('4 members to mention').waitFor()
  expect(await active(page)).toBe('Adrian Cole true')
  for (const [key, name] of [
    ['ArrowDown', 'Ben Carter'],
    ['ArrowUp', 'Adrian Cole'],
    ['ArrowUp', 'Nora Lindqvist'],
    ['ArrowDown', 'Adrian Cole'],
  ] as const) {
    await page.keyboard.press(key)
    expect(await active(page)).toBe(`${name} true`)
  }
  await write(page, 'C', ['Adrian Cole', 'Ben Carter'])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  expect(await comment(page).inputValue()).toBe(`Dear @${idOf['Ben Carter']} `)
  await expect.poll(() => offered(page)).toEqual([])
  await page.keyboard.press('Control+Z')
  expect(await comment(page).inputValue()).toBe('Dear @C')
  await page.keyboard.press('Control+Shift+Z')
  await write(page, 'and @líND', ['Nora Lindqvist'])
  await page.keyboard.press('Tab')
  await page.keyboard.type('go.')
  expect(await comment(page).inputValue()).toBe(`Dear @${idOf['Ben Carter']} and @${idOf['Nora Lindqvist']} go.`)
  await page.keyboard.press('Control+Enter')
  const sent = page.locator('.comments li')
  await sent.waitFor()
  expect(await sent.locator('.mention').allTextContents()).toEqual(['@Ben Carter', '@Nora Lindqvist'])
  expect(requests.filter((path) => path.endsWith('/people'))).toEqual([`${demo.base}/boards/${boardId}/people`])
})

test('Escape closes the list and nothing else, and no list opens in words, addresses, or where nobody is found', async () => {
  const page = await openCard()
  await page.locator('#edit-description > summary').click()
  const text = page.locator('#edit-description textarea')
  await page.locator('#edit-description textarea:focus').waitFor()
  await write(page, '@mi', ['Mira Patel'])
  await page.keyboard.press('Escape')
  await expect.poll(() => options(page).count()).toBe(0)
  await page.keyboard.type('r')
  expect(await options(page).count(), 'more letters of the same name').toBe(0)
  await page.keyboard.type('a, x@mira @nobody')
  expect([await text.inputValue(), await options(page).count(), await page.locator('#edit-description[open]').count()]).toEqual([
    '@mira, x@mira @nobody',
    0,
    1,
  ])
  await write(page, ' @be', ['Ben Carter'])
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Home')
  await expect.poll(() => options(page).count()).toBe(0)
  await page.keyboard.press('Escape')
  expect([await page.locator('#edit-description[open]').count(), new URL(page.url()).pathname]).toEqual([0, `${demo.base}/cards/${cardId}`])
  expect(await text.inputValue()).toBe('@mira, x@mira @nobody @be')
})

test('a live update leaves the open list, the text and the focus', async () => {
  const page = await openCard()
  await comment(page).focus()
  await write(page, 'Half a sentence for @', all)
  await page.keyboard.press('ArrowDown')
  await demo.agent('POST', `/cards/${cardId}/comments`, { body: 'Of an agent' })
  await demo.agent('PATCH', `/cards/${cardId}`, { title: 'Large poster', description: 'New' })
  await page.locator('.comments li', { hasText: 'Of an agent' }).waitFor()
  await page.getByRole('heading', { level: 1, name: 'Large poster' }).waitFor()
  expect([await offered(page), await active(page)]).toEqual([all, 'Ben Carter true'])
  await page.keyboard.press('Enter')
  expect(await comment(page).inputValue()).toBe(`Half a sentence for @${idOf['Ben Carter']} `)
})

test('a live update that gives the text another place leaves its open list', async () => {
  const created = { column_id: columns[0], title: 'Poster', subtasks: ['Draw'] }
  cardId = (await demo.agent('POST', `/boards/${boardId}/cards`, created)).id
  const page = await openCard()
  await page.locator('#edit-description > summary').click()
  await page.locator('#edit-description textarea:focus').waitFor()
  await write(page, 'For @', all)
  await page.keyboard.press('ArrowDown')
  // The description of a card stands before its subtasks; what the card lacks is offered after them.
  await demo.agent('PATCH', `/cards/${cardId}`, { description: 'Of an agent' })
  await page.locator('.part #description', { hasText: 'Of an agent' }).waitFor()
  expect([await offered(page), await active(page)]).toEqual([all, 'Ben Carter true'])
})

test('with the mouse and by touch, in the forms of other pages as well', async () => {
  const created = await demo.agent('POST', `/cards/${cardId}/comments`, { body: 'First' })
  const { epoch } = await demo.other.agent('PUT', `/cards/${cardId}/claim`, { ttl: 300 })
  await demo.other.agent('POST', `/cards/${cardId}/claim/question`, { question: 'Who?' }, { 'if-claim': String(epoch) })
  const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
  for (const [path, label] of [
    [`/cards/${cardId}`, 'New comment'],
    [`/do/comments.create?card_id=${cardId}`, 'Body (Markdown)'],
    ['/notices', 'Answer to the question on Poster'],
  ] as const) {
    const page = await demo.open(`${demo.base}${path}`, phone)
    const field = page.getByLabel(label)
    await field.tap()
    await write(page, '@', all)
    await options(page).nth(2).tap()
    await page.keyboard.type('!')
    expect([path, await field.inputValue()]).toEqual([path, `@${idOf['Mira Patel']} !`])
  }
  expect(created.body).toBe('First')
  const page = await openCard()
  await comment(page).click()
  await write(page, 'So, @a', ['Adrian Cole'])
  await options(page).click()
  expect([await comment(page).inputValue(), await page.locator('[name=body]:focus').count()]).toEqual([`So, @${idOf['Adrian Cole']} `, 1])
  // A click elsewhere closes it.
  await write(page, '@', all)
  await page.locator('#card-title').click()
  await expect.poll(() => options(page).count()).toBe(0)
})

test('on a card that is shown over its board, and Escape closes neither the card nor what is written', async () => {
  const page = await demo.open(`${demo.base}/boards/${boardId}`)
  await page.locator('[data-live][data-state=live]').waitFor()
  await page.locator(`[id="${cardId}"] .tile-title`).click()
  await comment(page).click()
  await write(page, '@n', ['Nora Lindqvist'])
  await page.keyboard.press('Escape')
  await expect.poll(() => options(page).count()).toBe(0)
  await write(page, ' @m', ['Mira Patel'])
  await options(page).click()
  expect([await comment(page).inputValue(), await page.locator('[name=body]:focus').count()]).toEqual([`@n @${idOf['Mira Patel']} `, 1])
})

test('without the names, a text is written as before', async () => {
  const page = await openCard()
  await page.route('**/people', (route) => route.fulfill({ status: 429, body: '' }))
  await comment(page).focus()
  const refused = page.waitForResponse('**/people')
  await page.keyboard.type('@a')
  await refused
  await page.keyboard.type('b')
  await page.keyboard.press('Enter')
  expect([await comment(page).inputValue(), await options(page).count()]).toEqual(['@ab\n', 0])
})

test('in colors that the system chooses, the active name is seen', async () => {
  const page = await openCard({ forcedColors: 'active' })
  await comment(page).focus()
  await write(page, '@', all)
  await screenshot(page, 'mentions-forced-colors')
  const style = (at: number) =>
    options(page)
      .nth(at)
      .evaluate((option: any) => (globalThis as any).getComputedStyle(option).outlineStyle)
  expect([await style(0), await style(1)]).toEqual(['solid', 'none'])
})

test.each(looks)('the list is accessible and fits its window: %s', async (look, of) => {
  await demo.agent('PATCH', `/cards/${cardId}`, { description: `For @${idOf['Ben Carter']}.` })
  const page = await openCard(of)
  await page.locator('.mention').waitFor()
  await comment(page).focus()
  await write(page, 'x '.repeat(60) + '@', all)
  await expectGood(page, 'mentions', look, 'all')
})
