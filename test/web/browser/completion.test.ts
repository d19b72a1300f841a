import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'
import { expectFits, expectGood, looks } from '../../support/chromium.ts'

// Cards are completed by their column while a person looks.
let demo: DemoTeam
let boardId: string
let columns: readonly string[]

beforeAll(async () => {
  demo = await startDemo()
  ;({ id: boardId, columns } = await demo.board(['To do', 'Done']))
  await demo.agent('PATCH', `/columns/${columns[1]}`, { completes: true })
})
afterAll(() => demo.stop())

const create = async (title: string, members = {}): Promise<string> =>
  (await demo.agent('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title, ...members })).id
const outcomeOf = async (id: string) => (await demo.agent('GET', `/cards/${id}`)).outcome

test('a card that a person moves to a column that completes is done at once, and frees the card that it blocked', async () => {
  const blocker = await create('Blocker')
  const [blocked, failed] = [await create('Blocked', { blocker_ids: [blocker] }), await create('Gone wrong')]
  const page = await demo.open(`${demo.base}/boards/${boardId}`)
  await page.locator('[data-live][data-state=live]').waitFor()
  const tile = (id: string) => page.locator(`[id="${id}"]`)
  await page.locator(`[id="${columns[1]}-completes"]`, { hasText: 'Cards that come here are done' }).waitFor()
  await tile(blocked).locator('.work.blocked', { hasText: 'Blocked' }).waitFor()
  // Without a mouse: the keys of a board.
  await tile(blocker).locator('.tile-menu').click()
  await page.getByRole('menuitem', { name: 'Move' }).click()
  await page.locator('.chooser').getByRole('option', { name: 'Done' }).click()
  await tile(blocker).locator('.fact.done').waitFor()
  await expect.poll(() => tile(blocked).locator('.work').count()).toBe(0)
  expect(await outcomeOf(blocker)).toBe('succeeded')
  await demo.agent('PUT', `/cards/${failed}/completion`, { completed: true, outcome: 'failed' })
  await tile(failed).locator('.fact.failed', { hasText: 'Failed' }).waitFor()
  await demo.agent('PUT', `/cards/${blocker}/completion`, { completed: true, outcome: 'failed' })
  await tile(blocked).locator('.work.blocked').waitFor()
  await expectFits(page, 'completion')
  await page.close()
})

test('a person says that a card has failed, on its page', async () => {
  const id = await create('Try')
  const page = await demo.open(`${demo.base}/cards/${id}`)
  await page.locator('#card-failed').click()
  await page.locator('#fact-state .fact.failed').waitFor()
  expect(await outcomeOf(id)).toBe('failed')
  await page.close()
})

test.each(looks)('a board with blocked, done and failed cards is accessible and fits its window: %s', async (look, options) => {
  const page = await demo.open(`${demo.base}/boards/${boardId}`, options)
  await page.locator('[data-live][data-state=live]').waitFor()
  await expectGood(page, 'completion', look, 'all')
  await page.close()
})
