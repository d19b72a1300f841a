import { afterAll, describe, expect, test } from 'vitest'
import { startListener } from '../../../src/listener/listener.ts'
import { TestBoard } from '../../support/board.ts'
import { defaultDocument } from '../../support/document-check.ts'
import { handWrittenOperations } from '../../support/hand-written-decisions.ts'
import { memory } from '../../support/memory.ts'
import { Service } from '../../support/service.ts'

/** One line of the calls. */
interface Call {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: string | undefined
  readonly id: string
  readonly scope: string
}

const CALL = /^- `([A-Z]+) (\/[^\s?`]*)(\?[^\s`]*)?(?: (\{.*\}))?`: [^`]*\. \(([\w.]+), kanban:(\w+)\)$/gm
/** What an agent cannot do without (issue: "No silent trap"). */
const NEEDED = ['boards.create', 'columns.create', 'cards.list', 'cards.search', 'cards.complete', 'boards.changes']

describe('the documents outside of /v1 for the developers of clients', async () => {
  const service = await Service.forSuite()
  const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  afterAll(() => listener.close())
  const send = (path: string, { headers, ...init }: RequestInit = {}) =>
    fetch(`${listener.url}${path}`, { ...init, headers: { 'accept-encoding': 'identity', ...(headers as Record<string, string>) } })

  test('/openapi.json is the document of the operations table, without a token', async () => {
    const response = await send('/openapi.json')
    expect({ status: response.status, contentType: response.headers.get('content-type') }).toEqual({
      status: 200,
      contentType: 'application/json; charset=utf-8',
    })
    const document = JSON.parse(JSON.stringify(defaultDocument()))
    document.servers[0].url = `${listener.url}/v1`
    expect(await response.json()).toEqual(document)
  })

  test('the server of the document is the one that the client asks, with an ETag of its own', async () => {
    const get = async (host: string) => {
      const { headers, ...response } = await readRaw(host)
      return { etag: headers.get('etag'), url: JSON.parse(response.text).servers[0].url }
    }
    const readRaw = async (host: string) => {
      const response = await service.app.fetch(new Request('http://localhost/openapi.json', { headers: { host } }))
      return { headers: response.headers, text: await response.text() }
    }
    const [first, second] = [await get('a.example:8080'), await get('b.example')]
    expect({ first: first.url, second: second.url }).toEqual({ first: 'http://a.example:8080/v1', second: 'http://b.example/v1' })
    expect(first.etag).not.toBe(second.etag)
    for (let i = 0; i < 20; i++) await get(`other${i}.example`)
    expect({ again: await get('a.example:8080'), otherUrl: (await get('"$&<x>')).url }).toEqual({
      again: first,
      otherUrl: 'http://"$&<x>/v1',
    })
  })

  test('the documents of a service with rate limits and a public origin state them', async () => {
    const options = {
      url: 'https://kanban.example',
      rateLimits: { quotas: { token: 7, workspace: 70, address: 77 } },
      uploadBytes: 12_345,
    }
    const other = await Service.start(memory, options)
    const get = async (path: string) => (await other.app.fetch(new Request(`http://localhost${path}`))).text()
    const document = JSON.parse(await get('/openapi.json'))
    expect(await get('/llms.txt')).toContain('Base URL: https://kanban.example/v1\n')
    await other.stop()
    expect(document.servers).toMatchObject([{ url: 'https://kanban.example/v1' }])
    expect(document.info.description).toContain('7 requests of a token and 70 in a workspace in a minute, and 77 failed credentials')
    expect(document.paths['/cards/{card_id}/files'].post.requestBody.description).toContain('at most 12345 bytes')
  })

  test.each(['/openapi.json', '/llms.txt', '/.well-known/authzen-configuration'])(
    '%s can be cached, is revalidated by its ETag, answers HEAD like GET, and refuses other methods',
    async (path) => {
      const [first, head] = [await send(path), await send(path, { method: 'HEAD' })]
      const text = await first.text()
      const names = ['content-type', 'content-length', 'etag', 'cache-control', 'x-content-type-options']
      const [type, length, etag, cached] = names.map((name) => first.headers.get(name))
      expect({ type, length, etag, cached }).toEqual({
        type: expect.any(String),
        length: String(Buffer.byteLength(text)),
        etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
        cached: 'public, max-age=300',
      })
      const headersOfHead = names.map((name) => head.headers.get(name))
      expect({ status: head.status, text: await head.text(), headers: headersOfHead }).toEqual({
        status: 200,
        text: '',
        headers: names.map((name) => first.headers.get(name)),
      })
      const second = await send(path, { headers: { 'if-none-match': etag! } })
      expect({ status: second.status, text: await second.text(), etag: second.headers.get('etag') }).toEqual({
        status: 304,
        text: '',
        etag,
      })
      expect((await send(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const refused = await send(path, { method })
        const { error } = (await refused.json()) as any
        expect({ status: refused.status, allow: refused.headers.get('allow'), code: error.code }).toEqual({
          status: 405,
          allow: 'GET, HEAD',
          code: 'method_not_allowed',
        })
      }
    },
  )

  test.each([undefined, 'https://kanban.example', 'https://example.org/kanban'])(
    'the metadata of AuthZEN name addresses that answer, at the URL %s',
    async (url) => {
      const own = await Service.start(memory, { url })
      const ann = await own.person(await own.workspace())
      const get = (path: string, init?: RequestInit) => own.app.fetch(new Request(`http://localhost${path}`, init))
      const response = await get('/.well-known/authzen-configuration')
      const { policy_decision_point: base, ...endpoints } = (await response.json()) as Record<string, string>
      const sent = { method: 'POST', body: '{}', headers: { authorization: `Bearer ${ann.read}`, 'content-type': 'application/json' } }
      const statuses = Object.values(endpoints).map(async (endpoint) => (await get(new URL(endpoint).pathname, sent)).status)
      expect({ contentType: response.headers.get('content-type'), base, endpoints, statuses: await Promise.all(statuses) }).toEqual({
        contentType: 'application/json; charset=utf-8',
        base: url ?? 'http://localhost',
        endpoints: {
          access_evaluation_endpoint: `${base}/access/v1/evaluation`,
          access_evaluations_endpoint: `${base}/access/v1/evaluations`,
          search_subject_endpoint: `${base}/access/v1/search/subject`,
          search_action_endpoint: `${base}/access/v1/search/action`,
          search_resource_endpoint: `${base}/access/v1/search/resource`,
        },
        statuses: [400, 400, 400, 400, 400],
      })
      await own.stop()
    },
  )

  describe('/llms.txt', async () => {
    const ann = await service.person(await service.workspace(), 'member', 'Ann')
    const text = await (await send('/llms.txt')).text()
    const calls: Call[] = [...text.matchAll(CALL)].map(([, method, path, query, body, id, scope]) => {
      return { method: method!, path: path!, query: query ?? '', body, id: id!, scope: scope! }
    })
    const board = await TestBoard.create(service, ann)
    const column_id = await board.column()
    const card_id = await board.card(column_id)
    const { changes_cursor } = (await board.get(`/boards/${board.id}?include=columns`)).body.data
    // So a request that waits for a change has one.
    await board.patch(`/cards/${card_id}`, { title: 'Changed' })
    const names: Readonly<Record<string, string>> = { board_id: board.id, column_id, card_id, changes_cursor, user_id: ann.id }
    /** Puts what exists in the place of each name. */
    const fill = (part: string) => part.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? `no value for ${name}`)

    test('fits on one screen, and each of its lines about a call can be read', () => {
      expect(text.split('\n').length).toBeLessThanOrEqual(50)
      expect(text.length).toBeLessThan(4500)
      expect(calls).toHaveLength(text.match(/^- `/gm)!.length)
      expect(calls.map(({ id }) => id)).toEqual(expect.arrayContaining(NEEDED))
    })

    test('has calls that do what their lines say, each with the scope that is named there', async () => {
      for (const { method, path, query, body, id, scope } of calls) {
        expect(handWrittenOperations.find((row) => row.id === id)).toMatchObject({ method, path, scope })
        const token = ann[scope as 'read' | 'write']
        const { status, text: answer } = await service.send(token, method, fill(path + query), body && fill(body))
        expect([id, status], answer).toEqual([id, method === 'POST' && !path.endsWith('/move') ? 201 : 200])
      }
    })

    // That the service does what these say: etags.test.ts, idempotency.test.ts, fields.test.ts, resources/changes.test.ts.
    test.each([
      ['how not to overwrite a change', /`ETag`.*`If-Match`.*412/],
      ['how a write is repeated', /`Idempotency-Key`.*made once/],
      ['that what is not known is an error', /not known, or malformed, is 422, and `issues` names it/],
      ['how to know what has changed', /`changes_cursor`.*`after`.*`page\.next_cursor`/],
    ])('says %s', (_what, said) => {
      expect(text).toMatch(said)
    })

    test('says where MCP is', async () => {
      const [, url] = /^MCP: (\S+) /m.exec(text)!
      const headers = {
        authorization: `Bearer ${ann.read}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
      const response = await fetch(url!, { method: 'POST', headers, body })
      expect({ status: response.status, text: await response.text() }).toEqual({ status: 200, text: expect.stringContaining('find_cards') })
    })

    test('has links that lead somewhere', async () => {
      const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, url]) => url!)
      expect(links).toHaveLength(2)
      for (const url of links) expect([url, (await fetch(url, { headers: { connection: 'close' } })).status]).toEqual([url, 200])
    })
  })
})
