import { describe, expect, test } from 'vitest'
import type { ServerRequest } from 'srvx'
import { errorCodesOf, findForbiddable } from '../../src/http/openapi/error-codes.ts'
import { PublicUrl } from '../../src/http/public-url.ts'
import { Turns } from '../../src/governor/turns.ts'
import type { ReferenceDocument } from '../../src/http/openapi/serve.ts'
import { errors } from '../../src/model/errors.ts'
import { limits } from '../../src/model/limits.ts'
import { operations } from '../../src/resources/table.ts'
import { createReference } from '../../src/web/reference/app.ts'
import { startForSuite } from '../support/board-team.ts'
import { defaultDocument } from '../support/document-check.ts'
import { handWrittenOperations } from '../support/hand-written-decisions.ts'
import { quiet } from '../support/log.ts'
import { engine } from '../support/service.ts'
import { textOf } from '../support/visitor.ts'

const service = await startForSuite({ proxies: 0 })
const open = async (path: string, init: RequestInit = {}) => {
  const response = await service.app.fetch(new Request(`http://localhost${path}`, init))
  return { status: response.status, headers: response.headers, html: await response.text() }
}

const pages = ['/docs', '/docs/errors', '/docs?q=label', ...operations.map(({ id }) => `/docs/${id}`)]
const main = (html: string) => /<main.*<\/main>/s.exec(html)![0]
const linksIn = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!)
/** The links of the sidebar with the one that is marked as the present page. */
const sidebarOf = (html: string) => {
  const nav = /<nav class="sidebar".*?<\/nav>/s.exec(html)![0]
  return { links: linksIn(nav), current: [...nav.matchAll(/<a href="([^"]*)" aria-current="page">/g)].map(([, href]) => href) }
}
/** The rows of the specification about scopes. */
const scopeRows = { read: 'S1', write: 'S2', admin: 'S3' } as const

describe('the reference of the API at /docs', () => {
  test('lists every operation with its request and its summary, and links to its page', async () => {
    const { status, headers, html } = await open('/docs')
    expect({ status, contentType: headers.get('content-type') }).toEqual({ status: 200, contentType: 'text/html; charset=utf-8' })
    const text = textOf(main(html))
    const links = linksIn(main(html)).filter((href) => /^\/docs\/[\w.]+$/.test(href))
    expect(links.toSorted()).toEqual(operations.map(({ id }) => `/docs/${id}`).toSorted())
    for (const { id, method, path } of operations) expect(text).toContain(`${id} ${method} ${path}`)
    expect(text).toContain('Base URL: http://localhost/v1')
    for (const path of ['/openapi.json', '/llms.txt']) expect(html).toContain(`href="${path}"`)
  })

  test.each(operations.map((operation) => [operation.id, operation] as const))('has a page of %s', async (id, operation) => {
    const { method, path } = operation
    const { status, html } = await open(`/docs/${id}`)
    expect(status).toBe(200)
    const text = textOf(main(html))
    expect(text).toContain(`${id} ${method} /v1${path}`)
    expect(html).toContain(`<span class="method ${method.toLowerCase()}">${method}</span> <code>/v1${path}</code>`)
    // Each row that decides, with its words, and a link to it.
    const { scope, row, also } = handWrittenOperations.find((one) => one.id === id)!
    expect(text).toContain(`Scope kanban:${scope} Row ${scopeRows[scope]} :`)
    for (const found of [row, scopeRows[scope], ...Object.values(also).map((further) => further.row)]) {
      expect(text).toContain(`Row ${found} : ${engine.vocabulary.rows.get(found)!.words.replace('(extension) ', '')}`)
      expect(html).toContain(`<a href="/policies#row-${found}">`)
    }
    const listed = [...html.matchAll(/<td class="status">(\d+)<\/td><td><a href="\/docs\/errors#(\w+)">/g)]
    const codes = errorCodesOf(findForbiddable(engine), operation)
    expect(listed.map(([, status, code]) => `${code} ${status}`).toSorted()).toEqual(
      codes.map((code) => `${code} ${errors[code].status}`).toSorted(),
    )
    for (const conflict of operation.conflicts) expect(text).toContain(textOf(conflict.replaceAll('`', '')))
    // A bearer token can only be sent by the script, and never as a part of an address.
    const form = /<section[^>]* data-try.*?<\/section>/s.exec(html)![0]
    expect(form).toMatch(/^<section[^>]* hidden/)
    expect(form).not.toMatch(/<(?:input|textarea|button)[^>]* name=/)
  })

  test('a page has the members of the body and of the response, with their limits, and the recorded example', async () => {
    const { html } = await open('/docs/cards.create')
    const text = textOf(html)
    for (const part of [
      `title string required The title of the card. 1 to ${limits.cardTitle} characters; no control characters`,
      'description string The text of the card.',
      'column_id id (col_…) required',
      'due_at string or null (date-time)',
      'data. assignee_ids array of id (usr_…) The users who are assigned to the card',
      '"title": "Publish the changelog"',
      'A board has at most 5000 active cards',
    ])
      expect(text).toContain(part)
    const list = textOf((await open('/docs/boards.list')).html)
    for (const part of ['limit integer The maximum number of items.', 'data[]. name string']) expect(list).toContain(part)
  })

  test('has every error with its status, its meaning, its members and a recorded response', async () => {
    const text = textOf((await open('/docs/errors')).html)
    for (const [code, { status, message }] of Object.entries(errors)) expect(text).toContain(`${code} # ${status} ${message}`)
    expect(text).toContain('required_scope string The least scope that the operation requires.')
    expect(text).toContain('"code": "insufficient_scope"')
  })

  test('every page has all operations in its sidebar, and marks itself there', async () => {
    const all = operations.map(({ id }) => `/docs/${id}`)
    for (const path of pages) {
      const { links, current } = sidebarOf((await open(path)).html)
      expect([path, all.filter((href) => !links.includes(href))]).toEqual([path, []])
      expect([path, current]).toEqual([path, path.includes('?') ? [] : [path]])
    }
  })

  test('every link leads somewhere, every heading can be linked to, and no id is there twice', async () => {
    const read = new Map<string, { status: number; html: string; ids: readonly string[] }>()
    const target = async (path: string) => {
      if (!read.has(path)) {
        const { status, html } = await open(path)
        read.set(path, { status, html, ids: [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!) })
      }
      return read.get(path)!
    }
    const wrong: string[] = []
    for (const path of pages) {
      const { html, ids } = await target(path)
      wrong.push(...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `${path} has the id ${id} twice`))
      for (const [, id] of main(html).matchAll(/<h2 id="([^"]*)">/g))
        if (!html.includes(`href="#${id}"`)) wrong.push(`${path} has no link to ${id}`)
      for (const href of new Set(linksIn(html))) {
        const [address = '', id] = href.split('#')
        const { status, ids: there } = await target(address === '' ? path : address)
        if (status >= 400 || (id !== undefined && !there.includes(id))) wrong.push(`${path} links to ${href}`)
      }
    }
    expect(wrong).toEqual([])
    expect(read.size).toBeGreaterThan(pages.length)
  })

  test('every page forbids inline scripts, foreign origins and frames, sets no cookie and can be cached', async () => {
    const assets = ['/docs/assets/style.css', '/docs/assets/script.js', '/docs/assets/search.json']
    for (const path of ['/docs', '/docs/errors', '/docs?q=label', '/docs/boards.create', ...assets]) {
      const { status, headers, html } = await open(path)
      expect([path, status]).toEqual([path, 200])
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      )
      expect({
        setCookie: headers.get('set-cookie'),
        cacheControl: headers.get('cache-control'),
        xContentTypeOptions: headers.get('x-content-type-options'),
      }).toEqual({ setCookie: null, cacheControl: 'public, max-age=300', xContentTypeOptions: 'nosniff' })
      if (path.includes('assets')) continue
      expect(html).not.toMatch(
        /<script(?! src="\/docs\/assets\/(?:script|theme)\.js\?\w{16}")|<style|\sstyle=|\son\w+=|https?:\/\/(?!localhost)/,
      )
      const again = await open(path, { headers: { 'if-none-match': headers.get('etag')! } })
      expect({ status: again.status, html: again.html }).toEqual({ status: 304, html: '' })
    }
  })

  test.each(['/docs/', '/docs/absent', '/docs/boards', '/docs/assets/absent.css', '/docs/boards.create/'])(
    '%s is not found',
    async (path) => {
      const { status, headers, html } = await open(path)
      expect({ status, cacheControl: headers.get('cache-control'), text: textOf(html) }).toEqual({
        status: 404,
        cacheControl: 'no-store',
        text: expect.stringContaining('There is no such operation.'),
      })
    },
  )

  test('HEAD is answered like GET, and other methods are refused', async () => {
    const [get, head] = [await open('/docs'), await open('/docs', { method: 'HEAD' })]
    expect({ status: head.status, html: head.html, etag: head.headers.get('etag') }).toEqual({
      status: 200,
      html: '',
      etag: get.headers.get('etag'),
    })
    const refused = await open('/docs', { method: 'POST' })
    expect({ status: refused.status, allow: refused.headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD' })
  })
})

describe('the search of the reference', () => {
  const search = async (query: string) => {
    const { html } = await open(`/docs?q=${encodeURIComponent(query)}`)
    return { text: textOf(main(html)), ids: [...main(html).matchAll(/href="\/docs\/([\w.]+)"/g)].map(([, id]) => id) }
  }

  test.each([
    ['an id', 'boards.set_visibility', ['boards.set_visibility']],
    ['a part of an id in capitals', 'REMOVE_label', ['cards.remove_label']],
    ['a path', '/access/evaluation', ['access.evaluate', 'access.evaluate_all']],
    ['a method and a path', 'delete /labels/', ['cards.remove_label', 'labels.delete']],
    ['words of a summary', 'server-sent events', ['boards.events']],
    ['a parameter', 'due_before', ['cards.search']],
    ['a member of a body', 'cover_color', ['boards.create', 'boards.update']],
    ['the code of an error', 'cursor_expired', ['boards.changes', 'boards.events']],
    ['words of different kinds', 'cards due_before', ['cards.search']],
    ['nothing', 'no such operation', []],
  ])('finds operations by %s', async (_what, query, expected) => {
    const { ids } = await search(query)
    expect(expected.length === 0 ? ids : ids.slice(0, expected.length)).toEqual(expected)
  })

  test('an operation whose id has the words comes first, and one that is found by a name shows the name', async () => {
    const { ids, text } = await search('label')
    const first = ids.filter((id) => id!.includes('label'))
    expect(ids.slice(0, first.length)).toEqual(first)
    expect(ids.length).toBeGreaterThan(first.length)
    expect(text).toContain('Matches label_id')
    expect((await search('due_before')).text).toContain('1 operation for due_before')
  })

  test('an empty query gets the first page, and a long one is named as the reason', async () => {
    expect((await open('/docs?q=%20')).html).toBe((await open('/docs')).html)
    expect((await search('x'.repeat(101))).text).toContain('A query has at most 100 characters.')
  })

  test('a query is shown as text, and stays in the field', async () => {
    const { html } = await open(`/docs?q=${encodeURIComponent('"><b>label')}`)
    expect(html).not.toContain('<b>label')
    expect(html).toMatch(/<input id="q"[^>]* value="&quot;>?(&gt;)?(<|&lt;)b/)
  })
})

test('a page is kept for each origin, and as long as the document is the same', async () => {
  let document = defaultDocument()
  const reference = { document: async () => document } as unknown as ReferenceDocument
  const services = () => ({ turns: new Turns() }) as never
  const handle = createReference({ log: quiet, site: new PublicUrl(undefined), hasPolicyPage: true, proxies: 0, services }, reference)
  const read = async (origin: string) => {
    const url = new URL('/docs/cards.read', origin)
    return (await handle(new Request(url) as ServerRequest, url)).text()
  }
  for (const origin of ['http://one.example', 'http://two.example']) expect(await read(origin)).toContain(`${origin}/v1/cards/crd_`)
  document = { ...document, 'x-rows': Object.fromEntries(Object.keys(document['x-rows']).map((row) => [row, 'Other words'])) }
  expect(await read('http://one.example')).toContain('Other words')
})
