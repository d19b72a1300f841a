import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startListener, type Listener } from '../../../src/listener/listener.ts'
import { DAY } from '../../../src/model/time.ts'
import { enterPassword, expectAccessible, expectFits, openBrowser, openWindow, screenshot, type Window } from '../../support/chromium.ts'
import { memory } from '../../support/memory.ts'
import { Service, type Person } from '../../support/service.ts'
import { giveAccount } from '../../support/visitor.ts'

const looks: Record<string, BrowserContextOptions> = {
  light: { colorScheme: 'light', viewport: { width: 1100, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1100, height: 800 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 800 } },
}
let browser: Browser
let service: Service
let listener: Listener
let person: Person
let email: string
let workspaceId: string
beforeAll(async () => {
  browser = await openBrowser()
  service = await Service.start(memory)
  listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  workspaceId = await service.workspace('Acme')
  service.now -= 40 * DAY
  person = await service.person(workspaceId, 'owner', 'Olivia Stone')
  for (const lifetime of [10, 40.5, 45, 52]) await service.token(workspaceId, person.id, ['kanban:write'], lifetime * DAY)
  service.now += 40 * DAY
  await service.send(person.write, 'GET', '/account')
  await service.app.services.usage.settled()
  email = await giveAccount(service, person)
})
afterAll(async () => {
  await browser.close()
  await listener.close()
  await service.stop()
})

async function signIn(options: BrowserContextOptions = {}): Promise<Window> {
  const window = await openWindow(browser, listener.url, options)
  await enterPassword(window.page, email)
  await window.page.waitForURL('**/settings/tokens')
  return window
}

test.each(Object.keys(looks))('the pages of tokens are accessible, and no wider than the window: %s', async (look) => {
  const window = await signIn(looks[look])
  const { page } = window
  const check = async (name: string) => {
    await expectAccessible(page, `${name}, ${look}`)
    await expectFits(page, name)
    await screenshot(page, `tokens-${name}-${look}`)
  }
  await check('list')
  await page.locator('.ended summary').click()
  await check('ended')
  await page.goto('/settings/tokens?q=nothing')
  await check('search')
  await page.goto(`/settings/tokens/new?workspace=${workspaceId}`)
  await check('new')
  await page.getByLabel('Name').fill('Nightly build')
  await page.getByLabel('60 days').check()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Create token' }).click()
  await check('plaintext')
  for (const title of ['JavaScript and TypeScript', 'MCP']) await page.getByText(title, { exact: true }).click()
  await check('example')
  expect(window.problems).toEqual([])
  await window.close()
})

test('times are in the zone of the person, and the exact time of a distance is in its title', async () => {
  const window = await signIn({ timezoneId: 'Asia/Kathmandu' })
  const { page } = window
  const exact = page.locator('.token time[data-exact]').first()
  const at = (await exact.getAttribute('datetime'))!
  // Nepal is 5:45 ahead of UTC.
  const local = new Date(Date.parse(at) + 345 * 60_000).toISOString()
  expect(await exact.innerText()).toBe(`${local.slice(0, 10)} ${local.slice(11, 16)} GMT+5:45`)
  expect(await exact.getAttribute('title')).toBe(`${at.slice(0, 10)} ${at.slice(11, 16)} UTC`)
  const distance = page.locator('time[data-distance]').first()
  expect(await distance.innerText()).toMatch(/^in \d+ days?$/)
  expect(await distance.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:45 GMT\+5:45$/)
  expect(window.problems).toEqual([])
  await window.close()
})

test('the theme that a person chooses is that of every page, before it is shown and in other tabs', async () => {
  const window = await signIn({ colorScheme: 'light' })
  const { page } = window
  const ground = (of: Page) => of.evaluate(() => (globalThis as any).getComputedStyle((globalThis as any).document.body).backgroundColor)
  const light = await ground(page)
  const other = await page.context().newPage()
  await other.goto('/docs')
  await page.locator('[data-menu] summary').click()
  await page.getByLabel('Theme').selectOption('dark')
  const dark = await ground(page)
  expect(dark).not.toBe(light)
  await expect.poll(() => ground(other)).toBe(dark)
  for (const path of ['/settings/account', '/docs', '/policies']) {
    await other.goto(path)
    expect([path, await ground(other)]).toEqual([path, dark])
  }
  await other.getByLabel('Theme').selectOption('system')
  await expect.poll(() => ground(page)).toBe(light)
  await window.close()
})

test('without JavaScript the list can be searched, ended tokens opened, and a custom lifetime chosen', async () => {
  const window = await signIn({ javaScriptEnabled: false })
  const { page } = window
  expect(await page.locator('.ended .token').first().isVisible()).toBe(false)
  await page.locator('.ended summary').click()
  await page.locator('.ended .token').first().waitFor()
  await page.getByLabel('Search tokens by name').fill('no such token')
  await page.getByRole('button', { name: 'Search' }).click()
  expect(await page.getByRole('status').innerText()).toContain('None of ')
  expect(new URL(page.url()).search).toBe('?q=no+such+token')
  await page.goto(`/settings/tokens/new?workspace=${workspaceId}`)
  await page.getByLabel('Name').fill('CI')
  await page.getByLabel('Lifetime in days').fill('45')
  await page.getByRole('button', { name: 'Continue' }).click()
  expect(await page.locator('main').innerText()).toContain('after 45 days')
  await window.close()
})

test('a number chooses the custom lifetime, and a preset clears the number', async () => {
  const window = await signIn()
  const { page } = window
  await page.goto(`/settings/tokens/new?workspace=${workspaceId}`)
  const days = page.getByLabel('Lifetime in days')
  await days.fill('45')
  expect(await page.getByLabel('Custom').isChecked()).toBe(true)
  await page.getByLabel('90 days').check()
  expect(await days.inputValue()).toBe('')
  await page.getByLabel('Custom').check()
  expect(await days.evaluate((element) => element === (globalThis as any).document.activeElement)).toBe(true)
  await window.close()
})

test('the button that was pressed says that it has copied, and each copies its own text', async () => {
  const window = await signIn()
  const { page } = window
  await page.goto(`/settings/tokens/new?workspace=${workspaceId}`)
  await page.getByLabel('Name').fill('Copied')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Create token' }).click()
  const clipboard = () => page.evaluate(() => (globalThis as any).navigator.clipboard.readText())
  for (const [title, id] of [
    [undefined, 'plaintext'],
    [undefined, 'curl'],
    ['JavaScript and TypeScript', 'client'],
    ['MCP', 'mcp'],
  ]) {
    if (title !== undefined) await page.getByText(title, { exact: true }).click()
    const button = page.locator(`[data-copy=${id}]`)
    await button.click()
    await page.locator(`[data-copy=${id}] + [role=status]`, { hasText: 'Copied.' }).waitFor()
    expect([id, await button.innerText(), await clipboard()]).toEqual([
      id,
      expect.stringMatching(/^Copied\s/),
      await page.locator(`#${id}`).innerText(),
    ])
  }
  // A refusal of the browser is said where it happened, and the text can be selected.
  await page.evaluate(() => ((globalThis as any).navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))))
  await page.locator('[data-copy=plaintext]').click()
  await page.locator('[data-copy=plaintext] + .error', { hasText: 'Select the text' }).waitFor()
  expect(window.problems).toEqual([])
  await window.close()
})
