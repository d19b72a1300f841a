import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'
import { expectGood, looks } from '../../support/chromium.ts'

// The agent of a person asks on a card without assignees, which another person has created and hears of.
let demo: DemoTeam
let boardId: string
let columns: readonly string[]

beforeAll(async () => {
  demo = await startDemo()
  ;({ id: boardId, columns } = await demo.board(['To do', 'Doing']))
})
afterAll(() => demo.stop())

/** A card that nobody is assigned to. */
const create = async (title: string, board = boardId, column_id = columns[0]): Promise<string> =>
  (await demo.agent('POST', `/boards/${board}/cards`, { column_id, title })).id
async function ask(id: string, question: string): Promise<void> {
  const { epoch } = await demo.other.agent('PUT', `/cards/${id}/claim`, { ttl: 300 })
  await demo.other.agent('POST', `/cards/${id}/claim/question`, { question }, { 'if-claim': String(epoch) })
}
const count = async (page: Page) => Number.parseInt((await page.locator('[data-unread-count]').textContent()) || '0', 10)
const titleCount = async (page: Page) => Number(/^\((\d+)\) /.exec(await page.title())?.[1] ?? 0)

test('a question on a card of nobody is counted at once, on each kind of page, and answered from the inbox', async () => {
  const id = await create('Logo')
  const [board, overview, inbox, settings, form] = [
    await demo.open(`${demo.base}/boards/${boardId}`),
    await demo.open('/app'),
    await demo.open(`${demo.base}/notices`),
    await demo.open('/settings/account'),
    await demo.open(`${demo.base}/do/boards.update?board_id=${boardId}`),
  ]
  await board.locator('[data-live][data-state=live]').waitFor()
  const before = await count(board)
  await ask(id, 'Blue or green?')
  for (const page of [board, overview, inbox, settings, form]) {
    await expect.poll(() => count(page)).toBe(before + 1)
    expect(await titleCount(page)).toBe(before + 1)
  }
  const notice = inbox.locator('.notices > li.unread', { hasText: 'Blue or green?' })
  await notice.getByLabel('Answer to the question on Logo').fill('Blue.')
  await Promise.all([inbox.waitForEvent('load'), notice.getByRole('button', { name: 'Answer' }).click()])
  await expect.poll(() => count(board)).toBe(before)
  expect((await demo.agent('GET', `/cards/${id}?include=work`)).work.state).not.toBe('waiting')
  expect(await inbox.locator('.notices > li', { hasText: 'Blue or green?' }).getAttribute('class')).toBe('')
})

test('an agent that asks on a card of nobody goes on as soon as a person answers, and meets the card that it has released, too', async () => {
  const work = await demo.board(['To do', 'Next'])
  const [first, second] = work.columns as [string, string]
  const [asked, released] = [await create('Poster', work.id, first), await create('Flyer', work.id, second)]
  const next = async (body: object = {}) => demo.other.agent('POST', `/boards/${work.id}/claims?include=work`, body)
  const [hers, his] = [await demo.open(`${demo.base}/boards/${boardId}`), await demo.other.open('/app')]
  const [before, hisBefore] = [await count(hers), await count(his)]

  const { id, claim } = await next()
  expect(id).toBe(asked)
  const begin = performance.now()
  await demo.other.agent('POST', `/cards/${asked}/claim/question`, { question: 'Which size?' }, { 'if-claim': String(claim.epoch) })
  // Meanwhile it takes the other card, and leaves it to others.
  expect((await next()).id).toBe(released)
  await demo.other.agent('DELETE', `/cards/${released}/claim`)
  expect(await next()).toBeNull()
  const goesOn = (async () => {
    for (;;) {
      const card = await next({ wait: 30, column_id: first })
      if (card !== null) return { card, seconds: (performance.now() - begin) / 1000 }
    }
  })()
  await expect.poll(() => count(hers)).toBe(before + 1)
  expect(await titleCount(hers)).toBe(before + 1)
  const noticed = (performance.now() - begin) / 1000

  await hers.locator('[data-unread]').click()
  await hers.locator('.notices > li.unread', { hasText: 'Which size?' }).getByLabel('Answer to the question on Poster').fill('A2.')
  await Promise.all([hers.waitForEvent('load'), hers.getByRole('button', { name: 'Answer' }).click()])
  const { card, seconds } = await goesOn
  expect([card.id, card.answered.question.body, card.answered.answer.body]).toEqual([asked, 'Which size?', 'A2.'])
  console.log(`after a question: counted in ${noticed.toFixed(1)} s, and its card taken again with the answer in ${seconds.toFixed(1)} s`)
  // Who has asked hears of the answer.
  await expect.poll(() => count(his)).toBe(hisBefore + 1)

  await demo.other.agent('PUT', `/cards/${asked}/completion`, { completed: true }, { 'if-claim': String(card.claim.epoch) })
  await demo.agent('PATCH', `/cards/${released}`, { title: 'Flyer, folded' })
  expect((await next({ wait: 30 })).id).toBe(released)
})

test('whoever opens the card has read its notices, and whoever looks at it gets no count', async () => {
  const id = await create('Font')
  const page = await demo.open(`${demo.base}/notices`)
  const before = await count(page)
  await ask(id, 'Serif?')
  await page.getByRole('link', { name: 'Serif?' }).click()
  await page.waitForURL(`**/cards/${id}`)
  await expect.poll(() => count(page)).toBe(before)
  await demo.other.agent('POST', `/cards/${id}/comments`, { body: 'I go on with a serif.' })
  await page.locator('.comments li', { hasText: 'I go on' }).waitFor()
  await expect
    .poll(async () => (await demo.agent('GET', '/notices?order=desc&unread=true')).filter((one: any) => one.card_id === id))
    .toEqual([])
})

test('one notice is read, and all are read, by their buttons', async () => {
  for (const title of ['One', 'Two', 'Three']) await ask(await create(title), `About ${title}?`)
  const page = await demo.open(`${demo.base}/notices`)
  const before = await count(page)
  await page.locator('li.unread', { hasText: 'About Two?' }).getByRole('button', { name: 'Mark as read' }).click()
  await expect.poll(() => count(page)).toBe(before - 1)
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await expect.poll(() => page.locator('li.unread').count()).toBe(0)
  expect([await count(page), await titleCount(page)]).toEqual([0, 0])
})

test.each(looks)('the inbox is accessible and fits its window: %s', async (look, options) => {
  await ask(await create(`Question ${look} ${'a_very_long_name_without_a_space'.repeat(4)}`), 'x'.repeat(300))
  const page = await demo.open(`${demo.base}/notices`, options)
  await page.locator('.notices').waitFor()
  await expectGood(page, 'inbox', look, 'all')
})
