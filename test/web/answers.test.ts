import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startListener } from '../../src/http/server.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { pages } from '../../src/web/app.ts'
import { drivers } from '../support/drivers.ts'
import { keptLog } from '../support/log.ts'
import { Service, type Person } from '../support/service.ts'
import { formOf, giveAccount, PASSWORD, plaintextIn, signedIn, textOf, Visitor, type PageSeen } from '../support/visitor.ts'

const kept = keptLog()
let service: Service
let workspaceId: string
let person: Person
let visitor: Visitor
beforeAll(async () => {
  service = await Service.start(drivers[0]!, { log: kept.log, proxies: 1 })
  workspaceId = await service.workspace()
  person = await service.person(workspaceId)
  visitor = await signedIn(service, person)
})
afterAll(() => service.stop())

const CSP =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
const shown = async (from: Visitor, path: string): Promise<[string, PageSeen]> => [path, await from.request(path)]

describe('every answer of the web app', () => {
  test('cannot be framed, runs no script but ours, is kept nowhere, and shares nothing with other origins', async () => {
    const stranger = new Visitor(service)
    const confirm = formOf((await visitor.choose(workspaceId)).text).action
    const token = /\/(tok_\w+)\/rotate"/.exec((await visitor.open('/settings/tokens')).text)![1]
    const own = `/settings/tokens/${workspaceId}/${token}`
    const paths = [
      '/settings',
      '/settings/tokens',
      '/settings/sign-in',
      '/settings/sign-up',
      '/settings/sign-up?code=x',
      '/settings/sign-out',
    ]
    paths.push(`/settings/tokens/new?workspace=${workspaceId}`, '/settings/tokens/new', confirm, `${own}/rotate`, `${own}/revoke`)
    paths.push('/settings/', '/settings/nowhere', '/settings/assets/style.css', '/settings/assets/script.js', '/settings/assets/nothing')
    const answers: [string, PageSeen][] = []
    for (const path of paths) answers.push(await shown(visitor, path), await shown(stranger, path))
    answers.push(['a foreign form', await visitor.post('/settings/tokens/new', {}, { headers: { origin: 'https://evil.example' } })])
    answers.push(['no form', await visitor.post('/settings/tokens/new', {}, { headers: { 'content-type': 'text/plain' } })])
    answers.push(['DELETE', await visitor.request('/settings/tokens', { method: 'DELETE' })])
    answers.push(['wrong password', await stranger.signIn('nobody@example.org', 'x')])
    answers.push(['a token', await (await visitor.open(confirm), visitor.submit())])
    service.store.beforeRead = async () => Promise.reject(new Error('a fault that nobody foresaw'))
    answers.push(['a fault', await visitor.request('/settings/tokens')])
    service.store.beforeRead = undefined
    expect(new Set(answers.map(([, { status }]) => status))).toEqual(new Set([200, 303, 401, 403, 404, 405, 415, 500]))
    for (const [path, { headers }] of answers) {
      const said = (name: string) => headers.get(name)
      expect([path, said('content-security-policy'), said('x-frame-options')]).toEqual([path, CSP, 'DENY'])
      expect([path, said('cache-control'), said('vary'), said('x-content-type-options')]).toEqual([path, 'no-store', 'Cookie', 'nosniff'])
      expect([path, said('referrer-policy'), said('cross-origin-opener-policy')]).toEqual([path, 'same-origin', 'same-origin'])
      expect([path, said('access-control-allow-origin'), said('server'), said('x-powered-by')]).toEqual([path, null, null, null])
    }
    for (const [path, { text }] of answers.filter(([name]) => !name.includes('/assets/')))
      expect([path, /<script(?! src="\/settings\/assets\/script\.js" defer)|<style| style=| on\w+=|javascript:/i.exec(text)?.[0]]).toEqual([
        path,
        undefined,
      ])
  })

  test('a fault tells nothing of the inside, but how to find it in the log', async () => {
    service.store.beforeRead = async () => Promise.reject(new Error('the password of the database is swordfish'))
    const page = await visitor.request('/settings/tokens')
    service.store.beforeRead = undefined
    expect([page.status, page.text.includes('swordfish')]).toEqual([500, false])
    const reference = page.headers.get('x-request-id')!
    expect(page.text).toContain(reference)
    expect(kept.lines.filter(({ request_id }) => request_id === reference)).toMatchObject([{ level: 50 }])
  })

  test.each([
    '/settings/nowhere',
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
  ])('%s is no page', async (path) => {
    for (const from of [visitor, new Visitor(service)]) {
      const page = await from.request(path)
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    }
  })

  test.each(pages)('$path takes no other method than it has', async (page) => {
    const path = page.path.replace(/\{\w+\}/g, 'x')
    const allow = [page.get && 'GET, HEAD', page.post && 'POST'].filter(Boolean).join(', ')
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', ...(page.get ? [] : ['GET', 'HEAD']), ...(page.post ? [] : ['POST'])]) {
      const answer = await visitor.request(path, { method })
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, allow])
    }
  })

  test.each(['/settings/assets/style.css', '/settings/assets/script.js'])('%s is there to be read alone', async (path) => {
    expect((await visitor.request(path)).status).toBe(200)
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const answer = await visitor.request(path, { method })
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD'])
    }
  })

  test('HEAD is GET without the page, and changes nothing', async () => {
    const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
    const ask = async (path: string, method: string) => {
      const response = await fetch(`${listener.url}${path}`, { method, redirect: 'manual' })
      const headers = [...response.headers].filter(
        ([name]) =>
          !['date', 'set-cookie', 'x-request-id', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'].includes(name),
      )
      return { status: response.status, headers, text: await response.text() }
    }
    for (const path of ['/settings', '/settings/sign-in', '/settings/nowhere', '/settings/assets/style.css', '/settings/sign-up?code=x']) {
      const [get, head] = [await ask(path, 'GET'), await ask(path, 'HEAD')]
      expect([path, head]).toEqual([path, { ...get, text: '' }])
    }
    await listener.close()
  })

  test('where storage cannot be reached, each page says so and when to come back', async () => {
    const confirm = formOf((await visitor.choose(workspaceId)).text)
    service.store.beforeRead = async () => {
      throw new StorageUnavailable('gone')
    }
    const own = ['/settings', '/settings/tokens', `/settings/tokens/new?workspace=${workspaceId}`, confirm.action]
    const answers = await Promise.all(own.map((path) => visitor.request(path)))
    answers.push(await visitor.post(confirm.action, confirm.hidden))
    const stranger = new Visitor(service)
    const page = await stranger.request('/settings/sign-in')
    const { hidden } = formOf(page.text)
    const form = await stranger.post('/settings/sign-in', { ...hidden, email: 'ann@example.org', password: PASSWORD })
    service.store.beforeRead = undefined
    expect([page.status, form.status]).toEqual([200, 503])
    for (const { status, headers, text } of [...answers, form]) {
      expect([status, headers.get('retry-after'), headers.get('content-type')]).toEqual([503, '1', 'text/html; charset=utf-8'])
      expect(textOf(text)).toContain('Storage cannot be reached now. Nothing was changed.')
    }
    plaintextIn(await visitor.post(confirm.action, confirm.hidden))
  })
})

