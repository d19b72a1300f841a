import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'
import { expectAccessible, screenshot } from '../../support/chromium.ts'

let demo: DemoTeam
beforeAll(async () => {
  demo = await startDemo()
})
afterAll(() => demo.stop())

const PLAN = 'Sow the beans in May.\nWater them every day.'
const [JUNE, WEED] = [PLAN.replace('May', 'June'), `${PLAN}\nWeed.`]
const editor = (page: Page) => page.locator('dialog.card-panel #edit-description')
const conflict = (page: Page) => page.locator('dialog.conflict')
const descriptionOf = async (id: string) => (await demo.agent('GET', `/cards/${id}`)).description

/** A card that is open over its board, with a description that is being edited. */
async function open(): Promise<{ page: Page; id: string; loads: () => number }> {
  const { id: boardId, columns } = await demo.board(['To do'])
  const { id } = await demo.agent('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title: 'Plan', description: PLAN })
  const page = await demo.open(`${demo.base}/boards/${boardId}`)
  await page.locator('[data-live][data-state=live]').waitFor()
  let loads = 0
  page.on('domcontentloaded', () => loads++)
  await page.getByRole('link', { name: 'Plan', exact: true }).click()
  await page.locator('dialog [data-live][data-state=live]').waitFor()
  await editor(page).locator('summary').click()
  return { page, id, loads: () => loads }
}

/** Writes and saves a description that somebody else has changed meanwhile. */
async function save(page: Page, id: string, theirs: string, mine: string): Promise<void> {
  await editor(page).locator('textarea').fill(mine)
  await demo.agent('PATCH', `/cards/${id}`, { description: theirs })
  await editor(page).getByRole('button', { name: 'Save' }).click()
  await conflict(page).waitFor()
}

test('a conflict stays in the panel: it is merged, shown with its marks, and sent when the person says so', async () => {
  const { page, id, loads } = await open()
  await save(page, id, JUNE, WEED)
  const merged = JUNE.replace(/$/, '\nWeed.')
  expect(await conflict(page).locator('textarea').inputValue()).toBe(merged)
  expect(await conflict(page).innerText()).toMatch(/of Olivia Stone changed the description at \d{4}-/)
  expect(await conflict(page).locator('mark').allTextContents()).toEqual(['\nWeed.'])
  await expectAccessible(page, 'conflict')
  await screenshot(page, 'conflict')
  // Nothing is sent before.
  expect(await descriptionOf(id)).toBe(JUNE)
  await conflict(page).getByRole('button', { name: 'Save' }).click()
  await conflict(page).waitFor({ state: 'detached' })
  await page.locator('dialog.card-panel #description', { hasText: 'Weed.' }).waitFor()
  expect({ description: await descriptionOf(id), isOpen: await editor(page).getAttribute('open'), loads: loads() }).toEqual({
    description: merged,
    isOpen: null,
    loads: 0,
  })
})

test('Escape leads back to the editor with what was chosen, and the next change of somebody else is a conflict again', async () => {
  const { page, id, loads } = await open()
  await save(page, id, PLAN.replace('May', 'July'), JUNE)
  await conflict(page).getByText('the same words').waitFor()
  await conflict(page).locator('textarea').fill('Chosen')
  await page.keyboard.press('Escape')
  await conflict(page).waitFor({ state: 'detached' })
  expect({ text: await editor(page).locator('textarea').inputValue(), panel: await page.locator('dialog.card-panel').isVisible() }).toEqual(
    {
      text: 'Chosen',
      panel: true,
    },
  )
  await save(page, id, 'Once more', 'Chosen')
  await demo.agent('PATCH', `/cards/${id}`, { description: 'And again' })
  await conflict(page).getByRole('button', { name: 'Save' }).click()
  await conflict(page).getByText('And again').first().waitFor()
  expect([await descriptionOf(id), loads()]).toEqual(['And again', 0])
})

test('a title that is changed on its tile is not lost either', async () => {
  const { id: boardId, columns } = await demo.board(['To do'])
  const { id } = await demo.agent('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title: 'Plan' })
  const page = await demo.open(`${demo.base}/boards/${boardId}`)
  await page.locator('[data-live][data-state=live]').waitFor()
  await page.getByRole('link', { name: 'Plan', exact: true }).focus()
  await page.keyboard.press('e')
  await page.locator('.chooser input, [role=combobox]').first().fill('Mine')
  await demo.agent('PATCH', `/cards/${id}`, { title: 'Theirs' })
  await page.keyboard.press('Enter')
  await conflict(page).waitFor()
  expect(await conflict(page).locator('input[name=title]').inputValue()).toBe('Mine')
  await conflict(page).getByRole('button', { name: 'Save' }).click()
  await page.getByRole('link', { name: 'Mine', exact: true }).waitFor()
})

test('who else edits the same text is said at its editor, and not any more when they have finished', async () => {
  const { page, id } = await open()
  const note = (of: Page) => of.locator('#edit-description .editors')
  // A whole page, by somebody else, which is opened while the first one is editing.
  const other = await demo.other.open(`${demo.base}/cards/${id}`)
  await other.locator('#edit-description summary').click()
  await expect.poll(() => note(other).textContent()).toBe('Olivia Stone is editing this, too.')
  await expect.poll(() => note(page).textContent()).toBe('Adrian Cole is editing this, too.')
  expect(await page.locator('dialog.card-panel #edit-title .editors').textContent()).toBe('')
  await other.locator('#edit-description summary').click()
  await expect.poll(() => note(page).textContent()).toBe('')
  // A second tab of the same browser, over the same stream, gets to know it, too.
  await other.locator('#edit-description summary').click()
  await expect.poll(() => note(page).textContent()).toBe('Adrian Cole is editing this, too.')
  const tab = await page.context().newPage()
  await tab.goto(`${demo.base}/cards/${id}`)
  await tab.locator('#edit-description summary').click()
  await expect.poll(() => note(tab).textContent()).toBe('Adrian Cole is editing this, too.')
})
