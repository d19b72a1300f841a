import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'
import { expectAccessible } from '../../support/chromium.ts'

let demo: DemoTeam
beforeAll(async () => {
  demo = await startDemo()
})
afterAll(() => demo.stop())

const TEXT = 'Half a page,\nnot sent'
const NOT_READABLE = 'cannot be read any more: it was deleted, or you have no access to it.'

/** A board with a card, and the paths of both. */
async function make() {
  const { id, columns } = await demo.board(['To do'])
  const card = await demo.agent('POST', `/boards/${id}/cards`, { column_id: columns[0], title: 'Plan' })
  return { boardId: id, cardId: card.id as string, board: `${demo.base}/boards/${id}`, card: `${demo.base}/cards/${card.id}` }
}
const isLive = (page: Page, within = '') => page.locator(`${within} [data-live][data-state=live]`.trim()).first().waitFor()
const openPanel = async (page: Page) => {
  await isLive(page)
  await page.getByRole('link', { name: 'Plan', exact: true }).click()
  await isLive(page, 'dialog')
}
const write = (page: Page) => page.locator('form[action$="comments.create"] textarea').fill(TEXT)
const copied = async (page: Page) => {
  await page.getByRole('button', { name: 'Copy my text' }).click()
  await page.getByText('Copied.', { exact: true }).waitFor()
  return page.evaluate(() => (globalThis as any).navigator.clipboard.readText())
}

test('the page of a card that is deleted says who did it, keeps what was written, and leads back to the board', async () => {
  const { cardId, board, card } = await make()
  const page = await demo.open(card)
  await isLive(page)
  await write(page)
  await demo.agent('DELETE', `/cards/${cardId}`)
  const said = await page.locator('.gone [role=alert]').innerText()
  expect(said).toMatch(/^.+ of Olivia Stone deleted this card at \d{4}-\d\d-\d\d \d\d:\d\d .+\.$/)
  expect(await page.locator('.gone h1').innerText()).toBe('Plan')
  expect(await page.locator('.gone textarea').inputValue()).toBe(TEXT)
  expect(await copied(page)).toBe(TEXT)
  await expectAccessible(page, 'gone')
  await page.getByRole('link', { name: 'Back to the board' }).click()
  await page.waitForURL(`**${board}`)
})

test('in the panel, the link closes the panel, and nothing is offered to copy if nothing was written', async () => {
  const { cardId, board } = await make()
  const page = await demo.open(board)
  await openPanel(page)
  let loads = 0
  page.on('domcontentloaded', () => loads++)
  await demo.agent('DELETE', `/cards/${cardId}`)
  await page.locator('dialog .gone').getByText('deleted this card at').waitFor()
  expect(await page.getByRole('button', { name: 'Copy my text' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Back to the board' }).click()
  await page.locator('dialog.card-panel').waitFor({ state: 'hidden' })
  await page.waitForURL(`**${board}`)
  await page.locator('.tile').waitFor({ state: 'detached' })
  expect(loads).toBe(0)
})

test('a card that was deleted while its tab was in the background says so when somebody looks at it, after many other changes', async () => {
  const { boardId, cardId, card } = await make()
  const page = await demo.open(card)
  await isLive(page)
  const look = (state: string) =>
    page.evaluate((visible) => {
      const { document, Event } = globalThis as any
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => visible })
      document.dispatchEvent(new Event('visibilitychange'))
    }, state)
  await look('hidden')
  const operations = Array.from({ length: 80 }, (_, i) => ({ operation: 'labels.create', body: { name: `Label ${i}`, color: '#1a7f37' } }))
  await demo.agent('POST', `/boards/${boardId}/batch`, { operations })
  await demo.agent('POST', `/boards/${boardId}/batch`, {
    operations: operations.map((one, i) => ({ ...one, body: { ...one.body, name: `More ${i}` } })),
  })
  await demo.agent('DELETE', `/cards/${cardId}`)
  await look('visible')
  await page.locator('.gone').getByText('deleted this card at').waitFor()
})

test('what was written on a card that is gone is there when its board is deleted, too', async () => {
  const { boardId, cardId, board } = await make()
  const page = await demo.open(board)
  await openPanel(page)
  await write(page)
  await demo.agent('DELETE', `/cards/${cardId}`)
  await page.locator('dialog .gone').getByText('deleted this card at').waitFor()
  await demo.agent('DELETE', `/boards/${boardId}`)
  await page.locator('main > article .gone').first().waitFor({ state: 'attached' })
  // From the text to the panel, and from the panel to the board.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.locator('dialog.card-panel').waitFor({ state: 'hidden' })
  expect(await page.locator('.gone textarea').inputValue()).toBe(TEXT)
})

test.each(['is deleted', 'becomes private'])(
  'a board that %s cannot be read any more: that is all that is said, and what was written stays',
  async (what) => {
    const { boardId, board, card } = await make()
    const change = () =>
      what === 'is deleted'
        ? demo.agent('DELETE', `/boards/${boardId}`)
        : demo.agent('PUT', `/boards/${boardId}/visibility`, { visibility: 'private' })
    const [onBoard, onCard] = [await demo.other.open(board), await demo.other.open(card)]
    await openPanel(onBoard)
    await write(onBoard)
    await onBoard.keyboard.press('Escape')
    await onBoard.keyboard.press('Escape')
    await onBoard.locator('dialog.card-panel').waitFor({ state: 'hidden' })
    await isLive(onCard)
    await write(onCard)
    await change()
    for (const [page, name] of [
      [onBoard, 'board'],
      [onCard, 'card'],
    ] as const) {
      const gone = page.locator('.gone')
      expect(await gone.getByRole('alert').innerText()).toBe(`This ${name} ${NOT_READABLE}`)
      expect(await gone.innerText()).not.toMatch(/Olivia|Plan/)
      expect(await gone.locator('textarea').inputValue()).toBe(TEXT)
      expect(await page.locator('main').innerText()).not.toContain('Spring release')
      await gone.getByRole('link', { name: 'Your boards' }).click()
      await page.waitForURL('**/app')
    }
  },
)
