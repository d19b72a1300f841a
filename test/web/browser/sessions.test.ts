import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'

let demo: DemoTeam
let board: Awaited<ReturnType<DemoTeam['board']>>
let cardId: string
beforeAll(async () => {
  demo = await startDemo()
  board = await demo.board(['To do'])
  cardId = (await demo.agent('POST', `/boards/${board.id}/cards`, { column_id: board.columns[0], title: 'Plan' })).id
})
afterAll(() => demo.stop())

const sign = (page: Page) => page.locator('dialog [data-live-text]').textContent()
const TEXT = 'Half a page, not sent'

/** Opens the card over its board, and begins a comment there. */
async function write(page: Page): Promise<void> {
  await page.clock.install()
  await page.goto(`${demo.base}/boards/${board.id}`)
  await page.locator('[data-live][data-state=live]').waitFor()
  await page.getByRole('link', { name: 'Plan', exact: true }).click()
  await page.locator('dialog [data-live][data-state=live]').waitFor()
  await page.locator('dialog form[action$="comments.create"] textarea').fill(TEXT)
}

/** Signs out in another tab. */
async function signOut(page: Page): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.goto('/app')
  await tab.locator('[data-menu] summary').click()
  await tab.getByRole('button', { name: 'Sign out', exact: true }).click()
  await tab.waitForURL('**/settings/sign-in**')
  return tab
}

test('what is half-written in the panel stays when the session ends, and is sent after signing in again in another tab', async () => {
  const page = await demo.signIn()
  await write(page)
  await demo.agent('PATCH', `/cards/${cardId}`, { description: 'By an agent' })
  await page.getByText('changed “Plan”').first().waitFor()
  const tab = await signOut(page)
  await page.locator('dialog [data-live][data-state=ended]').waitFor()
  // What others have done before is not said any more, and that the session has ended is.
  await page.clock.runFor(60_000)
  expect(await page.locator('dialog [data-announcement]').innerText()).toContain('Sign in again in another tab')
  const comment = page.locator('dialog form[action$="comments.create"]')
  await comment.getByRole('button').last().click()
  await page.getByText('Sign in again in another tab').first().waitFor()
  expect([await sign(page), await comment.locator('textarea').inputValue()]).toEqual(['Not live', TEXT])
  await demo.signInOn(tab)
  await comment.getByRole('button').last().click()
  await page.locator('dialog .comments li', { hasText: TEXT }).waitFor()
  await page.locator('dialog [data-live][data-state=live]').waitFor()
  expect(await comment.locator('textarea').inputValue()).toBe('')
  const comments = await demo.agent('GET', `/cards/${cardId}/comments`)
  expect(comments.map(({ body }: { body: string }) => body)).toEqual([TEXT])
})

test('somebody else who signs in there does not send it', async () => {
  const page = await demo.signIn()
  await write(page)
  const tab = await signOut(page)
  await page.locator('dialog [data-live][data-state=ended]').waitFor()
  await demo.signInOn(tab, 'another')
  const comment = page.locator('dialog form[action$="comments.create"]')
  await comment.getByRole('button').last().click()
  await page.getByText('somebody else has signed in here').first().waitFor()
  expect([await sign(page), await comment.locator('textarea').inputValue()]).toEqual(['Not live', TEXT])
  expect((await demo.agent('GET', `/cards/${cardId}/comments`)).length).toBe(1)
})
