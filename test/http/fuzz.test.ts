import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { startListener } from '../../src/listener/listener.ts'
import { operations } from '../../src/resources/table.ts'
import { runs } from '../support/effort.ts'
import { exchange, firstReply } from '../support/raw-http.ts'
import { Service } from '../support/service.ts'

const methods = fc.oneof(fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'), fc.stringMatching(/^[A-Z]{1,10}$/))
const segments = fc.oneof(
  fc.constantFrom('boards', 'members', 'account', 'visibility', '..', '.', '%00', '%ZZ', '%2f', 'brd_00000000000000000000', ''),
  fc.string({ maxLength: 20 }),
)
const knownPaths = fc.constantFrom(...operations.map(({ path }) => path.replace(/\{\w+\}/g, 'brd_00000000000000000000')))
const paths = fc.oneof(
  knownPaths,
  fc.array(segments, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`),
)
const bodies = fc.oneof(
  fc.constant(undefined),
  fc.string({ maxLength: 200 }),
  fc.json({ maxDepth: 20 }),
  fc.jsonValue().map((value) => JSON.stringify({ name: value, description: value, visibility: value })),
)
const headerValues = fc.stringMatching(/^[ -~]{0,40}$/)
const headers = fc.record(
  {
    'content-type': fc.oneof(fc.constant('application/json'), headerValues),
    'if-match': headerValues,
    'if-none-match': headerValues,
    accept: headerValues,
    cookie: headerValues,
  },
  { requiredKeys: [] },
)
const rawRequests = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .tuple(methods, fc.string({ maxLength: 30 }), fc.array(fc.string({ maxLength: 30 }), { maxLength: 4 }))
    .map(([method, path, lines]) =>
      Buffer.from([`${method} /v1/${path} HTTP/1.1`, ...lines, 'connection: close', '', ''].join('\r\n'), 'latin1'),
    ),
)

describe('random input', async () => {
  const service = await Service.forSuite()
  const person = await service.person(await service.workspace(), 'owner')
  const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  afterAll(() => listener.close())

  test('a random request is answered in the envelope, and never with a 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(methods, paths, bodies, headers, fc.boolean(), async (method, path, body, given, authenticated) => {
        // The Fetch API does not allow these methods.
        if (['CONNECT', 'TRACE', 'TRACK'].includes(method)) return
        const init = {
          method,
          headers: { ...given, ...(authenticated ? { authorization: `Bearer ${person.admin}` } : {}) },
          ...(body === undefined || method === 'GET' || method === 'HEAD' ? {} : { body }),
        }
        let request: Request
        try {
          request = new Request(`http://localhost/v1${encodeURI(path.toWellFormed()).replaceAll('%25', '%')}`, init)
        } catch {
          return
        }
        // `/v1/..` is not below /v1: pages are there.
        if (!/^\/v1(?:\/|$)/.test(new URL(request.url).pathname)) return
        const response = await service.app.fetch(request)
        expect(response.status).toBeLessThan(500)
        if (method === 'HEAD' || response.status === 304) return
        const json = (await response.json()) as any
        if (response.status < 300) expect(json).toHaveProperty('data')
        else
          expect(json.error).toMatchObject({
            code: expect.any(String),
            message: expect.any(String),
            request_id: response.headers.get('x-request-id'),
          })
      }),
      runs(2000),
    )
  })

  test('random bytes on a connection are answered with an error in the envelope, or the connection is closed', async () => {
    await fc.assert(
      fc.asyncProperty(rawRequests, async (bytes) => {
        const received = await exchange(listener.port, bytes, '\r\n\r\nX\r\n\r\n')
        const { status, body, head } = firstReply(received)
        if (received === '' || head.startsWith('HTTP/1.1 100')) return
        expect(status).toBeGreaterThan(0)
        // 501 is for a method that HTTP does not know.
        expect(status === 501 || status < 500).toBe(true)
        if (status >= 400 && body !== '') expect(body.error).toMatchObject({ code: expect.any(String), request_id: expect.any(String) })
      }),
      runs(300),
    )
    expect((await fetch(`${listener.url}/v1/account`, { headers: { authorization: `Bearer ${person.read}` } })).status).toBe(200)
  })
})
