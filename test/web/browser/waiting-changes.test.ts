import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'

// A change that waits is sent when the person may be somewhere else by then: they stay there, and are told.
let demo: DemoTeam
let page: Page
let board: string
let ids: Record<string, string>
let loads = 0
beforeAll(async () => {
  demo = await startDemo()
})
afterAll(() => demo.stop())

const agent: DemoTeam['agent'] = (...asked) => demo.agent(...asked)
const panel = () => page.locator('dialog.card-panel')
const link = (title: string) => page.getByRole('link', { name: title, exact: true })
const said = (text: string) => page.getByRole('status').filter({ hasText: text, visible: true }).first().waitFor()
const path = () => page.evaluate(() => (globalThis as any).location.pathname as string)
const comments = async (title: string) => (await agent('GET', `/cards/${ids[title]}/comments`)).map(({ body }: { body: string }) => body)
const write = (text: string) => panel().locator('form[action$="comments.create"] textarea').fill(text)
const pressComment = () => panel().locator('form[action$="comments.create"]').getByRole('button').first().click()
/** Cuts what changes something off: pages can still be read. */
const cut = () => page.route('**/do/**', (route) => route.abort('internetdisconnected'))
const mend = async () => {
  await page.unroute('**/do/**')
  await page.getByRole('button', { name: 'Try again' }).filter({ visible: true }).click()
}
async function openCard(title: string): Promise<void> {
  await link(title).click()
  await panel().getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
  await panel().locator('[data-live][data-state=live]').waitFor()
}
async function closeCard(): Promise<void> {
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await panel().waitFor({ state: 'hidden' })
}

beforeEach(async () => {
  const { id, columns } = await demo.board(['To do'])
  board = `${demo.base}/boards/${id}`
  ids = {}
  for (const title of ['One', 'Two'])
    ids[title] = (await agent('POST', `/boards/${id}/cards`, { column_id: columns[0], title, description: 'First.' })).id
  page = await demo.open(board)
  await page.locator('[data-live][data-state=live]').first().waitFor()
  loads = 0
  page.on('domcontentloaded', () => loads++)
})
const expectHere = async (expected: string) => expect({ path: await path(), loads }).toEqual({ path: expected, loads: 0 })

test('a comment of a card that was closed leads nobody back to it, and the board says that it was sent', async () => {
  await cut()
  await openCard('One')
  await write('Later')
  await pressComment()
  await said('The service cannot be reached. 1 change waits.')
  await closeCard()
  // The board says what the card has said.
  await said('The service cannot be reached. 1 change waits.')
  await mend()
  await said('What waited is sent.')
  await expect.poll(() => comments('One')).toEqual(['Later'])
  await expectHere(board)
  await openCard('One')
  await panel().getByText('Later').waitFor()
  expect(await panel().locator('form[action$="comments.create"] textarea').inputValue()).toBe('')
})

test('a change of the board leaves the card open that was opened since, and the card says what became of it', async () => {
  await cut()
  await link('Two').focus()
  await page.keyboard.press('x')
  await said('1 change waits.')
  await openCard('One')
  await write('Half')
  await page.unroute('**/do/**')
  await panel().getByRole('status').filter({ hasText: 'The card is completed.' }).waitFor()
  expect(await panel().locator('form[action$="comments.create"] textarea').inputValue()).toBe('Half')
  await expectHere(`${demo.base}/cards/${ids['One']}`)
})

test('a refusal is said where the person is, and the text is kept', async () => {
  await cut()
  await openCard('One')
  await write('Kept')
  await pressComment()
  await said('1 change waits.')
  await closeCard()
  await openCard('Two')
  await page.route('**/do/**', (route) => route.fulfill({ status: 422, json: { error: 'Please check: Body.' } }))
  await panel().getByRole('status').filter({ hasText: 'A change was not saved: Please check: Body.' }).waitFor()
  await expectHere(`${demo.base}/cards/${ids['Two']}`)
  await closeCard()
  await said('A change was not saved: Please check: Body.')
  await page.unroute('**/do/**')
  await openCard('One')
  expect(await panel().locator('form[action$="comments.create"] textarea').inputValue()).toBe('Kept')
  await pressComment()
  await expect.poll(() => comments('One')).toEqual(['Kept'])
})

test('a conflict opens when the person asks for it, and a name that has no form is said', async () => {
  await cut()
  await openCard('One')
  await panel().locator('#edit-description summary').click()
  await panel().locator('#edit-description textarea').fill('Mine.')
  await panel().locator('#edit-description').getByRole('button', { name: 'Save' }).click()
  await said('1 change waits.')
  await closeCard()
  await agent('PATCH', `/cards/${ids['One']}`, { description: 'Theirs.' })
  await openCard('Two')
  await page.unroute('**/do/**')
  await panel().getByRole('status').filter({ hasText: 'This has changed since you began.' }).waitFor()
  expect(await page.locator('dialog.conflict').count()).toBe(0)
  await panel().getByRole('button', { name: 'Compare' }).click()
  expect(await page.locator('dialog.conflict textarea').inputValue()).toBe('Mine.')
  await page.locator('dialog.conflict').getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await agent('GET', `/cards/${ids['One']}`)).description).toBe('Mine.')
  await page.locator('dialog.conflict').waitFor({ state: 'detached' })
  await closeCard()
  await cut()
  await link('Two').focus()
  await page.keyboard.press('e')
  await page.keyboard.type('Second')
  await page.keyboard.press('Enter')
  await said('1 change waits.')
  await agent('DELETE', `/cards/${ids['Two']}`)
  await mend()
  await said('A change was not saved')
  await said('You wrote: “Second”.')
  await expectHere(board)
})
