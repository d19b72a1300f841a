import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'
import { expectGood, looks, screenshot } from '../../support/chromium.ts'

// A person works on a card, and others do so at the same time.
let demo: DemoTeam
let boardId: string
let columns: readonly string[]
let cardId: string

const agent: DemoTeam['agent'] = (...asked) => demo.agent(...asked)

beforeAll(async () => {
  demo = await startDemo()
  ;({ id: boardId, columns } = await demo.board(['To do', 'Doing']))
  for (const name of ['urgent', 'print']) await agent('POST', `/boards/${boardId}/labels`, { name, color: '#cf222e' })
})
beforeEach(async () => {
  const created = { column_id: columns[0]!, title: 'Poster', description: 'In **A2**.', subtasks: ['Draw', 'Print'] }
  cardId = (await agent('POST', `/boards/${boardId}/cards`, created)).id
})
afterAll(() => demo.stop())

async function openCard(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await demo.open(`${demo.base}/cards/${cardId}`, { timezoneId: 'America/New_York', ...options })
  await page.getByText('Live', { exact: true }).waitFor()
  return page
}
const card = () => agent('GET', `/cards/${cardId}`)
const description = (page: Page) => page.locator('#edit-description textarea')
/** Opens an editor. A script moves the focus into it after the click: keys before that would go nowhere. */
async function openEditor(page: Page, name: string): Promise<void> {
  await page.locator(`#${name} > summary`).click()
  await page.locator(`#${name}[open] :is(input, textarea, select):focus`).waitFor()
}
const save = (page: Page, name: string) => page.locator(`#${name}`).getByRole('button', { name: 'Save' }).click()
const focused = (page: Page) => page.evaluate<string>("document.activeElement.closest('[id], [name]').id")

test('a change appears at once, and in another window; two of the same text become a choice, and nothing is lost', async () => {
  const [own, other] = [await openCard(), await openCard()]
  await openEditor(own, 'edit-title')
  await own.getByLabel('Title').fill('Large poster')
  await save(own, 'edit-title')
  for (const page of [own, other]) await page.getByRole('heading', { level: 1, name: 'Large poster' }).waitFor()
  expect(await own.locator('#edit-title').getAttribute('open')).toBeNull()

  for (const page of [own, other]) await openEditor(page, 'edit-description')
  await own.bringToFront()
  await description(own).fill('My text')
  await description(other).fill('Their text')
  await save(other, 'edit-description')
  await own.locator('#description', { hasText: 'Their text' }).waitFor()
  expect(await description(own).inputValue()).toBe('My text')
  await save(own, 'edit-description')
  const conflict = own.locator('dialog.conflict')
  await conflict.locator('.theirs', { hasText: 'Their text' }).first().waitFor()
  expect({ input: await conflict.locator('textarea').inputValue(), stored: (await card()).description }).toEqual({
    input: 'My text',
    stored: 'Their text',
  })
  await screenshot(own, 'card-conflict')
  await conflict.locator('textarea').fill('Our text')
  await conflict.getByRole('button', { name: 'Save' }).click()
  await own.locator('#description', { hasText: 'Our text' }).waitFor()
})

test('a half-written comment survives live updates and a refusal, and is sent by Ctrl+Enter', async () => {
  const page = await openCard()
  const comment = page.getByLabel('New comment')
  await comment.fill('Half a sent')
  await agent('POST', `/cards/${cardId}/comments`, { body: 'Of an agent' })
  await agent('PATCH', `/cards/${cardId}`, { description: 'Of an agent, too' })
  await page.locator('.comments li', { hasText: 'Of an agent' }).waitFor()
  await page.locator('#description', { hasText: 'too' }).waitFor()
  expect({ input: await comment.inputValue(), focused: await page.locator(':focus').getAttribute('name') }).toEqual({
    input: 'Half a sent',
    focused: 'body',
  })
  const long = 'x'.repeat(20_001)
  await comment.fill(long)
  await page.keyboard.press('Control+Enter')
  await page.getByRole('status').filter({ hasText: 'Please check: body' }).waitFor()
  expect(await comment.inputValue()).toBe(long)
  await comment.fill('A whole sentence')
  await page.keyboard.press('Control+Enter')
  await page.locator('.comments li', { hasText: 'A whole sentence' }).waitFor()
  await expect.poll(() => comment.inputValue()).toBe('')
})

