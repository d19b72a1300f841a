import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addAuthenticator, openBrowser, openWindow, press } from '../../support/chromium.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { runCommandLine, startProcess } from '../../support/process.ts'
import { codeAt } from '../../support/second-factor.ts'
import { PASSWORD } from '../../support/visitor.ts'

// The other suites of pages run the modules of src. A package that is loaded when it is first used, such as for passkeys, codes and
// uploads, could work there and not in the bundle.
test('what is loaded late works in the built service: passkeys, an authenticator app, mail, pages, uploads and MCP', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-bundle-'))
  const storage = `fs:${folder}/data`
  const { stdout } = await runCommandLine(['init', '--workspace', 'Acme', '--owner', 'Ada King', '--email', 'ada@example.com'], {
    LANEKEEPER_STORAGE: storage,
  })
  const link = new URL(/http:\S+sign-up\S+/.exec(stdout)![0])
  const mail = await startMailServer()
  const settings = { LANEKEEPER_SMTP: mail.url, LANEKEEPER_MAIL_FROM: 'kanban@example.com' }
  const service = startProcess(['serve', '--json'], { LANEKEEPER_STORAGE: storage, ...settings }, { underLoad: true })
  const browser = await openBrowser()
  try {
    const { url } = JSON.parse(await service.until('\n')) as { url: string }
    // Passkeys need a host name.
    const origin = url.replace('127.0.0.1', 'localhost')
    const page = await openWindow(browser, origin)
    await page.goto(link.pathname + link.search)
    for (const label of ['Password', 'Repeat the password']) await page.getByLabel(label, { exact: true }).fill(PASSWORD)
    await press(page, 'Sign up')
    // A person that has signed up is signed in. An owner without a board is asked for one.
    await page.getByRole('heading', { name: 'Welcome to' }).waitFor()

    await page.goto('/settings/account')
    await page.getByRole('link', { name: 'Set up an authenticator app' }).click()
    await press(page, 'Continue')
    await page.locator('.qr svg').waitFor()
    const secret = (await page.locator('code.spaced').innerText()).replaceAll(' ', '')
    await page.getByLabel('First code').fill(codeAt(secret, Date.now()))
    await press(page, 'Add the app')
    await page.getByRole('link', { name: 'I have stored them' }).click()

    await page.goto('/settings/account')
    await addAuthenticator(page)
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.getByLabel('Name').fill('Laptop')
    await press(page, 'Create a passkey')
    await page.getByText('The passkey is added.').waitFor()
    await page.locator('[data-menu] summary').click()
    await press(page, 'Sign out everywhere')
    await page.getByText('You are signed out.').waitFor()
    await press(page, 'Sign in with a passkey')
    await page.getByRole('heading', { name: 'API tokens' }).waitFor()

    await page.getByRole('link', { name: 'New token' }).click()
    await page.getByLabel('Name').fill('Agent')
    await page.getByLabel('kanban:write').check()
    await press(page, 'Continue')
    await press(page, 'Create token')
    await expectAnswers(url, await page.locator('#plaintext').innerText())
    for (const path of ['/app', '/docs', '/policies', '/settings/activity']) {
      await page.goto(path)
      await page.locator('h1').first().waitFor()
    }
    expect((await mail.got())[0]!.to).toEqual(['ada@example.com'])
  } finally {
    await browser.close()
    await mail.close()
    expect(await service.stop()).toBe(0)
    await rm(folder, { recursive: true })
  }
})

/** An upload and a call of MCP are answered. */
async function expectAnswers(url: string, token: string): Promise<void> {
  const authorization = `Bearer ${token}`
  const create = async (path: string, body: object): Promise<string> => {
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return ((await response.json()) as { data: { id: string } }).data.id
  }
  const board = await create('/boards', { name: 'Board' })
  const column = await create(`/boards/${board}/columns`, { name: 'To do' })
  const card = await create(`/boards/${board}/cards`, { column_id: column, title: 'Card' })
  const form = new FormData()
  form.append('file', new Blob(['bytes']), 'a.txt')
  const uploaded = await fetch(`${url}/v1/cards/${card}/files`, { method: 'POST', headers: { authorization }, body: form })
  expect(uploaded.status).toBe(201)
  const listing = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  expect((await listing.text()).includes('"create_card"')).toBe(true)
}
