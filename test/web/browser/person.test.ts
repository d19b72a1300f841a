import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectNotFound, openBrowser, openWindow, type Window } from '../../support/chromium.ts'
import { CommandHost, startProcess, type RunningProcess } from '../../support/process.ts'

const PASSWORD = 'peas before the rain'
const TOKEN = /^lk_pat_[0-9a-z]{20}[0-9A-Za-z]{33}$/

let browser: Browser
let folder: string
let service: RunningProcess
let url: string
let host: CommandHost
beforeAll(async () => {
  browser = await openBrowser()
  folder = await mkdtemp(join(tmpdir(), 'lanekeeper-browser-'))
  const env = { LANEKEEPER_STORAGE: `fs:${folder}/data` }
  host = new CommandHost(env)
  service = startProcess(['--json'], env)
  url = JSON.parse(await service.until('\n')).url
})
afterAll(async () => {
  await browser.close()
  await service.stop()
  await rm(folder, { recursive: true })
})

const operator = async (...args: string[]) => {
  const result = await host.run([...args, '--json'])
  expect([args, result.code, result.stderr]).toEqual([args, 0, ''])
  return JSON.parse(result.stdout)
}
/** Creates a member of a workspace with a sign-up link. */
const createMember = async (name: string) => {
  const workspace = await operator('workspace', 'create', 'Acme')
  const user = await operator('user', 'add', name, '--url', url)
  await operator('member', 'add', workspace.id, user.id)
  return { link: user.sign_up_link as string, email: `${user.id}@example.org` }
}
const account = (token: string) => fetch(`${url}/v1/account`, { headers: { authorization: `Bearer ${token}` } })
const heading = (page: Page) => page.locator('h1').innerText()

/** Goes back, forward and reloads, as a person would who looks for a token that someone else created in this browser. */
async function expectUnrecoverable(page: Page, plaintext: string): Promise<void> {
  await expectNotFound(page, plaintext)
  for (const step of ['goBack', 'reload', 'goForward', 'goBack', 'goBack', 'goForward', 'goForward', 'reload'] as const) {
    // The browser cannot show a page that was the response to a form, because of no-store.
    await page[step]({ waitUntil: 'load' }).catch((error: Error) => expect(error.message).toContain('ERR_CACHE_MISS'))
    await expectNotFound(page, plaintext)
  }
  await page.goto('/settings/tokens')
  await expectNotFound(page, plaintext)
}

async function signUp({ page }: Window, link: string, email: string): Promise<void> {
  await page.goto(link)
  expect(new URL(page.url()).search).toBe('')
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByLabel('Repeat the password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign up' }).click()
  expect(await heading(page)).toBe('API tokens')
}

describe.each([true, false])('a complete visit with JavaScript: %s', (javaScriptEnabled) => {
  test('a person signs up, creates a token, uses it, rotates it, revokes it and signs out', async () => {
    const { link, email } = await createMember('Nora Lindqvist')
    const window = await openWindow(browser, url, { javaScriptEnabled })
    const { page } = window
    await signUp(window, link, email)

    await page.getByRole('link', { name: 'New token' }).click()
    await page.getByLabel('Name').fill('Nightly build')
    await page.getByLabel('kanban:admin').check()
    await page.getByLabel('Lifetime in days').fill('7')
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await heading(page)).toBe('Create this token?')
    expect(await page.getByText('Permanently delete a board').isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Create token' }).click()
    const first = await page.locator('#plaintext').innerText()
    expect(first).toMatch(TOKEN)
    expect(await page.locator('#curl').innerText()).toBe(`curl -s ${url}/v1/account -H 'Authorization: Bearer ${first}'`)
    if (javaScriptEnabled) {
      await page.getByRole('button', { name: 'Copy' }).first().click()
      await page.getByText('Copied.').waitFor()
      expect(await page.evaluate(() => (globalThis as any).navigator.clipboard.readText())).toBe(first)
      await page.evaluate(() => (globalThis as any).navigator.clipboard.writeText(''))
    } else expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
    const response = await account(first)
    expect([response.status, ((await response.json()) as any).data.token.name]).toEqual([200, 'Nightly build'])
    await page.getByRole('link', { name: 'I have stored it' }).click()
    expect(await page.getByText('in 7 days').isVisible()).toBe(true)
    await expectUnrecoverable(page, first)

    await page.getByRole('link', { name: 'Rotate Nightly build' }).click()
    await page.getByRole('button', { name: 'Rotate token' }).click()
    const second = await page.locator('#plaintext').innerText()
    expect([(await account(first)).status, (await account(second)).status]).toEqual([401, 200])
    await page.getByRole('link', { name: 'I have stored it' }).click()
    await expectUnrecoverable(page, second)
    // Going back and forward has created no further token.
    expect(await page.locator('.token').count()).toBe(2)

    await page.getByRole('link', { name: 'Revoke Nightly build' }).click()
    await page.getByRole('button', { name: 'Revoke token' }).click()
    expect(await page.getByRole('status').innerText()).toContain('The token is revoked.')
    expect((await account(second)).status).toBe(401)
    await page.locator('[data-menu] summary').click()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    expect(await page.getByText('You are signed out.').isVisible()).toBe(true)
    await page.goBack()
    expect(await page.locator('.token').count()).toBe(0)
    for (const secret of [first, second]) await expectNotFound(page, secret)

    expect(window.problems).toEqual([])
    await window.close()
    for (const secret of [first, second, PASSWORD, new URL(link).searchParams.get('code')!]) expect(service.stderr()).not.toContain(secret)
  })
})

