import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'
import { expectFits, expectGood, expectNotFound, fillIn, looks, screenshot } from '../../support/chromium.ts'
import { requirePython } from '../../support/python.ts'
import { freePort } from '../../support/ports.ts'
import { startReceiver } from '../../support/webhook-receiver.ts'

// A person adds webhooks, and receivers get deliveries of the service, in other processes.
let demo: DemoTeam
let boardId: string
let columns: readonly string[]

beforeAll(async () => {
  requirePython()
  demo = await startDemo(undefined, { LANEKEEPER_WEBHOOK_TARGETS: 'http://127.0.0.1:*' })
})
afterAll(() => demo.stop())
beforeEach(async () => void ({ id: boardId, columns } = await demo.board(['To do', 'Doing'])))

const create = (title: string) => demo.agent('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title })
const click = (page: Page, role: 'button' | 'link', name: string | RegExp) =>
  Promise.all([page.waitForEvent('load'), page.getByRole(role, { name }).first().click()])
/** The texts of the first row of the deliveries, without its time. */
const newest = (page: Page): Promise<string[]> => page.locator('.trail tbody tr').first().locator('td:not(:has(time))').allInnerTexts()
const shownSecret = (page: Page) => page.locator('#webhook-secret').innerText()
const copy = async (page: Page, name: string): Promise<string> => {
  await page.getByRole('button', { name }).click()
  await page.getByText('Copied.').first().waitFor()
  return page.evaluate('navigator.clipboard.readText()')
}

/** Adds a webhook from the menu of the board. */
async function add(page: Page, url: string): Promise<void> {
  await page.goto(`${demo.base}/boards/${boardId}`)
  await page.locator('#board-menu summary').click()
  await click(page, 'link', 'Webhooks')
  await click(page, 'link', 'Create webhook')
  await fillIn(page, { URL: url })
  await click(page, 'button', 'Create webhook')
}

test.each(['TypeScript', 'Python'])(
  'a receiver in %s that was copied from the page gets tests and changes, and verifies them',
  async (language) => {
    const page = await demo.open(`${demo.base}/boards/${boardId}`)
    const port = await freePort()
    await add(page, `http://127.0.0.1:${port}/hook`)
    const secret = await copy(page, 'Copy the secret')
    expect({ secret, search: new URL(page.url()).search }).toEqual({ secret: await shownSecret(page), search: '' })
    const summary = page.locator('summary', { hasText: language })
    if (!(await summary.evaluate(({ parentElement }: any) => parentElement.open))) await summary.click()
    const text = await copy(page, `Copy the receiver in ${language}`)
    await click(page, 'link', 'I have stored it')
    await expectNotFound(page, secret)

    await click(page, 'button', /^Test/)
    await page.getByRole('status').filter({ hasText: 'connection refused' }).waitFor()
    const receiver = await startReceiver(text, language, secret, port)
    await click(page, 'button', /^Test/)
    await page.getByRole('status').filter({ hasText: 'The receiver answered 204' }).waitFor()
    expect((await newest(page)).slice(0, 2)).toEqual(['a test', '204'])
    await create(`Sow in ${language}`)
    await expect.poll(receiver.output).toContain(`Sow in ${language}`)
    await expect.poll(async () => (await page.reload(), (await newest(page)).slice(0, 2))).toEqual(['1 change', '204'])

    // The receiver knows the old secret, which signs too.
    await click(page, 'link', /^Rotate secret/)
    await click(page, 'button', 'Rotate secret')
    const rotated = await shownSecret(page)
    expect(rotated).not.toBe(secret)
    await click(page, 'link', 'I have stored it')
    await expectNotFound(page, rotated)
    await click(page, 'button', /^Test/)
    await page.getByRole('status').filter({ hasText: 'The receiver answered 204' }).waitFor()
    receiver.child.kill()
  },
)

describe('with a receiver that answers what a test says', () => {
  let server: Server
  let url: string
  let status = 204
  beforeAll(async () => {
    server = createServer((request, response) => void (request.resume(), response.writeHead(status).end())).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())
  beforeEach(() => void (status = 204))

  test('it is disabled, enabled, edited and deleted, without JavaScript', async () => {
    const page = await demo.open(`${demo.base}/boards/${boardId}`, { javaScriptEnabled: false })
    await add(page, `${url}/plain`)
    const secret = await shownSecret(page)
    // Nothing is offered that only a script does.
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
    await click(page, 'link', 'I have stored it')
    expect(await page.content()).not.toContain(secret)
    const state = () => page.locator('.state').last().innerText()
    await click(page, 'button', /^Disable/)
    expect(await state()).toBe('Disabled')
    await create('Missed')
    await click(page, 'button', /^Enable from now/)
    expect(await state()).toBe('Active')
    await click(page, 'link', /^Edit/)
    await page.getByLabel('Comment').check()
    await click(page, 'button', 'Save')
    await page.getByText('changes of the kind comment').waitFor()
    await page.getByText('Nothing was sent yet.').waitFor()
    await click(page, 'link', /^Delete/)
    await click(page, 'button', 'Delete webhook')
    await page.getByText('This board has no webhooks yet.').waitFor()
  })

  test('one that fails says why, and is tried again when a person says so', async () => {
    const page = await demo.open(`${demo.base}/boards/${boardId}`)
    status = 500
    await add(page, `${url}/failing`)
    await click(page, 'link', 'I have stored it')
    await create('Dig')
    await expect
      .poll(async () => (await page.reload(), page.locator('.webhook').innerText()))
      .toMatch(/Failing since .*The receiver answered 500\./)
    status = 204
    await click(page, 'button', /^Try again now/)
    await expect.poll(async () => (await page.reload(), (await newest(page)).slice(0, 2))).toEqual(['1 change', '204'])
    expect(await page.locator('.webhook .state').innerText()).toBe('Active')
  })

  test.each(looks)('in every state, the pages are accessible and fit their window: %s', async (look, options) => {
    const make = async (path: string, kinds: string[] | null = null) =>
      (await demo.agent('POST', `/boards/${boardId}/webhooks`, { url: `${url}/${path}`, kinds })).id as string
    const failing = await make('a_very_long_name_without_a_space'.repeat(6), ['card', 'board_member', 'comment'])
    const disabled = await make('disabled')
    await demo.agent('POST', `/webhooks/${failing}/test`)
    status = 500
    await demo.agent('PATCH', `/webhooks/${disabled}`, { enabled: false })
    await create('Dig')
    await expect.poll(async () => (await demo.agent('GET', `/webhooks/${failing}`)).state).toBe('failing')
    await make('active')
    const page = await demo.open(`${demo.base}/boards/${boardId}/webhooks`, options)
    await expectGood(page, 'webhooks', look, 'all')
    await page.goto(`${demo.base}/webhooks/${failing}`)
    await click(page, 'button', /^Test/)
    await expectGood(page, 'webhook-failing', look, 'all')
    for (const operation of ['update', 'rotate_secret', 'delete']) {
      await page.goto(`${demo.base}/do/webhooks.${operation}?webhook_id=${failing}`)
      await expectGood(page, `webhook-${operation}`, look)
    }
    await add(page, `${url}/${'a_very_long_name_without_a_space'.repeat(6)}`)
    await page.locator('#webhook-secret').waitFor()
    for (const summary of await page.locator('details[name=receiver]:not([open]) summary').all()) await summary.click()
    await expectGood(page, 'webhook-secret', look, 'all')
    if (look !== 'phone') return
    await page.setViewportSize({ width: 320, height: 640 })
    for (const path of [`/boards/${boardId}/webhooks`, `/webhooks/${failing}`]) {
      await page.goto(`${demo.base}${path}`)
      await screenshot(page, `webhook-320-${path.slice(1, 6)}`)
      await expectFits(page, path)
    }
  })
})
