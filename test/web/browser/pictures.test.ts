import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'
import { expectGood, looks } from '../../support/chromium.ts'

let demo: DemoTeam
let board: Awaited<ReturnType<DemoTeam['board']>>
let cardId: string
let page: Page
/** Answers with pictures since the page was opened: the end of the address → bytes. */
let sent: [name: string, bytes: number][]
/** A picture of 1200 × 900 pixels of noise, which no format makes small without loss. */
let photo: Buffer | undefined

beforeAll(async () => {
  demo = await startDemo()
  board = await demo.board(['To do'])
})
afterAll(() => demo.stop())
beforeEach(
  async () => void (cardId = (await demo.agent('POST', `/boards/${board.id}/cards`, { column_id: board.columns[0], title: 'Poster' })).id),
)

/** Makes it in a page: a browser has the program for that. */
async function makePhoto(maker: Page): Promise<Buffer> {
  const made: string = await maker.evaluate(() => {
    const canvas = Object.assign((globalThis as any).document.createElement('canvas'), { width: 1200, height: 900 })
    const context = canvas.getContext('2d')
    for (let x = 0; x < 1200; x += 4)
      for (let y = 0; y < 900; y += 4) {
        context.fillStyle = `rgb(${(x * 7 + y * 13) % 256} ${(x * y) % 256} ${(x + y * 3) % 256})`
        context.fillRect(x, y, 4, 4)
      }
    return canvas.toDataURL('image/jpeg', 0.9).split(',')[1]
  })
  const bytes = Buffer.from(made, 'base64')
  expect(bytes.length).toBeGreaterThan(200_000)
  return bytes
}

