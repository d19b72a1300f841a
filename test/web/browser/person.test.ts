import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectNotFound, openBrowser, openWindow } from '../../support/chromium.ts'
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
  expect({ args, code: result.code, stderr: result.stderr }).toEqual({ args, code: 0, stderr: '' })
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

/** How a person uses what has a name on a page: fields, links, buttons and menus. */
interface Hands {
  write(label: string, text: string): Promise<void>
  press(name: string): Promise<void>
}

const mouse = (page: Page): Hands => ({
  write: (label, text) => page.getByLabel(label, { exact: true }).fill(text),
  press: (name) => page.locator('a, button, summary', { hasText: name }).first().click(),
})

function keyboard(page: Page): Hands {
  /** Presses Tab until the element with this name has the focus, and expects that the focus is visible. */
  const reach = async (name: string) => {
    for (let i = 0; i < 60; i++) {
      // A page that is one form begins in its first field. Behind the last element, no element has the focus.
      const focused = page.locator(':focus')
      if (i > 0 || (await focused.count()) === 0) await page.keyboard.press('Tab')
      if ((await focused.count()) === 0) continue
      const { label, outline } = await focused.evaluate((element: any) => {
        const { outlineStyle, outlineWidth } = element.ownerDocument.defaultView.getComputedStyle(element)
        return { label: (element.labels?.[0] ?? element).textContent.trim(), outline: `${outlineStyle} ${outlineWidth}` }
      })
      if (label.startsWith(name)) return expect([name, outline]).toEqual([name, 'solid 3px'])
    }
    throw new Error(`no element with the name ${name} can be reached with Tab`)
  }
  return {
    async write(label, text) {
      await reach(label)
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.type(text)
    },
    async press(name) {
      await reach(name)
      await page.keyboard.press('Enter')
    },
  }
}

test.each([
  ['with the keyboard alone', true],
  ['without JavaScript', false],
])('%s a person signs up, creates a token, uses it, rotates it, revokes it and signs out', async (_how, javaScriptEnabled) => {
  const { link, email } = await createMember('Nora Lindqvist')
  const page = await openWindow(browser, url, { javaScriptEnabled })
  const { write, press } = javaScriptEnabled ? keyboard(page) : mouse(page)
  const follow = (name: string) => Promise.all([page.waitForEvent('load'), press(name)])

  await page.goto(link)
  expect(new URL(page.url()).search).toBe('')
  await write('E-mail address', email)
  await write('Password', PASSWORD)
  await write('Repeat the password', PASSWORD)
  await follow('Sign up')
  expect(await heading(page)).toBe('API tokens')

  if (javaScriptEnabled) {
    // The first link on every page skips its header.
    await press('Skip to content')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toContain('New token')
    await page.keyboard.press('Shift+Tab')
  }
  await follow('New token')
  await write('Name', 'Nightly build')
  if (javaScriptEnabled) for (const key of ['Tab', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key)
  else await page.getByLabel('kanban:admin').check()
  await write('Lifetime in days', '7')
  await follow('Continue')
  expect(await heading(page)).toBe('Create this token?')
  expect(await page.getByText('Permanently delete a board').isVisible()).toBe(true)
  await follow('Create token')
  const first = await page.locator('#plaintext').innerText()
  expect(first).toMatch(TOKEN)
  if (javaScriptEnabled) {
    await press('Copy')
    await page.getByText('Copied.').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(first)
    await page.evaluate("navigator.clipboard.writeText('')")
  } else expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
  const response = await account(first)
  expect({ status: response.status, name: ((await response.json()) as any).data.token.name }).toEqual({
    status: 200,
    name: 'Nightly build',
  })
  await follow('I have stored it')
  expect(await page.getByText('in 7 days').isVisible()).toBe(true)
  await expectUnrecoverable(page, first)

  await follow('Rotate Nightly build')
  await follow('Rotate token')
  const second = await page.locator('#plaintext').innerText()
  expect({ first: (await account(first)).status, second: (await account(second)).status }).toEqual({ first: 401, second: 200 })
  await follow('I have stored it')
  await expectUnrecoverable(page, second)
  // Going back and forward has created no further token.
  expect(await page.locator('.token').count()).toBe(2)

  await follow('Revoke Nightly build')
  await follow('Revoke token')
  expect(await page.getByRole('status').innerText()).toContain('The token is revoked.')
  expect((await account(second)).status).toBe(401)
  await press('Account menu')
  await follow('Sign out')
  expect(await page.getByText('You are signed out.').isVisible()).toBe(true)
  await page.goBack()
  expect(await page.locator('.token').count()).toBe(0)
  for (const secret of [first, second]) await expectNotFound(page, secret)
  for (const secret of [first, second, PASSWORD, new URL(link).searchParams.get('code')!]) expect(service.stderr()).not.toContain(secret)
})
