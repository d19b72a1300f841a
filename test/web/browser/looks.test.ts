import type { Page } from 'playwright-core'
import { test } from 'vitest'
import { addMember } from '../../../src/admin/memberships.ts'
import { inviteUser, addUser } from '../../../src/admin/users.ts'
import { endAddress, readMailChoices } from '../../../src/mail/mail-choices.ts'
import { DAY } from '../../../src/model/time.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { expectFits, expectGood, fillIn, looks, openWindow } from '../../support/chromium.ts'
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

/** How a person gets from page to page. */
type Step = (page: Page) => Promise<unknown>
const visit =
  (path: string): Step =>
  (page) =>
    page.goto(path)
/** Fills in fields, clicks a link or button, and waits until the next page has loaded with its style sheet. */
const follow =
  (role: 'link' | 'button', name: string, fields: Record<string, string> = {}): Step =>
  async (page) => {
    await fillIn(page, fields)
    await Promise.all([page.waitForEvent('load'), page.getByRole(role, { name, exact: true }).first().click()])
  }
const operation =
  (name: string): Step =>
  (page) =>
    page.goto(`/app/${person.workspaceId}/do/${name}?board_id=${board.split('/').at(-1)}`)

/** Every page of the web app in the order of a visit: name → the steps to it from the page before. */
const steps: Record<string, readonly Step[]> = {
  'sign-in': [visit('/settings/sign-in')],
  'sign-in-refused': [follow('button', 'Sign in', { 'E-mail address': 'somebody@example.org', Password: 'wrong password' })],
  'sign-up': [
    async (page) => {
      const user = await addUser(site.service.deps, { display_name: 'Nora Lindqvist' })
      await page.goto((await inviteUser(site.service.deps, user.id, site.url)).sign_up_link)
    },
  ],
  'sign-up-refused': [
    (page) => fillIn(page, { 'E-mail address': email, Password: PASSWORD }),
    follow('button', 'Sign up', { 'Repeat the password': 'another password' }),
  ],
  'sign-up-no-link': [visit('/settings/sign-up?code=none')],
  'not-signed-in': [visit('/settings/tokens')],
  tokens: [(page) => fillIn(page, { 'E-mail address': email }), follow('button', 'Sign in', { Password: PASSWORD })],
  new: [follow('link', 'New token in Acme')],
  'new-refused': [
    (page) => page.evaluate("document.querySelector('form:has([name=custom_days])').noValidate = true"),
    follow('button', 'Continue', { 'Lifetime in days': '91' }),
  ],
  confirm: [
    (page) => page.getByLabel('kanban:admin').check(),
    follow('button', 'Continue', { Name: 'Nightly build', 'Lifetime in days': '30' }),
  ],
  'confirm-password': [
    async (page) => {
      site.service.now += 15 * 60 * 1000
      await page.reload()
    },
    follow('button', 'Create token', { 'Your password': 'wrong password' }),
  ],
  plaintext: [
    follow('button', 'Create token', { 'Your password': PASSWORD }),
    (page) => page.getByRole('button', { name: 'Copy' }).first().click(),
    (page) => page.getByText('Copied.').waitFor(),
  ],
  rotate: [follow('link', 'I have stored it'), follow('link', 'Rotate Nightly build')],
  rotated: [follow('button', 'Rotate token')],
  revoke: [follow('link', 'I have stored it'), follow('link', 'Revoke Nightly build')],
  revoked: [follow('button', 'Revoke token')],
  first: [visit('/app')],
  'new-board': [(page) => page.goto(`/app/${person.workspaceId}/do/boards.create`)],
  'new-board-columns': [follow('button', 'Create board', { Name: 'Spring' }), async (page) => void (board = new URL(page.url()).pathname)],
  'do-labels': [(page) => page.goto(`${board}/labels`), follow('button', 'Create label', { Name: 'urgent' })],
  'board-people': [(page) => page.goto(`${board}/members`)],
  'do-create': [operation('cards.create')],
  'do-refused': [operation('columns.create'), follow('button', 'Create column', { Name: 'Later', 'Limit of cards': '-1' })],
  'do-delete': [operation('boards.delete')],
  'board-webhooks': [(page) => page.goto(`${board}/webhooks`)],
  'webhook-refused': [follow('link', 'Create webhook'), follow('button', 'Create webhook', { URL: 'https://10.1.2.3/hook' })],
  'webhook-secret': [follow('button', 'Create webhook', { URL: 'https://hooks.example/kanban' })],
  webhook: [follow('link', 'I have stored it')],
  'board-archive': [(page) => page.goto(`${board}/archive`)],
  mails: [visit('/settings/account/mails')],
  'mails-stored': [follow('button', 'Save')],
  'mails-end': [
    async (page) => {
      const { mails } = (await readMailChoices(site.service.deps, person.id))!
      await page.goto(endAddress(site.url, person.id, mails, ['question', 'commented']))
    },
  ],
  'mails-ended': [follow('button', 'End these mails')],
  'mails-end-refused': [visit('/settings/mails/end?user=somebody')],
  used: [visit('/settings/confirm/cnf_00000000000000000000')],
  'not-found': [visit('/settings/absent')],
  'signed-out': [(page) => page.locator('[data-menu] summary').click(), follow('button', 'Sign out')],
  'front-door': [visit('/')],
}
async function go(page: Page, name: string): Promise<void> {
  for (const step of steps[name]!) await step(page)
}

test.each(looks)('every page is accessible, fits its window and loads nothing from another origin: %s', async (look, options) => {
  const page = await openWindow(site.browser, site.url, options)
  for (const name of Object.keys(steps)) {
    await go(page, name)
    await expectGood(page, name, look)
  }
})

test('with large text in a narrow window no page is wider than its window', async () => {
  const page = await openWindow(site.browser, site.url, { viewport: { width: 320, height: 640 } })
  for (const name of ['not-signed-in', 'tokens']) await go(page, name)
  await page.evaluate("document.documentElement.style.fontSize = '200%'")
  await expectFits(page, 'tokens')
})
