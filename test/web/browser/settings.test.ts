import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { addMember } from '../../../src/admin/memberships.ts'
import { addUser } from '../../../src/admin/users.ts'
import { issueToken } from '../../../src/auth/tokens/issue.ts'
import { DAY } from '../../../src/model/time.ts'
import { keepAudit } from '../../support/audit-trail.ts'
import { expectGood, looks, press } from '../../support/chromium.ts'
import { signInAt, startSite } from '../../support/site.ts'
import { giveAccount } from '../../support/visitor.ts'

let email: string
let workspaceId: string
const site = startSite(async (service) => {
  const recorder = keepAudit(service)
  workspaceId = await service.workspace('Acme')
  const join = async (display_name: string, role: 'owner' | 'member') => {
    const user = await addUser(service.deps, { display_name })
    await addMember(service.deps, workspaceId, user, role)
    return user.id
  }
  const [olivia, max] = [await join('Olivia Stone', 'owner'), await join('Max Keller', 'member')]
  const issue = (userId: string, name: string, scope: string, days = 90) =>
    service.write(workspaceId, (tx) => issueToken(tx, { userId, name, scopes: [scope], lifetime: days * DAY }, service.deps))
  const tokens = [await issue(olivia, 'Nightly build', 'kanban:write'), await issue(max, 'Release notes agent', 'kanban:read')]
  for (const days of [10, 20.5, 25, 32, 80]) await issue(olivia, 'test', 'kanban:write', days)
  const client = {
    'user-agent': 'claude-code/2.1 (linux; node 22) with-a-rather-long-description-of-itself',
    'x-forwarded-for': '2001:db8:85a3::8a2e:370:7334',
  }
  const begin = service.now
  for (let day = 0; day < 20; day++) {
    service.now = begin + day * DAY
    for (const [i, { plaintext }] of tokens.entries())
      for (let call = 0; call < ((day * 7) % 5) + i; call++) {
        const isRefused = call % 3 === 2
        const asked = isRefused
          ? (['DELETE', '/boards/brd_00000000000000000000'] as const)
          : (['POST', '/boards', { name: 'Release' }] as const)
        await service.send(plaintext, asked[0], asked[1], asked[2], client)
      }
    await service.app.services.usage.flush()
    await recorder.flush()
  }
  email = await giveAccount(service, { id: olivia })
  await giveAccount(service, { id: max })
})

const signIn = (options: BrowserContextOptions = {}) => signInAt(site, email, options)

/** The pages that no visit of the other suites has: name → how to get there. */
const pages: Record<string, (page: Page) => Promise<unknown>> = {
  ended: (page) => page.locator('.ended summary').click(),
  search: (page) => page.goto('/settings/tokens?q=nothing'),
  activity: (page) => page.goto('/settings/activity'),
  workspace: (page) => page.goto(`/settings/workspace/${workspaceId}`),
  'workspace-audit': (page) => page.goto(`/settings/workspace/${workspaceId}/audit?outcome=denied`),
  example: async (page) => {
    await page.goto(`/settings/tokens/new?workspace=${workspaceId}`)
    await page.getByLabel('Name').fill('Nightly build')
    for (const name of ['Continue', 'Create token']) await press(page, name)
    await page.locator('#plaintext').waitFor()
    for (const title of ['JavaScript and TypeScript', 'MCP']) await page.getByText(title, { exact: true }).click()
  },
}

test.each(looks)('the pages are accessible, fit their window, and load nothing from another origin: %s', async (look, options) => {
  const page = await signIn(options)
  for (const [name, go] of Object.entries(pages)) {
    await go(page)
    await expectGood(page, name, look)
  }
})

test('times are in the zone of the person, and the exact time of a distance is in its title', async () => {
  const page = await signIn({ timezoneId: 'Asia/Kathmandu' })
  const exact = page.locator('.token time[data-exact]').first()
  const at = (await exact.getAttribute('datetime'))!
  // Nepal is 5:45 ahead of UTC.
  const local = new Date(Date.parse(at) + 345 * 60_000).toISOString()
  expect(await exact.innerText()).toBe(`${local.slice(0, 10)} ${local.slice(11, 16)} GMT+5:45`)
  expect(await exact.getAttribute('title')).toBe(`${at.slice(0, 10)} ${at.slice(11, 16)} UTC`)
  const distance = page.locator('time[data-distance]').first()
  expect(await distance.innerText()).toMatch(/^in \d+ days?$/)
  expect(await distance.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:45 GMT\+5:45$/)
})

test('every page has the theme that a person chooses, before it is shown and in other tabs', async () => {
  const page = await signIn({ colorScheme: 'light' })
  const ground = (of: Page) => of.evaluate('getComputedStyle(document.body).backgroundColor')
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
})
