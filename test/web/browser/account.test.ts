import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  addAuthenticator,
  enterPassword,
  expectAccessible,
  expectFits,
  expectNotFound,
  openWindow,
  press,
  screenshot,
} from '../../support/chromium.ts'
import { codeAt } from '../../support/second-factor.ts'
import { startSite } from '../../support/site.ts'
import { giveAccount, PASSWORD } from '../../support/visitor.ts'

const MINUTE = 60_000
const WIDE = { width: 1100, height: 800 }
/** Pages with elements that no page of another part has: only their dark colors are examined here. */
const OWN_COLORS = new Set(['with-passkey', 'app-secret', 'alerts'])
const PHONE = { width: 360, height: 740 }

let workspaceId: string
const site = startSite(async (service) => (workspaceId = await service.workspace('Acme')))

const createPerson = async (name: string) => giveAccount(site.service, await site.service.person(workspaceId, 'member', name))

/** Expects a heading, and that the page is accessible and fits its window, wide and on a phone. The phone has the dark look. */
async function expectPage(page: Page, title: string, name: string): Promise<void> {
  await page.getByRole('heading', { name: title, level: 1 }).waitFor()
  await screenshot(page, `account-${name}`)
  await expectAccessible(page, name)
  await page.emulateMedia({ colorScheme: 'dark' })
  // Colors change gradually.
  await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished))')
  if (OWN_COLORS.has(name)) await expectAccessible(page, `${name}, dark`, 'color')
  await page.setViewportSize(PHONE)
  await screenshot(page, `account-${name}-phone`)
  await expectFits(page, name)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(WIDE)
}

test('a person protects their account with an app and a passkey, and signs in with each of them', async () => {
  const email = await createPerson('Nora Lindqvist')
  const page = await openWindow(site.browser, site.url, { viewport: WIDE })
  const look = (title: string, name: string) => expectPage(page, title, name)
  const said = (text: string) => page.getByText(text).first().waitFor()
  await enterPassword(page, email)
  await page.getByRole('link', { name: 'Account', exact: true }).click()
  await page.getByRole('heading', { name: 'Your account' }).waitFor()

  await page.goto('/settings/account')
  await page.getByRole('link', { name: 'Set up an authenticator app' }).click()
  await look('Set up an authenticator app', 'app-start')
  await press(page, 'Continue')
  await look('Scan the code with your app', 'app-secret')
  const secret = (await page.locator('code.spaced').innerText()).replaceAll(' ', '')
  await page.getByLabel('First code').fill('000000')
  await press(page, 'Add the app')
  await said('The code is wrong.')
  await page.getByLabel('First code').fill(codeAt(secret, site.service.now))
  await press(page, 'Add the app')
  await look('Your recovery codes', 'recovery-codes')
  const codes = (await page.locator('#codes').innerText()).split('\n')
  await page.getByRole('link', { name: 'I have stored them' }).click()
  for (const one of [secret, codes[0]!]) await expectNotFound(page, one)
  await page.goBack().catch((error: Error) => expect(error.message).toContain('ERR_CACHE_MISS'))
  await expectNotFound(page, codes[0]!)

  await page.goto('/settings/account')
  await addAuthenticator(page)
  await page.getByRole('link', { name: 'Add a passkey' }).click()
  await look('Add a passkey', 'passkey-new')
  await page.getByLabel('Name').fill('Work laptop')
  await press(page, 'Create a passkey')
  await said('The passkey is added.')
  await look('Your account', 'with-passkey')
  // A device has one passkey of a person.
  await page.getByRole('link', { name: 'Add a passkey' }).click()
  await press(page, 'Create a passkey')
  await said('This device already has a passkey for your account.')

  await page.goto('/settings/account')
  await page.getByRole('link', { name: 'Change Work laptop' }).click()
  await look('Work laptop', 'passkey')
  await page.getByLabel('Name').fill('Old laptop')
  await press(page, 'Rename')
  await page.getByRole('link', { name: 'Change Old laptop' }).waitFor()

  await page.locator('[data-menu] summary').click()
  await press(page, 'Sign out everywhere')
  await said('You are signed out.')
  await look('Sign in', 'sign-in')
  await press(page, 'Sign in with a passkey')
  await page.getByRole('heading', { name: 'API tokens' }).waitFor()

  // The passkey proves who creates a token with kanban:admin.
  site.service.now += 11 * MINUTE
  await page.goto(`/settings/tokens/new?workspace=${workspaceId}`)
  await page.getByLabel('Name').fill('Nightly build')
  await page.getByLabel('kanban:admin').check()
  await press(page, 'Continue')
  await look('Create this token?', 'prove')
  await press(page, 'Use a passkey instead')
  expect(await page.locator('#plaintext').innerText()).toMatch(/^lk_pat_/)

  await page.goto('/settings/account')
  await page.getByRole('link', { name: 'Change Old laptop' }).click()
  await press(page, 'Remove the passkey')
  await said('The passkey is removed.')
  // The browser is still known: a new one could not dismiss the alerts.
  await page.context().clearCookies({ name: 'lk_session' })
  await enterPassword(page, email)
  await look('Enter a code', 'code')
  await page.getByLabel('Code').fill('000000')
  await press(page, 'Sign in')
  await said('The code is wrong')
  await page.getByLabel('Code').fill(codeAt(secret, site.service.now))
  await press(page, 'Sign in')
  await look('API tokens', 'alerts')
  await page.locator('.alerts summary').click()
  await press(page, 'Dismiss')
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
  expect(await page.locator('.alerts summary').count()).toBe(0)

  await page.getByRole('link', { name: 'Change password' }).click()
  for (const [label, value] of [
    ['Present password', PASSWORD],
    ['New password', 'qwerty123456'],
    ['Repeat the new password', 'qwerty123456'],
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(value)
  await press(page, 'Change password')
  await look('Change password', 'password-refused')
  await page.goto('/settings/account/revoke-tokens')
  await look('Revoke all my tokens?', 'revoke-tokens')
  await press(page, 'Revoke all my tokens')
  await said('All your tokens are revoked.')

  site.service.now += 11 * MINUTE
  await page.goto('/settings/account/authenticator/remove')
  await look('Remove the authenticator app?', 'app-remove')
  await page.getByLabel('Your password').fill(PASSWORD)
  await page.getByLabel('Code').fill(codes[1]!)
  await press(page, 'Remove the app')
  await said('The authenticator app is removed.')
})

test('without JavaScript the pages offer no passkeys', async () => {
  const page = await openWindow(site.browser, site.url, { javaScriptEnabled: false })
  await page.goto('/settings/sign-in')
  expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0)
  await enterPassword(page, await createPerson('Ben Carter'))
  await page.goto('/settings/account/passkeys/new')
  expect(await page.getByRole('button', { name: 'Create a passkey' }).isVisible()).toBe(false)
})

test('at an IP address there are no passkeys, and the pages say so', async () => {
  const email = await createPerson('Ida Berg')
  const page = await openWindow(site.browser, site.url.replace('localhost', '127.0.0.1'))
  await enterPassword(page, email)
  await page.goto('/settings/account')
  await page.getByText('Browsers allow no passkeys at an IP address.').waitFor()
})