test('a half-written answer stays when somebody else answers', async () => {
  const { epoch } = await agent('PUT', `/cards/${cardId}/claim`, { ttl: 300 })
  await agent('POST', `/cards/${cardId}/claim/question`, { question: 'Blue?' }, { 'if-claim': String(epoch) })
  const page = await openCard()
  const answer = page.getByLabel('Answer to the question on Poster')
  await answer.pressSequentially('Half an ')
  await agent('POST', `/cards/${cardId}/answer`, { body: 'Of an agent' })
  await page.locator('.comments li', { hasText: 'Of an agent' }).waitFor()
  await page.keyboard.type('answer')
  expect(await answer.inputValue()).toBe('Half an answer')
  await answer.fill('')
  await answer.blur()
  await agent('POST', `/cards/${cardId}/comments`, { body: 'Next' })
  await page.locator('#card-question').waitFor({ state: 'detached' })
})

test('with the keyboard alone: subtasks are ticked and added, the focus stays, and Escape leaves nothing behind', async () => {
  const page = await openCard()
  const press = (key: string) => page.keyboard.press(key)
  const first = page.getByRole('checkbox', { name: 'Draw' })
  await first.focus()
  const id = await focused(page)
  await press('Space')
  await page.getByText('1 of 2').waitFor()
  expect({ checked: await first.getAttribute('aria-checked'), focused: await focused(page) }).toEqual({ checked: 'true', focused: id })
  await openEditor(page, 'add-subtask')
  // The field is free at once.
  for (const title of ['Cut', 'Fold']) {
    await page.keyboard.type(title)
    await press('Enter')
  }
  await page.getByText('1 of 4').waitFor()
  expect(await page.getByRole('checkbox').count()).toBe(4)
  await page.locator('.subtasks .menu summary').last().focus()
  await press('Enter')
  await page.getByRole('button', { name: 'Move up' }).focus()
  await press('Enter')
  await expect.poll(() => page.locator('.subtask-title').nth(2).textContent()).toBe('Fold')
  await page.locator('#edit-title > summary').focus()
  await press('Enter')
  await page.getByLabel('Title').focus()
  await page.keyboard.type('Written')
  await press('Escape')
  await press('Escape')
  // Something is written, so Escape does not leave the page.
  expect({ path: new URL(page.url()).pathname, focused: await focused(page) }).toEqual({
    path: `${demo.base}/cards/${cardId}`,
    focused: 'edit-title',
  })
})

test('blockers are searched on the whole board, put on the card and taken off, in place', async () => {
  const cards = Array.from({ length: 40 }, (_, i) => ({
    operation: 'cards.create',
    body: { column_id: columns[1]!, title: i === 39 ? 'Sharpen the knife' : `Cut ${i}` },
  }))
  await agent('POST', `/boards/${boardId}/batch`, { operations: cards })
  const page = await openCard()
  const add = page.locator('#fact-blockers-control a')
  const chooser = page.locator('.chooser')
  await add.click()
  await chooser.getByRole('option', { name: 'Cut 0', exact: true }).waitFor()
  await page.keyboard.type('knife')
  // What is chosen before the search has answered is what it finds.
  await page.keyboard.press('Enter')
  await page.locator('#fact-blockers-shown').getByRole('link', { name: 'Sharpen the knife' }).waitFor()
  expect(await focused(page)).toBe('fact-blockers-control')
  await page.keyboard.press('Enter')
  await page.keyboard.type('sharpen')
  await chooser.locator('[aria-checked=true]', { hasText: 'Sharpen the knife' }).click()
  await expect.poll(async () => (await card()).blocker_ids).toEqual([])
  await add.click()
  await page.keyboard.type('no such words')
  await chooser.getByText('Nothing matches.').waitFor()
  await page.keyboard.press('Escape')
  expect({ path: new URL(page.url()).pathname, focused: await focused(page) }).toEqual({
    path: `${demo.base}/cards/${cardId}`,
    focused: 'fact-blockers-control',
  })
  // Over a board, where the rest of the page cannot be used.
  await page.goto(`${demo.base}/boards/${boardId}`)
  await page.locator('.tile-title', { hasText: 'Poster' }).last().click()
  await page.locator('dialog.card-panel #fact-blockers-control a').click()
  await page.keyboard.type('knife')
  await page.keyboard.press('Enter')
  await page.locator('dialog.card-panel #fact-blockers-shown').getByRole('link', { name: 'Sharpen the knife' }).waitFor()
})

