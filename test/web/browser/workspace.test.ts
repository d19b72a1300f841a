import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../../src/admin/memberships.ts'
import { addUser } from '../../../src/admin/users.ts'
import { startListener, type Listener } from '../../../src/listener/listener.ts'
import { issueToken } from '../../../src/auth/tokens/issue.ts'
import { DAY } from '../../../src/model/time.ts'
import { keepAudit } from '../../support/audit-trail.ts'
import { enterPassword, expectAccessible, expectFits, openBrowser, openWindow, screenshot } from '../../support/chromium.ts'
import { memory } from '../../support/memory.ts'
import { Service } from '../../support/service.ts'
import { giveAccount } from '../../support/visitor.ts'

const looks = {
  light: { colorScheme: 'light', viewport: { width: 1200, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1200, height: 800 } },
  phone: { colorScheme: 'light', viewport: { width: 360, height: 740 }, javaScriptEnabled: true },
} as const

let browser: Browser
let service: Service
let listener: Listener
let email: string
let workspaceId: string
beforeAll(async () => {
  browser = await openBrowser()
  service = await Service.start(memory, { proxies: 1 })
  listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  const recorder = keepAudit(service)
  workspaceId = await service.workspace('Acme')
  const join = async (display_name: string, role: 'owner' | 'member') => {
    const user = await addUser(service.deps, { display_name })
    await addMember(service.deps, workspaceId, user, role)
    return user.id
  }
  const [olivia, max] = [await join('Olivia Stone', 'owner'), await join('Max Keller', 'member')]
  const issue = (userId: string, name: string, scope: string) =>
    service.write(workspaceId, (tx) => issueToken(tx, { userId, name, scopes: [scope] }, service.deps))
  const tokens = [await issue(olivia, 'Nightly build', 'kanban:write'), await issue(max, 'Release notes agent', 'kanban:read')]
  const begin = service.now
  for (let day = 0; day < 20; day++) {
    service.now = begin + day * DAY
    for (const [i, { plaintext }] of tokens.entries())
      for (let call = 0; call < ((day * 7) % 5) + i; call++)
        await service.send(
          plaintext,
          call % 3 === 2 ? 'DELETE' : 'POST',
          call % 3 === 2 ? '/boards/brd_00000000000000000000' : '/boards',
          call % 3 === 2 ? undefined : { name: 'Release' },
          {
            'user-agent': 'claude-code/2.1 (linux; node 22) with-a-rather-long-description-of-itself',
            'x-forwarded-for': '2001:db8:85a3::8a2e:370:7334',
          },
        )
    await service.app.services.usage.flush()
    await recorder.flush()
  }
  email = await giveAccount(service, { id: olivia })
  await giveAccount(service, { id: max })
})
afterAll(async () => {
  await browser.close()
  await listener.close()
  await service.stop()
})

describe.each(Object.keys(looks) as (keyof typeof looks)[])('the pages of owners: %s', (look) => {
  test('are accessible, fit their window, and load nothing from another origin', async () => {
    const window = await openWindow(browser, listener.url, looks[look])
    const { page, problems } = window
    await Promise.all([page.waitForURL('**/settings/tokens'), enterPassword(page, email)])
    const paths = {
      'tokens-with-use': '/settings/tokens',
      activity: '/settings/activity',
      workspace: `/settings/workspace/${workspaceId}`,
      'workspace-audit': `/settings/workspace/${workspaceId}/audit?outcome=denied`,
    }
    for (const [name, path] of Object.entries(paths)) {
      await page.goto(path)
      await screenshot(page, `${name}-${look}`)
      if (look !== 'phone') await expectAccessible(page, name, look === 'dark' ? 'color' : 'all')
      await expectFits(page, name)
    }
    expect(problems).toEqual([])
    await window.close()
  })
})

test('an owner revokes the token of a member by mouse, without JavaScript', async () => {
  const window = await openWindow(browser, listener.url, { javaScriptEnabled: false })
  const { page } = window
  await Promise.all([page.waitForURL('**/settings/tokens'), enterPassword(page, email)])
  await page.getByRole('link', { name: 'Workspace', exact: true }).click()
  await page.getByRole('link', { name: 'Revoke Release notes agent of Max Keller' }).click()
  await screenshot(page, 'workspace-revoke')
  await page.getByRole('button', { name: 'Revoke token' }).click()
  await page.getByText('The token is revoked.').waitFor()
  await page.getByLabel('Maximum lifetime in days').fill('30')
  await page.getByRole('button', { name: 'Save rules' }).click()
  await page.getByText('The rules are changed.').waitFor()
  await screenshot(page, 'workspace-changed')
  expect(await page.getByLabel('Maximum lifetime in days').inputValue()).toBe('30')
  await window.close()
})