async function open(path: string, options = {}): Promise<void> {
  page = await demo.open('/app', options)
  photo ??= await makePhoto(page)
  sent = []
  page.on('response', async (response) => {
    const [, name] = /attachments\/\w+\/(picture|preview)/.exec(response.url()) ?? []
    if (name !== undefined && response.request().method() === 'GET')
      sent.push([name, (await response.body().catch(() => Buffer.alloc(0))).length])
  })
  await page.goto(path)
  await page.getByText('Live', { exact: true }).waitFor()
}
/** Attaches pictures by the form of the page. */
async function attach(...names: readonly string[]): Promise<void> {
  await page.locator('#attach > summary').click()
  for (const name of names) {
    await page.locator('#attach').evaluate((details: any) => (details.open = true))
    await page.getByLabel('File to attach').setInputFiles({ name, mimeType: 'image/jpeg', buffer: photo! })
    const kept = page.waitForResponse((response) => response.url().endsWith('/preview') && response.request().method() === 'POST')
    await page.getByRole('button', { name: 'Attach file' }).click()
    expect((await kept).status()).toBe(200)
    await page.locator('.attachments li', { hasText: name }).waitFor()
  }
}
const viewer = () => page.locator('dialog.pictures')
const widthOf = (selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((image: any) => image.naturalWidth as number)

test('a large picture is made small once, and its original is sent to nobody who does not ask for it', async () => {
  await open(`${demo.base}/cards/${cardId}`)
  await attach('photo.jpg')
  await expect.poll(() => widthOf('.attachments img')).toBe(640)
  const [{ id }] = await demo.agent('GET', `/cards/${cardId}/attachments`)
  await demo.agent('PUT', `/cards/${cardId}/cover`, { attachment_id: id })
  await open(`${demo.base}/boards/${board.id}`)
  await expect.poll(() => widthOf(`#${cardId} .cover`)).toBe(640)
  expect(sent.map(([name, bytes]) => [name, bytes <= 60 * 1024])).toEqual([['preview', true]])
})

test('pictures are shown one after another over a card, and Escape leads back to where they were opened', async () => {
  await open(`${demo.base}/boards/${board.id}`)
  await page.locator(`#${cardId} .tile-title`).click()
  await page.locator('dialog.card-panel #card-title').waitFor()
  await attach('one.jpg', 'two.jpg')
  await page.getByRole('link', { name: 'one.jpg' }).click()
  await viewer().getByText('1 of 2').waitFor()
  await expect.poll(() => widthOf('dialog.pictures img')).toBe(1200)
  expect(await viewer().getByRole('link', { name: 'one.jpg' }).getAttribute('href')).toMatch(/\/attachments\/att_\w+$/)
  await page.keyboard.press('ArrowRight')
  await viewer().getByText('2 of 2').waitFor()
  expect(await viewer().getByRole('button', { name: 'Next picture' }).isDisabled()).toBe(true)
  await page.keyboard.press('ArrowRight')
  await viewer().getByRole('button', { name: 'Previous picture' }).click()
  await viewer().getByText('1 of 2').waitFor()
  await page.keyboard.press('Escape')
  await viewer().waitFor({ state: 'hidden' })
  expect({
    isCardOpen: await page.locator('dialog.card-panel').isVisible(),
    focused: await page.locator(':focus').getAttribute('download'),
  }).toEqual({ isCardOpen: true, focused: 'one.jpg' })
})

const panel = () => page.locator('dialog.card-panel')
const path = () => page.evaluate(() => (globalThis as any).location.pathname as string)
/** Opens a picture of a card that is open over its board. */
async function openPicture(): Promise<void> {
  await open(`${demo.base}/boards/${board.id}`)
  await page.locator(`#${cardId} .tile-title`).click()
  await panel().locator('#card-title').waitFor()
  await attach('one.jpg')
  await page.getByRole('link', { name: 'one.jpg' }).click()
  await viewer().waitFor()
}

test.each([
  ['Escape', () => page.keyboard.press('Escape')],
  ['going back', () => page.goBack()],
  ['its button', () => viewer().getByRole('button', { name: 'Close' }).click()],
])('%s takes the picture away and nothing else, and the next time the card', async (_name, leave) => {
  await openPicture()
  await leave()
  await viewer().waitFor({ state: 'hidden' })
  await expect.poll(() => page.evaluate('history.state.picture')).toBeUndefined()
  expect({ isOpen: await panel().isVisible(), path: await path() }).toEqual({ isOpen: true, path: `${demo.base}/cards/${cardId}` })
  expect(await page.locator(':focus').getAttribute('download')).toBe('one.jpg')
  await page.goBack()
  await panel().waitFor({ state: 'hidden' })
  expect(await path()).toBe(`${demo.base}/boards/${board.id}`)
})

test('two quick Escapes take the picture and the card away', async () => {
  await openPicture()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await panel().waitFor({ state: 'hidden' })
  await expect.poll(path).toBe(`${demo.base}/boards/${board.id}`)
})

test('the search takes the place of a picture, and the keys act on what is on top', async () => {
  await openPicture()
  await page.keyboard.press('Control+k')
  const search = page.getByRole('combobox', { name: 'Search boards and cards' })
  await search.waitFor()
  await page.keyboard.type('Poster')
  expect({ text: await search.inputValue(), isOpen: await viewer().isVisible() }).toEqual({ text: 'Poster', isOpen: false })
  await page.locator('.chooser [role=option]').first().waitFor()
  await page.keyboard.press('Escape')
  await search.waitFor({ state: 'hidden' })
  expect(await panel().isVisible()).toBe(true)
  await page.keyboard.press('Escape')
  await panel().waitFor({ state: 'hidden' })
})

test('a picture of a program shows its name, and gets its preview when its owner looks at it', async () => {
  await open(`${demo.base}/cards/${cardId}`)
  // As a program would attach it.
  await page.route('**/preview', (route) => (route.request().method() === 'POST' ? route.abort('internetdisconnected') : route.continue()))
  await page.locator('#attach > summary').click()
  await page.getByLabel('File to attach').setInputFiles({ name: 'scan.jpg', mimeType: 'image/jpeg', buffer: photo! })
  await page.getByRole('button', { name: 'Attach file' }).click()
  await expect.poll(() => widthOf('.attachments img')).toBe(280)
  await page.unroute('**/preview')
  await page.getByRole('link', { name: 'scan.jpg' }).click()
  await expect.poll(() => widthOf('.attachments img')).toBe(640)
})

test.each(looks)('a picture is accessible and fits the window: %s', async (look, options) => {
  await open(`${demo.base}/cards/${cardId}`, options)
  await attach('photo.jpg')
  await page.getByRole('link', { name: 'photo.jpg' }).click()
  await expect.poll(() => widthOf('dialog.pictures img')).toBe(1200)
  await expectGood(page, 'pictures', look, 'all')
})
