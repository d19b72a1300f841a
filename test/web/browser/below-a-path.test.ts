import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startListener, type Listener } from '../../../src/listener/listener.ts'
import { buildTeam, type BoardTeam } from '../../support/board-team.ts'
import { enterPassword, fillIn, openBrowser, openWindow, press } from '../../support/chromium.ts'
import { blockOf } from '../../support/documents.ts'
import { memory } from '../../support/memory.ts'
import { startPathProxy } from '../../support/path-proxy.ts'
import { freePort } from '../../support/ports.ts'
import { Service } from '../../support/service.ts'

const BASE = '/kanban'
const nginx = blockOf('fixtures/deployment/README.md', 'location = /kanban')
const caddy = blockOf('fixtures/deployment/README.md', 'redir /kanban')

let browser: Browser
beforeAll(async () => void (browser = await openBrowser()))
afterAll(() => browser.close())

// Each part of the configuration as the document has it, and as it says that the path is removed.
describe.each([
  ['nginx, which passes the path on', 'nginx', nginx],
  ['nginx, which removes the path', 'nginx', nginx.replace('3000;', '3000/;')],
  ['Caddy, which passes the path on', 'caddy', caddy],
  ['Caddy, which removes the path', 'caddy', caddy.replace('handle ', 'handle_path ')],
] as const)('behind %s', (_name, program, site) => {
  let [service, listener, team]: [Service?, Listener?, BoardTeam?] = []
  let origin: string
  let endProxy: () => Promise<void>
  beforeAll(async () => {
    const port = await freePort()
    origin = `http://localhost:${port}`
    service = await Service.start(memory, { url: origin + BASE, proxies: 1 })
    listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
    endProxy = await startPathProxy(program, site, port, listener.port)
    team = await buildTeam(service, ['To do', 'Done'], {}, { origin, base: BASE })
  })
  afterAll(async () => {
    await endProxy?.()
    service?.app.stop()
    await listener?.close()
    await service?.stop()
  })

  const titles = (page: Page) =>
    page
      .locator('.lane .tiles')
      .evaluateAll((lists: any[]) =>
        lists.map((list) => Array.from(list.querySelectorAll('.tile-title'), (title: any) => title.textContent)),
      )

  test('a person signs in, sees changes at once, moves, completes and opens a card, and creates a token', async () => {
    const { api, owner, base, boardId, columns } = team!
    for (const title of ['Sow', 'Weed']) await api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title })
    // No request leaves the path: its window allows none to the rest of the host.
    const page = await openWindow(browser, origin + BASE)
    await enterPassword(page, `${owner.id}@example.org`, undefined, origin + BASE + '/app')
    await page.waitForURL(`${origin}${BASE}/app`)
    await page.getByRole('link', { name: 'Spring' }).click()
    await page.waitForURL(`${origin}${BASE}${base}/boards/${boardId}`)
    await page.locator('[data-live][data-state=live]').waitFor()
    const worker = await page.evaluate(() => (globalThis as any).document.querySelector('[data-worker]').dataset.worker)
    expect(worker).toMatch(/^\/kanban\/settings\/assets\/stream-worker\.js/)

    await api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title: 'Water' })
    await expect.poll(() => titles(page)).toEqual([['Sow', 'Weed', 'Water'], []])

    const [from, to] = [await boxOf(page, '.tile'), await boxOf(page, '.lane >> nth=1')]
    await page.mouse.move(from.x + 40, from.y + 15)
    await page.mouse.down()
    await page.mouse.move(from.x + 60, from.y + 25)
    await page.mouse.move(to.x + 60, to.y + to.height - 10, { steps: 5 })
    await page.mouse.up()
    await page.getByRole('status').filter({ hasText: 'The card is moved.' }).waitFor()
    await expect.poll(() => titles(page)).toEqual([['Weed', 'Water'], ['Sow']])
    await page.locator('.tile-title', { hasText: 'Sow' }).focus()
    await page.keyboard.press('x')
    await page.getByRole('status').filter({ hasText: 'The card is completed.' }).waitFor()
    const cards: any[] = await api('GET', `/boards/${boardId}/cards?completed=true`)
    expect(cards.map(({ title, column_id }) => [title, column_id])).toEqual([['Sow', columns[1]]])
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}${BASE}${base}/cards/${cards[0].id}`)

    await page.goto(`${origin}${BASE}/settings/tokens/new?workspace=${owner.workspaceId}`)
    await fillIn(page, { Name: 'CI' })
    await press(page, 'Continue')
    await press(page, 'Create token')
    const token = await page.locator('#plaintext').innerText()
    const account = await fetch(`${origin}${BASE}/v1/account`, { headers: { authorization: `Bearer ${token}` } })
    expect({ status: account.status, userId: ((await account.json()) as any).data.user_id }).toEqual({ status: 200, userId: owner.id })
    const cookies = await page.context().cookies()
    expect(new Set(cookies.map(({ path }) => path))).toEqual(new Set([BASE]))
  })

  test('the reference finds operations while a person types, and its form sends a request', async () => {
    const page = await openWindow(browser, origin + BASE)
    await page.goto(`${origin}${BASE}/docs`)
    await page.getByRole('searchbox').fill('account')
    await page.locator('.hits a', { hasText: 'account.read' }).click()
    await page.waitForURL(`${origin}${BASE}/docs/account.read`)
    await page.locator('#token').fill(team!.owner.read)
    await page.locator('form[data-path] button').click()
    await page.getByText('200 OK').waitFor()
    await page.goto(`${origin}${BASE}/policies`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  })

  test('what is not below the path is another program, and the path alone leads to the service', async () => {
    for (const path of ['/app', '/v1/account', '/kanbans']) expect(await (await fetch(origin + path)).text()).toBe('another program')
    const front = await fetch(origin + BASE)
    expect({ status: front.status, text: await front.text() }).toEqual({
      status: 200,
      text: expect.stringContaining(`<code id="base-url">${origin}${BASE}/v1</code>`),
    })
  })
})

async function boxOf(page: Page, selector: string) {
  return (await page.locator(selector).first().boundingBox())!
}
