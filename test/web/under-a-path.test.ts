import { describe, expect, test } from 'vitest'
import { inviteUser } from '../../src/admin/users.ts'
import { OWN_SEGMENTS } from '../../src/http/public-url.ts'
import type { BoardUpdate } from '../../src/web/boards/board-update.ts'
import { pages } from '../../src/web/pages.ts'
import { createClient } from '../../src/client/client.ts'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { plaintextIn, PASSWORD, Visitor, type ReceivedPage } from '../support/visitor.ts'

const [ORIGIN, BASE] = ['https://example.org', '/tools/kanban']
const URL_OF_SERVICE = ORIGIN + BASE
const sent: { readonly text: string }[] = []
const service = await startForSuite({ url: URL_OF_SERVICE, mail: (mail) => void sent.push(mail) })

/** What a text on a board may say, and what no page may change of it. */
const TEXT = '" href="/app" src=\'/app\' data-base="/app'

/** An address of the service without the path below which it is. What a form has as a value is not followed by a browser. */
const LACKS_BASE = new RegExp(` (?!value=)[\\w-]+="/(?:${[...OWN_SEGMENTS, '"'].join('|').replaceAll('.', '\\.')})[^"]*"?`, 'g')
const LACKS_PATH = new RegExp(`${ORIGIN}(?!${BASE})[\\w./-]*`, 'g')

/** The addresses in what a page, or the data of a script, says: each begins with the base. */
function expectBase(path: string, text: string): void {
  expect({ path, withoutBase: text.match(LACKS_BASE), withoutPath: text.match(LACKS_PATH) }).toEqual({
    path,
    withoutBase: null,
    withoutPath: null,
  })
}

