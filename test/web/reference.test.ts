import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServerRequest } from 'srvx'
import type { ReferenceDocument } from '../../src/http/openapi/serve.ts'
import { limits } from '../../src/model/limits.ts'
import { operations } from '../../src/resources/table.ts'
import { createReference } from '../../src/web/reference/app.ts'
import { defaultDocument } from '../support/document-check.ts'
import { quiet } from '../support/log.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'
import { textOf } from '../support/visitor.ts'

describe('the reference of the API at /docs', () => {
  let service: Service
  beforeAll(async () => void (service = await Service.start(memory)))
  afterAll(() => service.stop())
  const open = async (path: string, init: RequestInit = {}) => {
    const response = await service.app.fetch(new Request(`http://localhost${path}`, init))
    return { status: response.status, headers: response.headers, html: await response.text() }
  }

  test('lists every operation with its request and its scope, and links to its page', async () => {
    const { status, headers, html } = await open('/docs')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const text = textOf(html)
    const links = [...html.matchAll(/href="\/docs\/([\w.]+)"/g)].map(([, id]) => id)
    expect(links.toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
    for (const { id, method, path } of operations) expect(text).toContain(`${id} ${method} ${path}`)
    expect(text).toContain('Base URL: http://localhost/v1')
    for (const path of ['/openapi.json', '/llms.txt']) expect(html).toContain(`href="${path}"`)
  })

  test.each(operations.map(({ id, method, path }) => [id, `${method} /v1${path}`]))(
    'has a page of %s without JavaScript',
    async (id, request) => {
      const { status, html } = await open(`/docs/${id}`)
      expect(status).toBe(200)
      const text = textOf(html)
      const operation = Object.values(defaultDocument().paths)
        .flatMap(Object.values)
        .find(({ operationId }) => operationId === id)!
      expect(text).toContain(`${id} ${request}`)
      expect(text).toContain(
        operation.security
          .flatMap((one: object) => Object.values(one))
          .flat()
          .join(),
      )
      for (const code of Object.keys(operation.responses)) expect(html).toMatch(new RegExp(`<summary><h3>${code}</h3>`))
      // A bearer token can only be sent by the script.
      expect(html).toMatch(/<section[^>]* hidden[^>]* data-try|<section[^>]* data-try[^>]* hidden/)
    },
  )

  test('a page has the members of the body and of the response, with their limits, and the recorded example', async () => {
    const text = textOf((await open('/docs/cards.create')).html)
    expect(text).toContain(`title string The title of the card. 1 to ${limits.cardTitle} characters`)
    expect(text).toContain('description string, optional The text of the card.')
    expect(text).toContain('due_at string or null (date-time), optional')
    expect(text).toContain('data.assignee_ids array The users who are assigned to the card')
    expect(text).toContain('"title": "Publish the changelog"')
    expect(text).toContain('A board has at most 5000 active cards')
  })

  test('every page forbids inline scripts, foreign origins and frames, sets no cookie and can be cached', async () => {
    for (const path of ['/docs', '/docs/boards.create', '/docs/assets/style.css', '/docs/assets/script.js']) {
      const { status, headers, html } = await open(path)
      expect([path, status]).toEqual([path, 200])
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
      )
      expect([headers.get('set-cookie'), headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
        null,
        'public, max-age=300',
        'nosniff',
      ])
      if (path.includes('assets')) continue
      expect(html).not.toMatch(/<script(?! src="\/docs\/assets\/script\.js")|<style|\sstyle=|\son\w+=|https?:\/\/(?!localhost)/)
      const again = await open(path, { headers: { 'if-none-match': headers.get('etag')! } })
      expect([again.status, again.html]).toEqual([304, ''])
    }
  })

  test.each(['/docs/', '/docs/absent', '/docs/boards', '/docs/assets/absent.css', '/docs/boards.create/'])(
    '%s is not found',
    async (path) => {
      const { status, headers, html } = await open(path)
      expect([status, headers.get('cache-control'), textOf(html)]).toEqual([
        404,
        'no-store',
        expect.stringContaining('There is no such operation.'),
      ])
    },
  )

  test('HEAD is answered like GET, and other methods are refused', async () => {
    const [get, head] = [await open('/docs'), await open('/docs', { method: 'HEAD' })]
    expect([head.status, head.html, head.headers.get('etag')]).toEqual([200, '', get.headers.get('etag')])
    const refused = await open('/docs', { method: 'POST' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})

test('a page is rendered once, and the first page once for each origin', async () => {
  let renderings = 0
  const reference = { document: async () => (renderings++, defaultDocument()) } as ReferenceDocument
  const handle = createReference(quiet, reference, undefined)
  const open = async (path: string, host: string) => (await handle(new Request(`http://${host}${path}`) as ServerRequest, path)).text()
  const pages: string[] = []
  for (const host of ['one.example', 'one.example', 'two.example'])
    pages.push(await open('/docs/cards.read', host), await open('/docs', host))
  expect(renderings).toBe(3)
  expect([pages[0], pages[1]]).toEqual([pages[2], pages[3]])
  expect(pages[0]).toBe(pages[4])
  expect([pages[1]!.includes('http://one.example/v1'), pages[5]!.includes('http://two.example/v1')]).toEqual([true, true])
})
