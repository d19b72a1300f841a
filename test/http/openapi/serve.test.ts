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

  test('the documents of a service with rate limits and a public origin state them', async () => {
    const options = {
      origin: 'https://kanban.example',
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
    expect(document.components.schemas.AttachmentsAttachForm.properties.file.maxLength).toBe(12_345)
  })

  test.each(['/openapi.json', '/llms.txt', '/.well-known/authzen-configuration'])(
    '%s can be cached, is revalidated by its ETag, answers HEAD like GET, and refuses other methods',
    async (path) => {
      const [first, head] = [await send(path), await send(path, { method: 'HEAD' })]
      const text = await first.text()
      const names = ['content-type', 'content-length', 'etag', 'cache-control', 'x-content-type-options']
      const [type, length, etag, cached] = names.map((name) => first.headers.get(name))
      expect([type, length, etag, cached]).toEqual([
        expect.any(String),
        String(Buffer.byteLength(text)),
        expect.stringMatching(/^"[0-9a-f]{64}"$/),
        'public, max-age=300',
      ])
      const headersOfHead = names.map((name) => head.headers.get(name))
      expect([head.status, await head.text(), headersOfHead]).toEqual([200, '', names.map((name) => first.headers.get(name))])
      const second = await send(path, { headers: { 'if-none-match': etag! } })
      expect([second.status, await second.text(), second.headers.get('etag')]).toEqual([304, '', etag])
      expect((await send(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const refused = await send(path, { method })
        const { error } = (await refused.json()) as any
        expect([refused.status, refused.headers.get('allow'), error.code]).toEqual([405, 'GET, HEAD', 'method_not_allowed'])
      }
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
})