/** The links of a page to others of the service. */
const linksOf = ({ text }: ReceivedPage): string[] =>
  [...text.matchAll(/ (?:href|src)="([^"#]*)/g)].map(([, link]) => link!.replaceAll('&amp;', '&')).filter((link) => link.startsWith('/'))

/** The page that an address belongs to. */
const patternOf = (path: string) =>
  path
    .replace(/\?.*/, '')
    .replaceAll(/\b[a-z]{3}_[0-9a-z]{10,}/g, '*')
    .replace(/^(\/app\/\*\/do\/).*/, '$1*')
    .replace(/^\/docs\/(?!assets|errors).*/, '/docs/*')

describe.each([
  ['passes the path on', false],
  ['strips the path', true],
])('below a path, behind a proxy that %s', (_how, isStripped) => {
  const at = { origin: ORIGIN, base: BASE, isStripped }
  const visit = () => new Visitor(service, at)
  /** A board with all that a page can show, and its owner, who is signed in. */
  const build = async () => {
    const team = await buildTeam(service, ['To do', 'Done'], {}, at)
    const card = await team.api('POST', `/boards/${team.boardId}/cards`, { column_id: team.columns[0], title: TEXT, description: TEXT })
    expect((await service.upload(team.owner.write, `/cards/${card.id}/files`, picture())).status).toBe(201)
    await team.api('POST', `/boards/${team.boardId}/webhooks`, { url: 'https://receiver.example/x' })
    return { ...team, card }
  }

  test('no page, redirect or script has an address without it, and each link of a page leads to one', async () => {
    const { visitor } = await build()
    const waiting = ['/', '/app', '/policies', '/docs?q=card', ...pages.flatMap(({ path }) => (path.includes('{') ? [] : [path]))]
    const seen = new Set(waiting.map(patternOf))
    for (const path of waiting) {
      const page = await visitor.request(path)
      expect([path, page.status]).toEqual([path, expect.toBeOneOf([200, 303, 404, 405])])
      if (path !== '/openapi.json') expectBase(path, page.text)
      for (const link of [...linksOf(page), ...(page.location === null ? [] : [page.location])]) {
        expect([path, link]).toEqual([path, expect.stringMatching(/^\/tools\/kanban(?:[/?]|$)/)])
        const inner = link.slice(BASE.length)
        if (seen.has(patternOf(inner))) continue
        seen.add(patternOf(inner))
        waiting.push(inner)
      }
    }
    const unseen = pages.filter(({ get, path }) => get !== undefined && !seen.has(path.replaceAll(/\{\w+\}/g, '*')))
    // Addresses of scripts, of pictures, of a form, of a passkey, and of what follows a sign-up.
    expect(unseen.map(({ path }) => path)).toEqual([
      '/app/{workspace}/notices/unread',
      '/app/{workspace}/cards/{card}/choices/{of}',
      '/app/{workspace}/attachments/{attachment}/picture',
      '/app/{workspace}/attachments/{attachment}/preview',
      '/app/{workspace}/events',
      '/app/{workspace}/boards/{board}/changes',
      '/app/{workspace}/boards/{board}/people',
      '/app/{workspace}/find',
      '/settings/account/passkeys/{passkey}',
      '/settings/confirm/{id}',
      '/app/{workspace}/welcome',
    ])
  })

  test('a person signs up, returns to the page that they asked for, and creates a token', async () => {
    const { owner, base, boardId } = await build()
    const visitor = visit()
    const { sign_up_link } = await inviteUser(service.deps, owner.id, URL_OF_SERVICE)
    await visitor.open(sign_up_link)
    const email = `${owner.id}@example.org`
    await visitor.submit({ email, password: PASSWORD, again: PASSWORD }, '/settings/sign-up')
    visitor.jar.clear()
    const board = `${base}/boards/${boardId}`
    await visitor.open(board)
    await visitor.submit({ email, password: PASSWORD }, '/settings/sign-in')
    expect(visitor.page!.text).toContain('data-feed=')
    await visitor.choose(owner.workspaceId)
    const page = await visitor.submit({}, '/settings/confirm')
    expectBase('the token', page.text)
    expect(page.shown).toContain(`createClient({ url: '${URL_OF_SERVICE}'`)
    expect(page.shown).toContain(`"url": "${URL_OF_SERVICE}/mcp"`)
    expect(sent.at(-1)!.text).toContain(`sign in at ${URL_OF_SERVICE}`)
    const client = createClient({ url: `${URL_OF_SERVICE}/`, token: plaintextIn(page), fetch: (url, init) => fetchAt(String(url), init) })
    expect((await client.boards.list()).data).toMatchObject([{ id: boardId }])
  })

  test('a form leads back to the page that the browser names, with its whole path', async () => {
    const { visitor, base, boardId, card } = await build()
    const page = await visitor.open(`${base}/boards/${boardId}`)
    const fields = { form_token: visitor.formToken, card_id: card.id, completed: 'true', back: `${BASE}${base}/boards/${boardId}` }
    const script = await visitor.post(`${base}/do/cards.complete`, fields, { headers: { accept: 'application/json' } })
    expect(JSON.parse(script.text)).toMatchObject({ location: `${BASE}${base}/boards/${boardId}` })
    const form = await visitor.post(`${base}/do/cards.complete`, { ...fields, back: `${base}/cards` })
    expect(form.location).toMatch(new RegExp(`^${BASE}${base}/cards\\?did=`))
    const update = await visitor.request(`${base}/boards/${boardId}/changes?after=${/data-after="([^"]+)"/.exec(page.text)![1]!}`)
    const tile = (JSON.parse(update.text) as BoardUpdate).tiles[card.id]!.html
    expectBase('a tile', tile)
    expect(tile).toContain(`href="${BASE}${base}/cards/${card.id}"`)
  })

  test('the texts of people are shown as they wrote them', async () => {
    const { visitor, base, card, boardId } = await build()
    for (const path of [`${base}/boards/${boardId}`, `${base}/cards/${card.id}`]) {
      const page = await visitor.request(path)
      expect(page.text.split(encoded(TEXT)).length).toBeGreaterThan(1)
      expect(page.text).not.toContain(encoded(TEXT).replace('/app', `${BASE}/app`))
    }
  })

  test('the Location of a creation and the documents have the whole address', async () => {
    const { owner } = await build()
    const authorization = `Bearer ${owner.write}`
    const created = await fetchAt(`${URL_OF_SERVICE}/v1/boards`, {
      method: 'POST',
      body: '{"name":"Garden"}',
      headers: { authorization, 'content-type': 'application/json' },
    })
    const location = created.headers.get('location')!
    expect(location).toMatch(/^\/tools\/kanban\/v1\/boards\/brd_/)
    expect((await fetchAt(ORIGIN + location, { headers: { authorization } })).status).toBe(200)
    const textOf = async (path: string) => (await fetchAt(URL_OF_SERVICE + path)).text()
    expect(JSON.parse(await textOf('/openapi.json')).servers).toMatchObject([{ url: `${URL_OF_SERVICE}/v1` }])
    expect(await textOf('/llms.txt')).toContain(`MCP: ${URL_OF_SERVICE}/mcp `)
    const refused = await fetchAt(`${URL_OF_SERVICE}/mcp`, { method: 'POST', headers: { host: 'example.org' } })
    expect(refused.status).toBe(401)
    const texts = [await refused.text(), await textOf('/openapi.json'), await textOf('/docs'), await textOf('/llms.txt')]
    for (const text of texts) {
      expect(text.match(/[^\w/]\/(?:settings|mcp)\b(?!\/\{)/g)).toBeNull()
      expect(text).toContain(`${BASE}/`)
    }
    for (const path of ['/healthz', '/readyz', '/docs', '/policies', '/app'])
      expect([path, (await fetchAt(URL_OF_SERVICE + path)).ok]).toEqual([path, path !== '/app'])
  })

  /** Sends a request as the proxy does. */
  function fetchAt(url: string, init?: RequestInit): Promise<Response> {
    return service.app.fetch(new Request(isStripped ? url.replace(BASE, '') : url, init))
  }
})

const encoded = (text: string) => text.replaceAll('"', '&quot;')

test.each([
  '/tools/app',
  '/tools/kanbans/app',
  '/tools/kanban/tools/kanban/app',
  '/Tools/kanban/app',
  '/tools%2fkanban/app',
  '/tools//kanban/app',
  '/tools/kanban//app',
])('%s is no address of the service', async (path) => {
  expect((await service.app.fetch(new Request(ORIGIN + path, { headers: { accept: 'text/html' } }))).status).toBe(404)
})

test('no public URL begins with an address of the service', () => {
  const routes = (service.app.h3 as unknown as { '~routes': readonly { readonly route: string }[] })['~routes']
  const segments = routes.flatMap(({ route }) => route.split('/')[1]!.replace('**', '') || [])
  expect(new Set(['v1', 'access', ...segments])).toEqual(OWN_SEGMENTS)
})

function picture(): FormData {
  const form = new FormData()
  form.append('file', new File([Buffer.from('iVBORw0KGgo=', 'base64')], 'x.png', { type: 'image/png' }))
  return form
}