test('a complete visit with the keyboard alone', async () => {
  const { link, email } = await createMember('Ben Carter')
  const window = await openWindow(browser, url)
  const { page } = window
  const press = (...keys: string[]) => keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve())
  /** Presses Tab until the element with this name has the focus, and expects that the focus is visible. */
  const reach = async (name: string | RegExp, role?: string) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab')
      const focused = await page.evaluate(() => {
        const element = (globalThis as any).document.activeElement
        const label = element.labels?.[0]?.textContent ?? element.textContent
        const { outlineStyle, outlineWidth } = (globalThis as any).getComputedStyle(element)
        return { tag: element.tagName, label: label.trim(), outline: `${outlineStyle} ${outlineWidth}` }
      })
      const matches = typeof name === 'string' ? focused.label === name : name.test(focused.label)
      if (!matches || (role !== undefined && focused.tag !== role)) continue
      expect([name, focused.outline]).toEqual([name, 'solid 3px'])
      return
    }
    throw new Error(`no element with the name ${name} can be reached with Tab`)
  }
  const follow = (keys: string) => Promise.all([page.waitForEvent('load'), press(keys)])

  await page.goto(link)
  await reach('E-mail address')
  await page.keyboard.type(email)
  await press('Tab')
  await page.keyboard.type(PASSWORD)
  await press('Tab')
  await page.keyboard.type(PASSWORD)
  await follow('Enter')
  expect(await heading(page)).toBe('API tokens')
  await page.context().clearCookies()
  await page.goto(new URL('/settings/sign-in', link).href)
  await reach('E-mail address')
  await page.keyboard.type(email)
  await press('Tab')
  await page.keyboard.type(PASSWORD)
  await follow('Enter')
  expect(await heading(page)).toBe('API tokens')

  // The first link on every page skips its header.
  await press('Tab')
  expect(await page.evaluate(() => (globalThis as any).document.activeElement.textContent)).toBe('Skip to content')
  await press('Enter', 'Tab')
  expect(await page.evaluate(() => (globalThis as any).document.activeElement.textContent)).toContain('New token')
  await follow('Enter')
  await reach('Name')
  await page.keyboard.type('Keys')
  await press('Tab', 'ArrowDown')
  expect(await page.getByLabel('kanban:write').isChecked()).toBe(true)
  await reach('Lifetime in days')
  await press('ControlOrMeta+a')
  await page.keyboard.type('3')
  await follow('Enter')
  await reach('Create token')
  await follow('Space')
  const plaintext = await page.locator('#plaintext').innerText()
  await reach(/^Copy/)
  await press('Enter')
  await page.getByText('Copied.').waitFor()
  await reach('I have stored it')
  await follow('Enter')
  await reach(/^Rotate Keys$/)
  await follow('Enter')
  await reach('Rotate token')
  await follow('Enter')
  const second = await page.locator('#plaintext').innerText()
  expect([(await account(plaintext)).status, (await account(second)).status]).toEqual([401, 200])
  await reach('I have stored it')
  await follow('Enter')
  await reach(/^Revoke Keys$/)
  await follow('Enter')
  await reach('Revoke token')
  await follow('Enter')
  expect((await account(second)).status).toBe(401)
  await reach(/^Account menu/)
  await press('Enter')
  await reach('Sign out')
  await follow('Enter')
  expect(await page.getByText('You are signed out.').isVisible()).toBe(true)
  expect(window.problems).toEqual([])
  await window.close()
})
