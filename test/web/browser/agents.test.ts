import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'
import { expectGood, looks } from '../../support/chromium.ts'

// Two agents work while a person looks at the page of the agents.
let demo: DemoTeam
let boardId: string
let columns: readonly string[]

beforeAll(async () => {
  demo = await startDemo()
  ;({ id: boardId, columns } = await demo.board(['To do', 'Doing']))
  await demo.agent('PATCH', `/columns/${columns[1]}`, { max_attempts: 1 })
})
afterAll(() => demo.stop())

const create = async (title: string, column_id = columns[0]): Promise<string> =>
  (await demo.other.agent('POST', `/boards/${boardId}/cards`, { column_id, title })).id
const claim = async (id: string) => ({ 'if-claim': String((await demo.other.agent('PUT', `/cards/${id}/claim`, { ttl: 300 })).epoch) })
const ask = async (id: string, question: string) => demo.other.agent('POST', `/cards/${id}/claim/question`, { question }, await claim(id))

test('shows what agents do without a reload, keeps what a person writes, and does not move a button under the pointer', async () => {
  const [asked, other, stuck] = [await create('Logo'), await create('Poster'), await create('Dig', columns[1])]
  await demo.other.agent('POST', `/cards/${stuck}/claim/failure`, { reason: 'Stone', retry_after: 0 }, await claim(stuck))
  await ask(asked, 'Blue or green?')
  const page = await demo.open('/app')
  await page.clock.install()
  await page.goto(`${demo.base}/agents`)
  const question = page.locator(`#asked-${asked}`)
  await question.getByText('Blue or green?').waitFor()
  await page.evaluate('globalThis.isSame = true')
  const later = async () => page.clock.runFor(15_000)

  // What is written stays, and what is new comes.
  await question.getByRole('textbox').fill('Blue, perh')
  const epoch = await claim(other)
  await later()
  await page.locator('#agents-rows a', { hasText: 'Poster' }).waitFor()
  expect(await question.getByRole('textbox').inputValue()).toBe('Blue, perh')
  await question.getByRole('textbox').fill('')
  await page.locator('h1').click()

  // A control under the pointer stays where it is. The update is shown when the pointer has left it.
  const retry = page.locator(`#stuck-${stuck}`).getByRole('button')
  await retry.hover()
  const before = await retry.boundingBox()
  await demo.agent('POST', `/cards/${asked}/answer`, { body: 'Green.' })
  const fetched = page.waitForResponse((response) => response.url().endsWith('/agents') && response.status() === 200)
  await later()
  await fetched
  await page.clock.runFor(2000)
  expect([await question.count(), await retry.boundingBox()]).toEqual([1, before])
  await page.mouse.move(0, 0)
  const leaves = async () => {
    await page.clock.runFor(1000)
    return question.count()
  }
  await expect.poll(leaves).toBe(0)

  await demo.other.agent('POST', `/cards/${stuck}/retry`)
  await demo.other.agent('DELETE', `/cards/${other}/claim`, undefined, epoch)
  await later()
  await expect.poll(() => page.locator('#stuck').count()).toBe(0)
  expect(await page.locator('#agents-rows a', { hasText: 'Poster' }).count()).toBe(0)
  await demo.other.revoke()
  await later()
  await page.locator('#agents-rows tr', { hasText: 'Revoked or expired' }).waitFor()
  expect(await page.evaluate('globalThis.isSame')).toBe(true)

  // Nobody who looks: nothing is fetched. A page that is the same costs an answer without a body.
  const statuses: number[] = []
  page.on('response', (response) => response.url().endsWith('/agents') && statuses.push(response.status()))
  await later()
  await expect.poll(() => statuses).toEqual([304])
})

test.each(looks)('the page of the agents is accessible and fits its window: %s', async (look, options) => {
  const page = await demo.open(`${demo.base}/agents`, options)
  await expectGood(page, 'agents', look, 'all')
})
