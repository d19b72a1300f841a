import type { Locator, Page } from 'playwright-core'
import { test } from 'vitest'
import { addMember } from '../../../src/admin/memberships.ts'
import { inviteUser, addUser } from '../../../src/admin/users.ts'
import { DAY } from '../../../src/model/time.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { expectFits, expectGood, looks, openWindow } from '../../support/chromium.ts'
import type { Person } from '../../support/service.ts'
import { startSite } from '../../support/site.ts'
import { giveAccount, PASSWORD } from '../../support/visitor.ts'

let person: Person
let email: string
const site = startSite(async (service) => {
  const workspaceId = await service.workspace('Acme')
  const at = service.now
  // Tokens in every state and with every warning.
  service.now = at - 80 * DAY
  person = await service.person(workspaceId, 'owner', 'Olivia Stone')
  for (const lifetime of [10, 80.5, 86, 90]) await service.token(workspaceId, person.id, ['kanban:write'], lifetime * DAY)
  service.now = at
  await service.send(person.admin, 'GET', '/account')
  await service.app.services.usage.settled()
  const other = await service.workspace('A workspace whose name is much longer than usual, because some workspace always has such a name')
  const user = await service.write(GLOBAL, (tx) => tx.get(keys.user(person.id)))
  await addMember(service.deps, other, user!, 'member')
  email = await giveAccount(service, person)
})
/** The path of the board that a visit creates. */
let board: string

/** Clicks a link or button and waits until the next page has loaded with its style sheet. */
async function follow(page: Page, locator: Locator): Promise<void> {
  await Promise.all([page.waitForEvent('load'), locator.click()])
}

/** Every page of the web app in the order of a visit: name → how to get there from the page before. */
const steps: Record<string, (page: Page) => Promise<unknown>> = {
  'sign-in': (page) => page.goto('/settings/sign-in'),
  'sign-in-refused': async (page) => {
    await page.getByLabel('E-mail address').fill('somebody@example.org')
    await page.getByLabel('Password').fill('wrong password')
    await follow(page, page.getByRole('button', { name: 'Sign in', exact: true }))
  },
  'sign-up': async (page) => {
    const user = await addUser(site.service.deps, { display_name: 'Nora Lindqvist' })
    await page.goto((await inviteUser(site.service.deps, user.id, site.url)).sign_up_link)
  },
  'sign-up-refused': async (page) => {
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('Repeat the password').fill('another password')
    await follow(page, page.getByRole('button', { name: 'Sign up' }))
  },
  'sign-up-no-link': (page) => page.goto('/settings/sign-up?code=none'),
  'not-signed-in': (page) => page.goto('/settings/tokens'),
  tokens: async (page) => {
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await follow(page, page.getByRole('button', { name: 'Sign in', exact: true }))
  },
  new: (page) => follow(page, page.getByRole('link', { name: 'New token in Acme' })),
  'new-refused': async (page) => {
    await page.evaluate("document.querySelector('form:has([name=custom_days])').noValidate = true")
    await page.getByLabel('Lifetime in days').fill('91')
    await follow(page, page.getByRole('button', { name: 'Continue' }))
  },
  confirm: async (page) => {
    await page.getByLabel('Name').fill('Nightly build')
    await page.getByLabel('Lifetime in days').fill('30')
    await page.getByLabel('kanban:admin').check()
    await follow(page, page.getByRole('button', { name: 'Continue' }))
  },
  'confirm-password': async (page) => {
    site.service.now += 15 * 60 * 1000
    await page.reload()
    await page.getByLabel('Your password').fill('wrong password')
    await follow(page, page.getByRole('button', { name: 'Create token' }))
  },
  plaintext: async (page) => {
    await page.getByLabel('Your password').fill(PASSWORD)
    await follow(page, page.getByRole('button', { name: 'Create token' }))
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByText('Copied.').waitFor()
  },
  rotate: async (page) => {
    await follow(page, page.getByRole('link', { name: 'I have stored it' }))
    await follow(page, page.getByRole('link', { name: 'Rotate Nightly build' }).first())
  },
  rotated: (page) => follow(page, page.getByRole('button', { name: 'Rotate token' })),
  revoke: async (page) => {
    await follow(page, page.getByRole('link', { name: 'I have stored it' }))
    await follow(page, page.getByRole('link', { name: 'Revoke Nightly build' }).first())
  },
  revoked: (page) => follow(page, page.getByRole('button', { name: 'Revoke token' })),
  first: (page) => page.goto('/app'),
  'new-board': (page) => page.goto(`/app/${person.workspaceId}/do/boards.create`),
  'new-board-columns': async (page) => {
    await page.getByLabel('Name').fill('Spring')
    await follow(page, page.getByRole('button', { name: 'Create board' }))
  },
  'do-labels': async (page) => {
    board = new URL(page.url()).pathname
    await page.goto(`${board}/labels`)
    await page.getByLabel('Name').fill('urgent')
    await follow(page, page.getByRole('button', { name: 'Create label' }))
  },
  'board-people': (page) => page.goto(`${board}/members`),
  'do-create': (page) => page.goto(`/app/${person.workspaceId}/do/cards.create?board_id=${board.split('/').at(-1)}`),
  'do-refused': async (page) => {
    await page.goto(`/app/${person.workspaceId}/do/columns.create?board_id=${board.split('/').at(-1)}`)
    await page.getByLabel('Name').fill('Later')
    await page.getByLabel('Limit of cards').fill('-1')
    await follow(page, page.getByRole('button', { name: 'Create column' }))
  },
  'do-delete': (page) => page.goto(`/app/${person.workspaceId}/do/boards.delete?board_id=${board.split('/').at(-1)}`),
  'board-archive': (page) => page.goto(`${board}/archive`),
  used: (page) => page.goto('/settings/confirm/cnf_00000000000000000000'),
  'not-found': (page) => page.goto('/settings/absent'),
  'signed-out': async (page) => {
    await page.locator('[data-menu] summary').click()
    await follow(page, page.getByRole('button', { name: 'Sign out', exact: true }))
  },
  'front-door': (page) => page.goto('/'),
}

test.each(looks)('every page is accessible, fits its window and loads nothing from another origin: %s', async (look, options) => {
  const page = await openWindow(site.browser, site.url, options)
  for (const [name, go] of Object.entries(steps)) {
    await go(page)
    await expectGood(page, name, look)
  }
})

test('with large text in a narrow window no page is wider than its window', async () => {
  const page = await openWindow(site.browser, site.url, { viewport: { width: 320, height: 640 } })
  await steps['not-signed-in']!(page)
  await steps['tokens']!(page)
  await page.evaluate("document.documentElement.style.fontSize = '200%'")
  await expectFits(page, 'tokens')
})
