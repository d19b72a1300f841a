import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startListener, type Listener } from '../../../src/listener/listener.ts'
import { defaultDocument } from '../../support/document-check.ts'
import { memory } from '../../support/memory.ts'
import { Service } from '../../support/service.ts'

describe('what is served outside of /v1 for the developers of clients', () => {
  let service: Service
  let listener: Listener
  beforeAll(async () => {
    service = await Service.start(memory)
    listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    await listener.close()
    await service.stop()
  })
  const send = (path: string, { headers, ...init }: RequestInit = {}) =>
    fetch(`${listener.url}${path}`, { ...init, headers: { 'accept-encoding': 'identity', ...(headers as Record<string, string>) } })

  test('/openapi.json is the document of the operations table, without a token', async () => {
    const response = await send('/openapi.json')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(defaultDocument())))
  })

  test('the document of a service with rate limits and a public origin states them', async () => {
    const options = {
      origin: 'https://kanban.example',
      rateLimits: { quotas: { token: 7, workspace: 70, address: 77 } },
      uploadBytes: 12_345,
    }
    const other = await Service.start(memory, options)
    const document = (await (await other.app.fetch(new Request('http://localhost/openapi.json'))).json()) as any
    await other.stop()
    expect(document.servers).toMatchObject([{ url: 'https://kanban.example/v1' }])
    expect(document.info.description).toContain('7 requests of a token and 70 in a workspace in a minute, and 77 failed credentials')
    expect(document.components.schemas.AttachmentsAttachForm.properties.file.maxLength).toBe(12_345)
  })

  test.each(['/openapi.json', '/llms.txt', '/.well-known/authzen-configuration'])(
    '%s can be cached, and revalidated by its ETag',
    async (path) => {
      const first = await send(path)
      const { length } = Buffer.from(await first.arrayBuffer())
      const etag = first.headers.get('etag')!
      expect([first.headers.get('cache-control'), etag, first.headers.get('content-length')]).toEqual([
        'public, max-age=300',
        expect.stringMatching(/^"[0-9a-f]{64}"$/),
        String(length),
      ])
      const second = await send(path, { headers: { 'if-none-match': etag } })
      expect([second.status, await second.text(), second.headers.get('etag')]).toEqual([304, '', etag])
      expect((await send(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    },
  )

  test.each(['/openapi.json', '/llms.txt', '/.well-known/authzen-configuration'])(
    '%s answers HEAD like GET, and refuses other methods',
    async (path) => {
      const [get, head] = [await send(path), await send(path, { method: 'HEAD' })]
      const names = ['content-type', 'content-length', 'etag', 'cache-control', 'x-content-type-options']
      expect([head.status, await head.text(), names.map((name) => head.headers.get(name))]).toEqual([
        200,
        '',
        names.map((name) => get.headers.get(name)),
      ])
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const refused = await send(path, { method })
        expect([refused.status, refused.headers.get('allow'), ((await refused.json()) as any).error.code]).toEqual([
          405,
          'GET, HEAD',
          'method_not_allowed',
        ])
      }
    },
  )

  test.each(['/openapi.json/', '/openapi', '/v1/openapi.json', '/llms.txt/x', '/.well-known/authzen-configuration/', '/.well-known'])(
    '%s is not a path of the document',
    async (path) => {
      expect([401, 404]).toContain((await send(path)).status)
    },
  )

  test.each([undefined, 'https://kanban.example'])(
    'the metadata of AuthZEN name addresses that answer, at the origin %s',
    async (origin) => {
      const own = await Service.start(memory, { origin })
      const ann = await own.person(await own.workspace())
      const get = (path: string, init?: RequestInit) => own.app.fetch(new Request(`http://localhost${path}`, init))
      const response = await get('/.well-known/authzen-configuration')
      const { policy_decision_point: base, ...endpoints } = (await response.json()) as Record<string, string>
      const sent = { method: 'POST', body: '{}', headers: { authorization: `Bearer ${ann.read}`, 'content-type': 'application/json' } }
      const statuses = Object.values(endpoints).map(async (url) => (await get(new URL(url).pathname, sent)).status)
      expect([response.headers.get('content-type'), base, endpoints, await Promise.all(statuses)]).toEqual([
        'application/json; charset=utf-8',
        origin ?? 'http://localhost',
        {
          access_evaluation_endpoint: `${base}/v1/access/evaluation`,
          access_evaluations_endpoint: `${base}/v1/access/evaluations`,
          search_action_endpoint: `${base}/v1/access/search/action`,
          search_resource_endpoint: `${base}/v1/access/search/resource`,
        },
        [422, 422, 422, 422],
      ])
      await own.stop()
    },
  )

  test('/llms.txt names the public origin if the operator has set it', async () => {
    const other = await Service.start(memory, { origin: 'https://kanban.example' })
    const text = await (await other.app.fetch(new Request('http://localhost/llms.txt'))).text()
    await other.stop()
    expect(text).toContain('Base URL: https://kanban.example/v1\n')
  })
})
