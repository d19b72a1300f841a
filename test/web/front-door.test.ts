import { describe, expect, test } from 'vitest'
import { DAY } from '../../src/model/time.ts'
import { startForSuite } from '../support/board-team.ts'
import { formOf, giveAccount, signedIn, Visitor, PASSWORD } from '../support/visitor.ts'

const service = await startForSuite({ url: undefined })
const person = await service.person(await service.workspace())
const email = await giveAccount(service, person)
const newToken = `/settings/tokens/new?workspace=${person.workspaceId}`
const browser = () => new Visitor(service)
const HTML = { headers: { accept: 'text/html,application/xhtml+xml' } }

describe('the front door', () => {
  test('says what the service is, and leads to everything else', async () => {
    const page = await browser().request('/')
    expect({ status: page.status, contentType: page.headers.get('content-type') }).toEqual({
      status: 200,
      contentType: 'text/html; charset=utf-8',
    })
    expect(page.shown).toContain("curl -s http://localhost/v1/account -H 'Authorization: Bearer <ACCESS_TOKEN>'")
    for (const path of ['/settings/sign-in', '/docs', '/openapi.json', '/policies', '/readyz', '/favicon.svg']) {
      expect(page.text).toContain(`href="${path}"`)
      expect([path, (await browser().request(path)).status]).toEqual([path, 200])
    }
    const own = await (await signedIn(service, person)).request('/')
    expect(own.text).toContain('href="/app"')
    expect(own.text).not.toContain('href="/settings/sign-in"')
  })
})

describe('a wrong address', () => {
  test.each(['/wrong', '/v2/boards', '/policies/', '/healthz/x', '/settings/../wrong', '/app/x'])(
    '%s is a page for a browser',
    async (path) => {
      const page = await (await signedIn(service, person)).request(path, HTML)
      expect({ status: page.status, contentType: page.headers.get('content-type') }).toEqual({
        status: 404,
        contentType: 'text/html; charset=utf-8',
      })
      expect(page.text).toContain('Page not found')
    },
  )

  test.each([
    ['/v1/wrong', { ...HTML }],
    ['/wrong', {}],
    ['/wrong', { headers: { accept: '*/*' } }],
    ['/wrong', { ...HTML, method: 'POST' }],
  ])('%s is JSON for everything else: %j', async (path, options) => {
    const page = await browser().request(path, options)
    expect({ isRefused: page.status === 404 || page.status === 401, contentType: page.headers.get('content-type') }).toEqual({
      isRefused: true,
      contentType: 'application/json; charset=utf-8',
    })
  })
})

describe('signing in for a page', () => {
  const signInHere = (visitor: Visitor) => visitor.submit({ email, password: PASSWORD }, '/settings/sign-in')

  test('the first visit shows no warning, and leads to the page that was asked for', async () => {
    const visitor = browser()
    const page = await visitor.open(newToken)
    expect(page.text).not.toContain('class="message')
    const { hidden } = formOf(page.text, '/settings/sign-in')
    const answer = await visitor.post('/settings/sign-in', { ...hidden, email, password: PASSWORD })
    expect(answer.location).toBe(newToken)
    expect(visitor.jar.has('lk_return')).toBe(false)
  })

  test('a session that has ended keeps the fields of a form, but none that the form does not name', async () => {
    const visitor = await signedIn(service, person)
    await visitor.open(newToken)
    service.now += 8 * DAY
    const page = await visitor.submit(
      { name: 'Nightly build', scope: 'kanban:write', days: '7', password: 'a secret' },
      '/settings/tokens/new',
    )
    expect(page.shown).toContain('Your session has ended.')
    expect(visitor.jar.get('lk_return')).not.toContain('secret')
    const back = await signInHere(visitor)
    expect(back.text).toContain('value="Nightly build"')
    expect(/<input[^>]*value="kanban:write"[^>]*>/.exec(back.text)![0]).toContain('checked')
  })

  test('a person is never sent to another site after signing in', async () => {
    const elsewhere = ['https://evil.example', '//evil.example', '/\\evil.example', '/app//evil.example', '/app/../..//evil.example']
    const unknown = ['/app\\..', '/v1', '/application', '/settings/sign-out', '/settings/sign-in', `/app/${'x'.repeat(2000)}`, '/app?\r\nx']
    for (const value of [...elsewhere, ...unknown]) {
      const visitor = browser()
      const page = await visitor.open('/settings/sign-in')
      visitor.jar.set('lk_return', encodeURIComponent(value))
      const { hidden } = formOf(page.text, '/settings/sign-in')
      const answer = await visitor.post('/settings/sign-in', { ...hidden, email, password: PASSWORD })
      expect([value, answer.location]).toEqual([value, '/settings/tokens'])
    }
  })

  test('a form of another site does not choose where a person goes', async () => {
    const visitor = browser()
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    await visitor.post('/settings/tokens/new', { name: 'evil' }, { headers })
    expect(visitor.jar.has('lk_return')).toBe(false)
  })

  test('a person is not sent back to an image or a stream', async () => {
    const visitor = browser()
    for (const path of [`/app/${person.workspaceId}/attachments/x`, `/app/${person.workspaceId}/events?board=x`]) {
      const answer = await visitor.request(path)
      expect({ status: answer.status, hasReturn: visitor.jar.has('lk_return') }).toEqual({ status: 401, hasReturn: false })
    }
  })
})
