import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'

let demo: DemoTeam
let board: { readonly id: string; readonly columns: readonly string[] }
let path: string
beforeAll(async () => {
  demo = await startDemo()
  board = await demo.board(['To do', 'Doing'])
  path = `${demo.base}/boards/${board.id}`
})
afterAll(() => demo.stop())

const isLive = (page: Page) => page.locator('[data-live][data-state=live]').waitFor()
const isShown = (page: Page, title: string) => page.locator('.tile-title', { hasText: title }).waitFor()
const create = (title: string, column = 0) => demo.agent('POST', `/boards/${board.id}/cards`, { column_id: board.columns[column]!, title })
/** Opens further tabs of the same browser. */
const openTabs = async (first: Page, count: number) => {
  const tabs = [first]
  while (tabs.length < count) {
    const tab = await first.context().newPage()
    await tab.goto(path)
    tabs.push(tab)
  }
  await Promise.all(tabs.map(isLive))
  return tabs
}
/** What the columns of a page show. */
const shown = (page: Page) =>
  page
    .locator('.lane')
    .evaluateAll((lanes: any[]) =>
      lanes.map((lane) => [
        lane.querySelector('h2').textContent.replaceAll(/\s+/g, ' ').trim(),
        ...Array.from(lane.querySelectorAll('.tile-title'), (title: any) => title.textContent),
      ]),
    )

test('twenty tabs of a browser are live, and a tab in the background asks for nothing until somebody looks at it', async () => {
  const [first, ...others] = await openTabs(await demo.open(path), 20)
  await create('For all tabs')
  await Promise.all([first!, ...others].map((tab) => isShown(tab, 'For all tabs')))
  const last = others.at(-1)!
  const asked: string[] = []
  last.on('request', (request) => asked.push(request.url()))
  const look = (state: string) =>
    last.evaluate((visible) => {
      const { document, Event } = globalThis as any
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => visible })
      document.dispatchEvent(new Event('visibilitychange'))
    }, state)
  await look('hidden')
  await create('Meanwhile')
  await isShown(first!, 'Meanwhile')
  expect([asked, await last.locator('.tile-title', { hasText: 'Meanwhile' }).count()]).toEqual([[], 0])
  await look('visible')
  await isShown(last, 'Meanwhile')
})

test('a change is shown where it is without the page being fetched, and so is what the person does', async () => {
  // A page without cards is fetched with the first one.
  await create('Plan')
  const page = await demo.open(path)
  await isLive(page)
  const fetched: string[] = []
  page.on('request', (request) => fetched.push(`${request.method()} ${new URL(request.url()).pathname.replace(demo.base, '')}`))
  const [one, two] = [await create('Sow', 1), await create('Water', 1)]
  await create('Weed', 1)
  await demo.agent('PATCH', `/columns/${board.columns[1]}`, { name: 'At work', wip_limit: 2 })
  const late = await demo.agent('POST', `/boards/${board.id}/columns`, { name: 'Late' })
  await demo.agent('POST', `/columns/${late.id}/move`, { before: board.columns[1] })
  await demo.agent('POST', `/cards/${two.id}/move`, { column_id: board.columns[1], before: one.id })
  await expect
    .poll(async () => (await shown(page)).slice(1))
    .toEqual([['Late 0 cards'], ['At work 3 cards · limit 2, which is exceeded', 'Water', 'Sow', 'Weed']])
  await demo.agent('DELETE', `/cards/${one.id}`)
  await expect.poll(async () => (await shown(page))[2]).toEqual(['At work 2 cards · limit 2', 'Water', 'Weed'])
  expect(fetched).toEqual([])

  await page.locator(`[id="${late.id}-add"] summary`).click()
  const title = page.locator(`[id="${late.id}-add"] input[name=title]`)
  await title.fill('Mine')
  await title.press('Enter')
  await expect.poll(async () => (await shown(page))[1]).toEqual(['Late 1 cards', 'Mine'])
  await demo.agent('POST', `/columns/${late.id}/archive`)
  await expect.poll(() => page.locator('.lane').count()).toBe(2)
  await expect.poll(() => fetched).toEqual(['POST /do/cards.create', `GET /boards/${board.id}/changes`])
})

test('a page with filters shows what matches them', async () => {
  const page = await demo.open(`${path}?q=needle`)
  await isLive(page)
  await create('In a haystack')
  const card = await create('A needle')
  await isShown(page, 'A needle')
  await page.getByText('1 card matches.').waitFor()
  expect(await page.locator('.tile').count()).toBe(1)
  await demo.agent('PATCH', `/cards/${card.id}`, { title: 'A pin' })
  await page.getByText('0 cards match.').waitFor()
})