test('what a card has none of is a row of buttons; what is written there stays when it becomes a part of the card', async () => {
  cardId = (await agent('POST', `/boards/${boardId}/cards`, { column_id: columns[0]!, title: 'Empty' })).id
  const page = await openCard()
  const places = await Promise.all(
    ['edit-description', 'add-subtask', 'attach'].map((id) => page.locator(`#${id} > summary`).boundingBox()),
  )
  expect(new Set(places.map((place) => place!.y)).size).toBe(1)
  expect((await page.locator('#comments-title').boundingBox())!.y).toBeLessThan(300)
  await openEditor(page, 'add-subtask')
  for (const key of ['One', '\n', 'Half']) await page.keyboard.type(key)
  await page.getByText('0 of 1').waitFor()
  await page.keyboard.type(' written')
  expect(await page.getByLabel('New subtask').inputValue()).toBe('Half written')
  await openEditor(page, 'edit-description')
  await page.keyboard.type('My ')
  await agent('PATCH', `/cards/${cardId}`, { description: 'Their text' })
  await page.locator('.part #description', { hasText: 'Their text' }).waitFor()
  await page.keyboard.type('text')
  expect(await description(page).inputValue()).toBe('My text')
})

test('files, and the due time in the zone of the person', async () => {
  const page = await openCard()
  await openEditor(page, 'edit-due')
  await page.getByLabel('Due (America/New_York)').fill('2027-01-15T12:00')
  await save(page, 'edit-due')
  await page.locator('#fact-due .due').waitFor()
  expect((await card()).due_at).toBe('2027-01-15T17:00:00.000Z')
  await openEditor(page, 'edit-due')
  expect(await page.locator('#edit-due [data-time]').inputValue()).toBe('2027-01-15T12:00')

  await openEditor(page, 'attach')
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
  await page.getByLabel('File to attach').setInputFiles({ name: 'Größe “A”.png', mimeType: 'image/png', buffer: png })
  await page.getByRole('button', { name: 'Attach file' }).click()
  await page.locator('.attachments .menu summary').click()
  await page.getByRole('button', { name: 'Set as cover' }).click()
  await page.getByText('· cover').waitFor()
  const [file] = await agent('GET', `/cards/${cardId}/attachments`)
  expect({ name: file.name, visibility: file.visibility, coverAttachmentId: (await card()).cover_attachment_id }).toEqual({
    name: 'Größe “A”.png',
    visibility: 'board',
    coverAttachmentId: file.id,
  })
})

test.each(looks)('with all editors open, the page is accessible and fits its window: %s', async (look, options) => {
  const label = (await agent('GET', `/boards/${boardId}/labels`))[0]
  await agent('PUT', `/cards/${cardId}/labels/${label.id}`)
  await agent('POST', `/cards/${cardId}/comments`, { body: 'Good.' })
  await agent('PUT', `/cards/${cardId}/claim`, { ttl: 600 })
  const page = await openCard(options)
  await screenshot(page, `card-controls-${look}`)
  for (const name of ['edit-title', 'edit-description', 'edit-due', 'move-card']) await openEditor(page, name)
  await page.locator('.subtasks .menu summary').first().click()
  await expectGood(page, 'card-editors', look, 'all')
})