describe('what people write', () => {
  const nasty = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</code></pre><script>alert(1)</script>',
    '${7*7} {{7*7}} <%= 7*7 %>',
    '&lt;script&gt;',
    '\u202egnp.exe',
  ]
  test.each(nasty)('%j is text as the name of a token, a workspace and a person, and in what is sent back', async (text) => {
    const workspace = await service.workspace(text)
    const somebody = await service.person(workspace, 'member', text)
    const their = await signedIn(service, somebody)
    const pagesSeen = [await their.choose(workspace, { name: text })]
    pagesSeen.push(await their.submit())
    plaintextIn(pagesSeen[1]!)
    pagesSeen.push(await their.open('/settings/tokens'))
    const id = /\/(tok_\w+)\/rotate"/.exec(pagesSeen[2]!.text)![1]
    pagesSeen.push(
      await their.open(`/settings/tokens/${workspace}/${id}/revoke`),
      await their.open(`/settings/tokens/${workspace}/${id}/rotate`),
    )
    pagesSeen.push(await their.choose(workspace, { name: text, days: '91' }))
    for (const page of pagesSeen) expect(textOf(page.text)).toContain(text)
    pagesSeen.push(await their.choose(workspace, { name: 'x', scope: text, days: text }))
    pagesSeen.push(await new Visitor(service, { address: `203.0.113.${nasty.indexOf(text)}` }).signIn(text, text))
    pagesSeen.push(await their.request(`/settings/sign-in?over=${encodeURIComponent(text)}`))
    for (const page of pagesSeen) {
      expect(page.text).not.toMatch(/<img|<script(?! src="\/settings\/assets\/script\.js" defer><\/script>)/)
      for (const [, attributes] of page.text.matchAll(/<\w+((?: [\w-]+(?:="[^"]*")?)*)\s*\/?>/g))
        expect(attributes!.replace(/="[^"]*"/g, '')).not.toMatch(/ on\w+/)
      // Markup is made of tags that are whole: what was written has not begun or ended one.
      expect(page.text.replace(/<!doctype html>|<\/?\w+(?: [\w-]+(?:="[^"]*")?)*\s*\/?>/g, '')).not.toContain('<')
    }
  })
})

describe('the two ways in know nothing of each other', () => {
  test('a token is worth nothing in the web app, whatever its scope', async () => {
    const stranger = new Visitor(service)
    for (const token of [person.admin, person.read])
      for (const authorization of [`Bearer ${token}`, `Basic ${Buffer.from(`x:${token}`).toString('base64')}`]) {
        const page = await stranger.request('/settings/tokens', { headers: { authorization } })
        expect([page.status, page.location]).toEqual([303, '/settings/sign-in?over'])
        const form = await stranger.post('/settings/tokens/new', { name: 'x' }, { headers: { authorization } })
        expect([form.status, form.location]).toEqual([303, '/settings/sign-in?over'])
      }
    stranger.jar.set('lk_session', person.admin)
    expect((await stranger.request('/settings/tokens')).location).toBe('/settings/sign-in?over')
  })

  test('in the web app a token next to a session changes nothing, good or bad', async () => {
    const plain = await visitor.request('/settings/tokens')
    const other = await service.person(workspaceId)
    for (const authorization of [`Bearer ${other.admin}`, 'Bearer nonsense'])
      expect((await visitor.request('/settings/tokens', { headers: { authorization } })).text).toBe(plain.text)
  })

  test('a session is worth nothing at the API: 401 alone, and no effect next to a token', async () => {
    const cookie = [...visitor.jar].map(([name, value]) => `${name}=${value}`).join('; ')
    expect(cookie).toContain('lk_session=')
    const alone = await service.send(null, 'GET', '/account', undefined, { cookie })
    expect([alone.status, alone.headers.get('www-authenticate'), alone.headers.get('set-cookie')]).toEqual([401, 'Bearer', null])
    for (const authorization of [`Bearer ${visitor.session}`, ''])
      expect((await service.send(null, 'GET', '/account', undefined, { cookie, authorization })).status).toBe(401)
    const stranger = await service.person(await service.workspace('Globex'))
    await service.send(stranger.read, 'GET', '/account')
    await service.app.services.usage.settled()
    for (const path of ['/account', '/members', '/boards']) {
      const [without, next] = [
        await service.send(stranger.read, 'GET', path),
        await service.send(stranger.read, 'GET', path, undefined, { cookie }),
      ]
      expect(next.text).toBe(without.text)
      expect([next.status, next.headers.get('set-cookie'), next.headers.get('vary')]).toEqual([200, null, 'Authorization'])
    }
    expect((await service.send(stranger.read, 'POST', '/boards', { name: 'x' }, { cookie })).status).toBe(403)
  })

  test('nothing of the API tells who can sign in', async () => {
    const email = await giveAccount(service, person)
    for (const path of ['/account', '/members']) expect((await service.send(person.admin, 'GET', path)).text).not.toContain(email)
  })
})