test('what could not be fetched is fetched again, and what is half-written stays, with the focus', async () => {
  const page = await demo.open(path)
  await isLive(page)
  await page.locator(`[id="${board.columns[0]}-add"] summary`).click()
  const title = page.locator(`[id="${board.columns[0]}-add"] input[name=title]`)
  await title.pressSequentially('Half')
  let refused = 0
  await page.route(
    ({ pathname }) => pathname === path,
    async (route) => (refused++ === 0 ? route.fulfill({ status: 429, body: '' }) : route.continue()),
  )
  await demo.agent('PATCH', `/boards/${board.id}`, { name: 'Autumn release' })
  await page.getByRole('heading', { name: 'Autumn release' }).waitFor()
  await isLive(page)
  await demo.agent('POST', `/columns/${board.columns[0]}/move`, { to: 'last' })
  await expect.poll(async () => (await page.locator('.lane').last().getAttribute('id')) === board.columns[0]).toBe(true)
  await page.keyboard.type(' written')
  expect([refused > 1, await title.inputValue()]).toEqual([true, 'Half written'])
})

test('what is open stays open, without the focus, when others rename its column or the board', async () => {
  const { id, columns } = await demo.board(['Ideas'])
  const page = await demo.open(`${demo.base}/boards/${id}`)
  await isLive(page)
  await page.locator(`[id="${columns[0]}-add"] summary`).click()
  await page.locator('.adder[open] input:focus').waitFor()
  await page.getByPlaceholder('Search cards').focus()
  await demo.agent('PATCH', `/columns/${columns[0]}`, { name: 'Plans' })
  await page.getByRole('heading', { name: 'Plans' }).waitFor()
  expect(await page.locator('.adder[open]').count()).toBe(1)
  await demo.agent('PATCH', `/boards/${id}`, { name: 'Winter release' })
  await page.getByRole('heading', { name: 'Winter release' }).waitFor()
  expect(await page.locator('.adder[open]').count()).toBe(1)
})

test.each([
  ['scrolls itself', { width: 1280, height: 800 }],
  ['is scrolled with the page of a phone', { width: 390, height: 844 }],
])('a long column that %s gets its next cards, and then counts them all', async (_name, viewport) => {
  const { id, columns } = await demo.board(['Long', 'Short'])
  for (const from of [0, 60, 120]) {
    const operations = Array.from({ length: 60 }, (_, i) => ({
      operation: 'cards.create',
      body: { column_id: columns[0], title: `Card ${from + i + 1}` },
    }))
    await demo.agent('POST', `/boards/${id}/batch`, { operations })
  }
  const page = await demo.open(`${demo.base}/boards/${id}`, { viewport })
  await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' })
  const tiles = page.locator('.lane').first().locator('.tile')
  const first = await tiles.count()
  expect(first).toBeLessThan(180)
  await expect.poll(async () => (await tiles.last().scrollIntoViewIfNeeded(), tiles.count())).toBe(180)
  expect(await page.locator('.more').count()).toBe(0)
  expect({ count: await page.locator('.count').first().innerText(), last: await tiles.last().textContent() }).toMatchObject({
    count: expect.stringMatching(/^180/),
    last: expect.stringContaining('Card 180'),
  })
  // What changes beyond the first cards is shown, too.
  const [card] = await demo.agent('GET', `/boards/${id}/cards?q=170`)
  await demo.agent('PATCH', `/cards/${card.id}`, { title: 'Renamed far below' })
  await page.getByText('Renamed far below', { exact: true }).waitFor({ state: 'attached' })
})

test('the first card of a board is offered, and the last one of many stays', async () => {
  const other = await demo.board(['Only'])
  const page = await demo.open(`${demo.base}/boards/${other.id}`)
  await isLive(page)
  const add = (title: string) => ({ operation: 'cards.create', body: { column_id: other.columns[0], title } })
  await demo.agent('POST', `/boards/${other.id}/cards`, add('First').body)
  await isShown(page, 'First')
  await page.locator('.tile').hover()
  await page.getByRole('button', { name: 'Actions: First' }).click()
  await page.getByRole('menuitem', { name: 'Complete' }).waitFor()
  await demo.agent('POST', `/boards/${other.id}/batch`, { operations: Array.from({ length: 100 }, (_one, i) => add(`Card ${i}`)) })
  await demo.agent('POST', `/boards/${other.id}/cards`, add('Card 100').body)
  await page.reload()
  await isLive(page)
  const last = page.locator('.tile').last()
  const id = await last.getAttribute('id')
  await demo.agent('PATCH', `/cards/${id}`, { title: 'The last that is shown' })
  await isShown(page, 'The last that is shown')
  await page.getByText('50+').waitFor()
})

test('without shared workers, three tabs have streams and the others ask', async () => {
  const page = await demo.open('/app')
  await page.context().addInitScript(() => void delete (globalThis as any).SharedWorker)
  await page.goto(path)
  const tabs = await openTabs(page, 5)
  await create('For five tabs')
  await Promise.all(tabs.map((tab) => isShown(tab, 'For five tabs')))
})
