import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'
import { expectFits, expectGood, looks, screenshot } from '../../support/chromium.ts'

// An agent works on cards, fails and asks, while a person looks.
let demo: DemoTeam
let boardId: string
let columns: readonly string[]
let me: string

beforeAll(async () => {
  demo = await startDemo()
  ;({ id: boardId, columns } = await demo.board(['To do', 'Doing']))
  me = (await demo.agent('GET', '/account')).user_id
  // A page without cards is fetched with the first one.
  await create('First')
})
afterAll(() => demo.stop())

const create = async (title: string): Promise<string> =>
  (await demo.agent('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title, assignee_ids: [me] })).id
const claim = async (id: string, ttl = 300) => ({ 'if-claim': String((await demo.agent('PUT', `/cards/${id}/claim`, { ttl })).epoch) })
const fail = async (id: string, reason: string, retry_after: number) =>
  demo.agent('POST', `/cards/${id}/claim/failure`, { reason, retry_after }, await claim(id))
const ask = async (id: string, question: string) => demo.agent('POST', `/cards/${id}/claim/question`, { question }, await claim(id))
const stateOf = async (id: string) => (await demo.agent('GET', `/cards/${id}?include=work`)).work.state

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await demo.open(`${demo.base}${path}`, options)
  await page.locator('[data-live][data-state=live]').waitFor()
  return page
}
const tile = (page: Page, id: string) => page.locator(`[id="${id}"]`)
const count = (page: Page) => page.locator('.asking').textContent()

test('the badge of a tile appears when an agent fails, changes with the time, and the count of questions follows, without the page being fetched', async () => {
  const id = await create('Build')
  const page = await open(`/boards/${boardId}`)
  const fetched: string[] = []
  page.on('request', (request) => fetched.push(new URL(request.url()).pathname.replace(demo.base, '')))
  const before = await count(page)
  await fail(id, 'The tests are red.', 5)
  await tile(page, id).getByText('Failed once, again in less than a minute').waitFor()
  await page.locator('.toast', { hasText: 'failed at “Build”' }).waitFor()
  await tile(page, id)
    .locator('.work.failed', { hasText: /^\s*Failed once\s*$/ })
    .waitFor()
  expect(fetched.filter((path) => path === `/boards/${boardId}`)).toEqual([])
  await ask(id, 'Which of the two logos should I use?')
  await tile(page, id).getByText('Asks: Which of the two logos').waitFor()
  const own = Number.parseInt(before || '0', 10)
  await expect.poll(() => count(page)).toMatch(new RegExp(`^${own + 1} question`))
  await demo.agent('POST', `/cards/${id}/answer`, { body: 'The blue one.' })
  await tile(page, id).locator('.work.failed').waitFor()
  await expect.poll(() => count(page)).toBe(before)
  expect(fetched.filter((path) => path === `/boards/${boardId}`)).toEqual([])
})

test('a board with a filter of the state shows what comes and goes', async () => {
  const id = await create('Filtered')
  const page = await open(`/boards/${boardId}`)
  await page.locator('summary', { hasText: 'Filters' }).click()
  await page.locator('select[name=work]').selectOption({ label: 'Retrying' })
  await page.waitForURL(/work=retrying/)
  await expect.poll(() => tile(page, id).count()).toBe(0)
  await fail(id, 'Again.', 6)
  await tile(page, id).waitFor()
  await expect.poll(() => tile(page, id).count(), { timeout: 60_000 }).toBe(0)
})

test('a question is answered on “My cards”, with the keyboard; one that somebody else has answered is not lost', async () => {
  const [mine, lost] = [await create('Logo'), await create('Font')]
  await ask(mine, 'Blue or green?')
  await ask(lost, 'Serif?')
  const page = await demo.open(`${demo.base}/cards?view=mine`)
  const box = (title: string) => page.getByLabel(`Answer to the question on ${title}`)
  await box('Logo').focus()
  await page.keyboard.type('Blue.')
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Control+Enter')])
  await page.locator('.question', { hasText: 'Serif?' }).waitFor()
  expect({ boxes: await box('Logo').count(), state: await stateOf(mine) }).toEqual({ boxes: 0, state: 'ready' })
  await box('Font').fill('With serifs, please.')
  await demo.agent('POST', `/cards/${lost}/answer`, { body: 'Without.' })
  await page
    .locator('.question', { has: box('Font') })
    .getByRole('button', { name: 'Answer' })
    .click()
  await page.getByText('no question that waits for an answer').waitFor()
  expect(await page.locator('#do-body').inputValue()).toBe('With serifs, please.')
})

test('on the page of a card the reason appears live, a stuck card is tried again, and a question is answered there', async () => {
  const id = await create('Deploy')
  for (let i = 0; i < 4; i++) await fail(id, `Attempt ${i + 1}`, 0)
  const page = await open(`/cards/${id}`)
  await page.locator('#fact-work .failed', { hasText: 'Failed 4 times' }).waitFor()
  await fail(id, 'The server is away.\nTwice.', 0)
  await page.locator('#fact-work .stuck', { hasText: 'Stuck after 5 attempts' }).waitFor()
  await page.locator('#fact-work .reason', { hasText: 'The server is away.' }).waitFor()
  expect(await page.locator('.reason').innerText()).toBe('The server is away.\nTwice.')
  await page.getByRole('button', { name: 'Retry Deploy' }).click()
  await page.locator('#fact-work', { hasText: /^\s*Ready\s*$/ }).waitFor()
  expect({ state: await stateOf(id), retries: await page.locator('#card-retry').count() }).toEqual({ state: 'ready', retries: 0 })

  await ask(id, 'Go on?')
  const answer = page.getByLabel('Answer to the question on Deploy')
  await answer.focus()
  await page.keyboard.type('Half an ans')
  await demo.agent('PATCH', `/cards/${id}`, { description: 'Changed meanwhile' })
  await page.locator('#description', { hasText: 'Changed meanwhile' }).waitFor()
  expect(await answer.inputValue()).toBe('Half an ans')
  await answer.fill('Yes.')
  await page.keyboard.press('Control+Enter')
  await expect.poll(() => page.locator('#card-question').count()).toBe(0)
  await page.locator('.comments li', { hasText: 'answered the question of' }).waitFor()
})

test.each(looks)('boards, cards and questions are accessible and fit their window: %s', async (look, options) => {
  const [asking, stuck, retrying] = [await create(`Question ${look}`), await create(`Stuck ${look}`), await create(`Retrying ${look}`)]
  await ask(asking, `Which of the logos?\n\n- the blue one\n- ${'a_very_long_name_without_a_space'.repeat(4)}`)
  for (let i = 0; i < 5; i++) await fail(stuck, `Attempt ${i + 1}:\n${'x'.repeat(200)}`, 0)
  await fail(retrying, 'Again.', 3600)
  await claim(await create(`Claimed ${look}`))
  const page = await open(`/boards/${boardId}`, options)
  await expectGood(page, 'work-board', look, 'all')
  for (const [name, path] of [
    ['work-asking', `/cards/${asking}`],
    ['work-stuck', `/cards/${stuck}?history`],
    ['work-retrying', `/cards/${retrying}`],
    ['work-mine', '/cards?view=mine'],
  ] as const) {
    await page.goto(`${demo.base}${path}`)
    await expectGood(page, name, look, 'all')
  }
  if (look !== 'phone') return
  await page.setViewportSize({ width: 320, height: 640 })
  for (const path of ['/cards?view=mine', `/cards/${asking}`, `/boards/${boardId}`]) {
    await page.goto(`${demo.base}${path}`)
    await screenshot(page, `work-320-${path.slice(1, 6)}`)
    await expectFits(page, path)
  }
})

// It is the last one: the token is revoked.
test('the claims of a token leave a board, a filtered board and the page of a card when it is revoked', async () => {
  const id = await create('Paint')
  await demo.other.agent('PUT', `/cards/${id}/claim`, { ttl: 3600 })
  const board = (query = '') => open(`/boards/${boardId}${query}`).then((page) => tile(page, id).getByText('Claimed by'))
  const card = open(`/cards/${id}`).then((page) => page.getByText('is at work on this card'))
  const signs = await Promise.all([board(), board('?q=Paint'), card])
  for (const sign of signs) await sign.first().waitFor()
  await demo.other.revoke()
  for (const sign of signs) await expect.poll(() => sign.count()).toBe(0)
})
