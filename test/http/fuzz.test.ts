import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { startListener, type Listener } from '../../src/http/server.ts'
import { drivers } from '../support/drivers.ts'
import { runs } from '../support/effort.ts'
import { Service, type Person } from '../support/service.ts'
import { exchange, firstReply } from '../support/raw-http.ts'

const method = fc.oneof(fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'), fc.stringMatching(/^[A-Z]{1,10}$/))
const segment = fc.oneof(
  fc.constantFrom('boards', 'members', 'account', 'visibility', '..', '.', '%00', '%ZZ', '%2f', 'brd_00000000000000000000', ''),
  fc.string({ maxLength: 20 }),
)
const known = fc.constantFrom(...operations.map(({ path }) => path.replace(/\{\w+\}/g, 'brd_00000000000000000000')))
const path = fc.oneof(
  known,
  fc.array(segment, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`),
)
const body = fc.oneof(
  fc.constant(undefined),
  fc.string({ maxLength: 200 }),
  fc.json({ maxDepth: 20 }),
  fc.jsonValue().map((value) => JSON.stringify({ name: value, description: value, visibility: value })),
)
const headers = fc.record(
  {
    'content-type': fc.oneof(fc.constant('application/json'), fc.stringMatching(/^[ -~]{0,40}$/)),
    'if-match': fc.stringMatching(/^[ -~]{0,40}$/),
    'if-none-match': fc.stringMatching(/^[ -~]{0,40}$/),
    accept: fc.stringMatching(/^[ -~]{0,40}$/),
    cookie: fc.stringMatching(/^[ -~]{0,40}$/),
  },
  { requiredKeys: [] },
)

describe('whatever comes, there is an answer in the envelope and never a 5xx', () => {
  let service: Service
  let listener: Listener
  let person: Person
  beforeAll(async () => {
    service = await Service.start(drivers[0]!)
    person = await service.person(await service.workspace(), 'owner')
    listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    await listener.close()
    await service.stop()
  })

  test('requests', async () => {
    await fc.assert(
      fc.asyncProperty(method, path, body, headers, fc.boolean(), async (verb, at, text, more, signed) => {
        if (['CONNECT', 'TRACE', 'TRACK'].includes(verb)) return
        const init = {
          method: verb,
          headers: { ...more, ...(signed ? { authorization: `Bearer ${person.admin}` } : {}) },
          ...(text === undefined || verb === 'GET' || verb === 'HEAD' ? {} : { body: text }),
        }
        let request: Request
        try {
          request = new Request(`http://localhost/v1${encodeURI(at.toWellFormed()).replaceAll('%25', '%')}`, init)
        } catch {
          return
        }
        const response = await service.app.fetch(request)
        expect(response.status).toBeLessThan(500)
        if (verb === 'HEAD' || response.status === 304) return
        const answer = (await response.json()) as any
        if (response.status < 300) expect(answer).toHaveProperty('data')
        else
          expect(answer.error).toMatchObject({
            code: expect.any(String),
            message: expect.any(String),
            request_id: response.headers.get('x-request-id'),
          })
      }),
      runs(2000),
    )
  })

  test('bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc
            .tuple(method, fc.string({ maxLength: 30 }), fc.array(fc.string({ maxLength: 30 }), { maxLength: 4 }))
            .map(([verb, at, lines]) =>
              Buffer.from([`${verb} /v1/${at} HTTP/1.1`, ...lines, 'connection: close', '', ''].join('\r\n'), 'latin1'),
            ),
        ),
        async (bytes) => {
          const received = await exchange(listener.port, bytes, '\r\n\r\nX\r\n\r\n')
          const { status, body: answer, head } = firstReply(received)
          if (received === '' || head.startsWith('HTTP/1.1 100')) return
          expect(status).toBeGreaterThan(0)
          expect(status).toBeLessThan(500)
          if (status >= 400 && answer !== '')
            expect(answer.error).toMatchObject({ code: expect.any(String), request_id: expect.any(String) })
        },
      ),
      runs(300),
    )
    expect((await fetch(`${listener.url}/v1/account`, { headers: { authorization: `Bearer ${person.read}` } })).status).toBe(200)
  })
})
