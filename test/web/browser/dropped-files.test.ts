import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'

let demo: DemoTeam
let board: Awaited<ReturnType<DemoTeam['board']>>
let page: Page
let cardId: string

beforeAll(async () => {
  demo = await startDemo()
})
afterAll(() => demo.stop())

beforeEach(async () => {
  board = await demo.board(['To do'])
  ;({ id: cardId } = await demo.agent('POST', `/boards/${board.id}/cards`, { column_id: board.columns[0], title: 'Poster' }))
  page = await demo.open(`${demo.base}/boards/${board.id}`)
  await page.getByText('Live', { exact: true }).waitFor()
})

const tile = () => page.locator('.tile')
const names = async () => (await demo.agent('GET', `/cards/${cardId}/attachments`)).map(({ name }: { name: string }) => name)

/** Gives an element files, and perhaps a text, as a drop or a paste does. @returns whether the page has taken them */
function give(selector: string, type: 'drop' | 'paste', files: readonly string[], text = ''): Promise<boolean> {
  return page.locator(selector).evaluate(
    (element: any, [type, files, text]: any) => {
      const { DataTransfer, DragEvent, ClipboardEvent, File } = globalThis as any
      const data = new DataTransfer()
      for (const name of files) data.items.add(new File([`bytes of ${name}`], name, { type: 'text/plain' }))
      if (text !== '') data.setData('text/plain', text)
      const shared = { bubbles: true, cancelable: true }
      const event =
        type === 'drop'
          ? new DragEvent('drop', { ...shared, dataTransfer: data })
          : new ClipboardEvent('paste', { ...shared, clipboardData: data })
      return !element.dispatchEvent(event)
    },
    [type, files, text] as const,
  )
}

test('files that are dropped on a tile are attached to its card', async () => {
  expect(await give('.tile-title', 'drop', ['one.txt', 'two.txt'])).toBe(true)
  await expect.poll(names).toEqual(['one.txt', 'two.txt'])
  await tile().locator('.fact', { hasText: '2' }).waitFor()
})

test('files that are pasted on a card over its board are attached to it, and text with a picture of it is text', async () => {
  await page.locator('.tile-title').click()
  await page.locator('.card-panel h1').waitFor()
  expect(await give('.card-panel #write-comment textarea', 'paste', ['picture.txt'], 'The text')).toBe(false)
  expect(await give('.card-panel #write-comment textarea', 'paste', ['pasted.txt'])).toBe(true)
  await page.locator('.card-panel #attachment-list li', { hasText: 'pasted.txt' }).waitFor()
  expect(await names()).toEqual(['pasted.txt'])
})

test('files that are dropped beside a card are left alone, and the page stays', async () => {
  expect(await give('h1', 'drop', ['lost.txt'])).toBe(true)
  await page.getByText('Live', { exact: true }).waitFor()
  expect(await names()).toEqual([])
})
