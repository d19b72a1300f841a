import { describe, expect, test } from 'vitest'
import { startListener } from '../../src/listener/listener.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { pages } from '../../src/web/pages.ts'
import { startForSuite } from '../support/board-team.ts'
import { captureLog } from '../support/log.ts'
import { formOf, giveAccount, PASSWORD, plaintextIn, signedIn, Visitor, type ReceivedPage } from '../support/visitor.ts'

const captured = captureLog()
const service = await startForSuite({ log: captured.log })
const workspaceId = await service.workspace()
const person = await service.person(workspaceId)
const visitor = await signedIn(service, person)
/** Opens a page while each read of the storage fails. */
async function failing<T>(error: Error, open: () => Promise<T>): Promise<T> {
  service.store.beforeRead = async () => {
    throw error
  }
  return open().finally(() => (service.store.beforeRead = undefined))
}

const CSP =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
const receive = async (from: Visitor, path: string): Promise<[string, ReceivedPage]> => [path, await from.request(path)]

describe('web app responses', () => {
  test('every response forbids frames, foreign scripts, storing, and sharing with other origins', async () => {
    const stranger = new Visitor(service)
    const confirm = formOf((await visitor.choose(workspaceId)).text).action
    const [token] = await visitor.tokenIds()
    const tokenPath = `/settings/tokens/${workspaceId}/${token}`
    const paths = [
      ...pages.flatMap(({ path, get }) => (get !== undefined && /^\/settings[^{]*$/.test(path) ? [path] : [])),
      '/settings/sign-up?code=x',
      '/settings/sign-out',
      `/settings/tokens/new?workspace=${workspaceId}`,
      confirm,
      `${tokenPath}/rotate`,
      `${tokenPath}/revoke`,
      '/settings/absent',
      ...['style.css', 'script.js', 'absent'].map((name) => `/settings/assets/${name}`),
    ]
    const responses: [string, ReceivedPage][] = []
    for (const path of paths) responses.push(await receive(visitor, path), await receive(stranger, path))
    responses.push(['a foreign form', await visitor.post('/settings/tokens/new', {}, { headers: { origin: 'https://evil.example' } })])
    responses.push(['not a form', await visitor.post('/settings/tokens/new', {}, { headers: { 'content-type': 'text/plain' } })])
    responses.push(['DELETE', await visitor.request('/settings/tokens', { method: 'DELETE' })])
    responses.push(['wrong password', await stranger.signIn('nobody@example.org', 'x')])
    responses.push(['a token', await (await visitor.open(confirm), visitor.submit())])
    responses.push(['an unexpected error', await failing(new Error('unexpected'), () => visitor.request('/settings/tokens'))])
    expect(new Set(responses.map(([, { status }]) => status))).toEqual(new Set([200, 303, 401, 403, 404, 405, 415, 500]))
    for (const [path, { headers, status }] of responses) {
      // Style sheets and scripts are the same for everybody.
      const isPublic = path.includes('/assets/') && status === 200
      expect({ path, ...Object.fromEntries(headers) }).toMatchObject({
        path,
        'content-security-policy': CSP,
        'x-frame-options': 'DENY',
        'cache-control': isPublic ? 'public, max-age=300' : 'no-store',
        vary: isPublic ? 'Accept-Encoding' : 'Cookie, Accept-Encoding',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
      })
      expect([path, ...['access-control-allow-origin', 'server', 'x-powered-by'].filter((name) => headers.has(name))]).toEqual([path])
    }
    for (const [path, { text }] of responses.filter(([name]) => !name.includes('/assets/')))
      expect([
        path,
        /<script(?! src="\/settings\/assets\/(?:theme|script|unread-count)\.js\?\w{16}"(?: defer)?)|<style| style=| on\w+=|javascript:/i.exec(
          text,
        )?.[0],
      ]).toEqual([path, undefined])
  })

  test('an unexpected error reveals nothing internal, only the ID of its log entry', async () => {
    const page = await failing(new Error('the password of the database is swordfish'), () => visitor.request('/settings/tokens'))
    expect({ status: page.status, text: page.text }).toEqual({ status: 500, text: expect.not.stringContaining('swordfish') })
    const reference = page.headers.get('x-request-id')!
    expect(page.text).toContain(reference)
    expect(captured.lines.filter(({ request_id }) => request_id === reference)).toMatchObject([{ level: 50 }])
  })

  test.each([
    '/settings/absent',
    '/settings//',
    '/settings/tokens/',
    '/settings//tokens',
    '/settings/tokens/new/x',
    '/settings/TOKENS',
    '/settings/tokens%2fnew',
    '/settings/%zz',
    '/settings/assets/style.css/',
    '/settings/__proto__',
    '/settings/assets/..%2f..%2fpackage.json',
  ])('the path %s is not a page', async (path) => {
    for (const from of [visitor, new Visitor(service)]) {
      const page = await from.request(path)
      expect({ status: page.status, contentType: page.headers.get('content-type') }).toEqual({
        status: 404,
        contentType: 'text/html; charset=utf-8',
      })
    }
  })

  const assets = ['style.css', 'script.js'].map((name) => ({ path: `/settings/assets/${name}`, get: true, post: false }))
  test.each([...pages, ...assets])('$path accepts only its own methods', async (page) => {
    const path = page.path.replace(/\{\w+\}/g, 'x')
    // A GET that changes something is an exception that each page has to be named for.
    const read = /^\/sign-in\/oidc(?!\/sign)/.test(path) ? 'GET' : 'GET, HEAD'
    const allow = [page.get && read, page.post && 'POST'].filter(Boolean).join(', ')
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', ...(page.get ? [] : ['GET', 'HEAD']), ...(page.post ? [] : ['POST'])]) {
      const response = await visitor.request(path, { method })
      expect({ method, status: response.status, allow: response.headers.get('allow') }).toEqual({ method, status: 405, allow })
    }
  })

  test.each(['/settings/sign-in', '/docs'])('what %s loads is kept for good at its address, and asked for at others', async (path) => {
    const loaded = [...(await new Visitor(service).request(path)).text.matchAll(/(?:src|stylesheet" href)="([^"]+)"/g)].map(
      ([, one]) => one!,
    )
    expect(loaded.length).toBe(3)
    const cached = async (address: string) => (await new Visitor(service).request(address)).headers.get('cache-control')
    for (const address of loaded) {
      expect(await cached(address)).toBe('public, max-age=31536000, immutable')
      for (const other of [address.split('?')[0]!, `${address}0`, `${address.slice(0, -1)}x`])
        expect(await cached(other)).toBe('public, max-age=300')
    }
  })

  test('HEAD has the status and headers of GET, without the body', async () => {
    const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
    const send = async (path: string, method: string) => {
      const response = await fetch(`${listener.url}${path}`, { method, redirect: 'manual' })
      const headers = [...response.headers].filter(
        ([name]) =>
          !['date', 'set-cookie', 'x-request-id', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'].includes(name),
      )
      return { status: response.status, headers, text: await response.text() }
    }
    for (const path of ['/settings', '/settings/sign-in', '/settings/absent', '/settings/assets/style.css', '/settings/sign-up?code=x']) {
      const [get, head] = [await send(path, 'GET'), await send(path, 'HEAD')]
      expect([path, head]).toEqual([path, { ...get, text: '' }])
    }
    await listener.close()
  })

  test('when the storage is unavailable, every page says that, and when to retry', async () => {
    const confirm = formOf((await visitor.choose(workspaceId)).text)
    const paths = ['/settings', '/settings/tokens', `/settings/tokens/new?workspace=${workspaceId}`, confirm.action]
    const stranger = new Visitor(service)
    const { hidden } = formOf((await stranger.open('/settings/sign-in')).text)
    const responses = await failing(new StorageUnavailable('gone'), async () => [
      ...(await Promise.all(paths.map((path) => visitor.request(path)))),
      await visitor.post(confirm.action, confirm.hidden),
      await stranger.post('/settings/sign-in', { ...hidden, email: 'ann@example.org', password: PASSWORD }),
    ])
    expect((await failing(new StorageUnavailable('gone'), () => stranger.request('/settings/sign-in'))).status).toBe(200)
    for (const { status, headers, shown } of responses) {
      expect({ status, retryAfter: headers.get('retry-after'), contentType: headers.get('content-type') }).toEqual({
        status: 503,
        retryAfter: '1',
        contentType: 'text/html; charset=utf-8',
      })
      expect(shown).toContain('Storage is not reachable. Nothing was changed.')
    }
    plaintextIn(await visitor.post(confirm.action, confirm.hidden))
  })
})

describe('escaping', () => {
  const payloads = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</code></pre><script>alert(1)</script>',
    '${7*7} {{7*7}} <%= 7*7 %>',
    '&lt;script&gt;',
  ]
  test.each(payloads)('%j is escaped as the name of a token, a workspace and a person, and in a form that is shown again', async (text) => {
    const workspace = await service.workspace(text)
    const visitor = await signedIn(service, await service.person(workspace, 'member', text))
    const received = [await visitor.choose(workspace, { name: text }), await visitor.submit()]
    plaintextIn(received[1]!)
    const [id] = await visitor.tokenIds()
    const token = `/settings/tokens/${workspace}/${id}`
    received.push(visitor.page!, await visitor.open(`${token}/revoke`), await visitor.open(`${token}/rotate`))
    received.push(await visitor.choose(workspace, { name: text, days: '91' }))
    for (const page of received) expect(page.shown).toContain(text)
    received.push(await visitor.choose(workspace, { name: 'x', scope: text, days: text }))
    received.push(await new Visitor(service).signIn(text, text))
    received.push(await visitor.request(`/settings/sign-in?over=${encodeURIComponent(text)}`))
    for (const page of received) {
      expect(page.text).not.toMatch(
        /<img|<script(?! src="\/settings\/assets\/(?:theme|script|unread-count)\.js\?\w{16}"(?: defer)?><\/script>)/,
      )
      for (const [, attributes] of page.text.matchAll(/<\w+((?: [\w-]+(?:="[^"]*")?)*)\s*\/?>/g))
        expect(attributes!.replace(/="[^"]*"/g, '')).not.toMatch(/ on\w+/)
      // After all complete tags are removed, no '<' is left: the payload has not started or ended a tag.
      expect(page.text.replace(/<!doctype html>|<\/?\w+(?: [\w-]+(?:="[^"]*")?)*\s*\/?>/g, '')).not.toContain('<')
    }
  })
})

describe('sessions and tokens', () => {
  test('the web app accepts no token, whatever its scope', async () => {
    const stranger = new Visitor(service)
    for (const token of [person.admin, person.read])
      for (const authorization of [`Bearer ${token}`, `Basic ${Buffer.from(`x:${token}`).toString('base64')}`]) {
        const page = await stranger.request('/settings/tokens', { headers: { authorization } })
        expect({ status: page.status, location: page.location }).toEqual({ status: 303, location: '/settings/sign-in' })
        const form = await stranger.post('/settings/tokens/new', { name: 'x' }, { headers: { authorization } })
        expect({ status: form.status, location: form.location }).toEqual({ status: 303, location: '/settings/sign-in' })
      }
    stranger.jar.set('lk_session', person.admin)
    expect((await stranger.request('/settings/tokens')).location).toBe('/settings/sign-in?over')
  })

  /** Each page has the form token in another way. */
  const withoutToken = (html: string) => html.replaceAll(/[\w-]{115}/g, '')

  test('a token in addition to a session, valid or not, changes nothing in the web app', async () => {
    const plain = await visitor.request('/settings/tokens')
    const other = await service.person(workspaceId)
    for (const authorization of [`Bearer ${other.admin}`, 'Bearer nonsense'])
      expect(withoutToken((await visitor.request('/settings/tokens', { headers: { authorization } })).text)).toBe(withoutToken(plain.text))
  })

  test('the API accepts no session: it answers 401, and a session in addition to a token has no effect', async () => {
    const { cookie } = visitor
    expect(cookie).toContain('lk_session=')
    const alone = await service.send(null, 'GET', '/account', undefined, { cookie })
    expect({
      status: alone.status,
      wwwAuthenticate: alone.headers.get('www-authenticate'),
      setCookie: alone.headers.get('set-cookie'),
    }).toEqual({ status: 401, wwwAuthenticate: 'Bearer', setCookie: null })
    for (const authorization of [`Bearer ${visitor.session}`, ''])
      expect((await service.send(null, 'GET', '/account', undefined, { cookie, authorization })).status).toBe(401)
    const stranger = await service.person(await service.workspace('Globex'))
    await service.send(stranger.read, 'GET', '/account')
    await service.app.services.usage.settled()
    for (const path of ['/account', '/members', '/boards']) {
      const [without, both] = [
        await service.send(stranger.read, 'GET', path),
        await service.send(stranger.read, 'GET', path, undefined, { cookie }),
      ]
      expect(both.text).toBe(without.text)
      expect({ status: both.status, setCookie: both.headers.get('set-cookie'), vary: both.headers.get('vary') }).toEqual({
        status: 200,
        setCookie: null,
        vary: 'Authorization, Accept-Encoding',
      })
    }
    expect((await service.send(stranger.read, 'POST', '/boards', { name: 'x' }, { cookie })).status).toBe(403)
  })

  test('the API does not reveal e-mail addresses', async () => {
    const email = await giveAccount(service, person)
    for (const path of ['/account', '/members']) expect((await service.send(person.admin, 'GET', path)).text).not.toContain(email)
  })
})
