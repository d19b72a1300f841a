import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startListener, type Listener } from '../../src/listener/listener.ts'
import { operations } from '../../src/resources/table.ts'
import type { Operation } from '../../src/resources/operation.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'
import { exchange, firstReply } from '../support/raw-http.ts'

const CRLF = '\r\n'
const head = (...lines: string[]) => [...lines, 'connection: close', '', ''].join(CRLF)

describe('the listener', () => {
  let service: Service
  let listener: Listener
  let person: Person
  beforeAll(async () => {
    service = await Service.start(memory)
    person = await service.person(await service.workspace(), 'owner')
    listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    await listener.close()
    await service.stop()
  })
  const auth = () => `authorization: Bearer ${person.admin}`
  const send = async (...chunks: (string | Uint8Array)[]) => firstReply(await exchange(listener.port, ...chunks))

  test.each<[string, string, number, string]>([
    ['an invalid request line', `hello${CRLF}${CRLF}`, 400, 'bad_request'],
    ['TLS on a plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'bad_request'],
    [
      'two body lengths',
      head('POST /v1/boards HTTP/1.1', 'host: x', 'content-length: 5', 'transfer-encoding: chunked') + `0${CRLF}${CRLF}`,
      400,
      'bad_request',
    ],
    ['a header without a name', head('GET /v1/account HTTP/1.1', 'host: x', ': y'), 400, 'bad_request'],
    ['a missing host', head('GET /v1/account HTTP/1.1'), 400, 'bad_request'],
    ['an oversized head', head('GET /v1/account HTTP/1.1', 'host: x', `x: ${'y'.repeat(20_000)}`), 431, 'headers_too_large'],
    ['two hosts', head('GET /v1/account HTTP/1.1', 'host: x', 'Host: x'), 400, 'bad_request'],
    ['two hosts with HTTP/1.0', head('GET /v1/account HTTP/1.0', 'host: x', 'Host: y'), 400, 'bad_request'],
    ['a host with a path', head('GET /v1/account HTTP/1.1', 'host: x/y'), 400, 'bad_request'],
    ['a host with a user', head('GET /v1/account HTTP/1.1', 'host: me@x'), 400, 'bad_request'],
    ['a host with a port that is no number', head('GET /v1/account HTTP/1.1', 'host: x:y'), 400, 'bad_request'],
    ['a malformed host beside an expectation', head('POST /v1/boards HTTP/1.1', 'host: a b', 'expect: 100-continue'), 400, 'bad_request'],
    ['a malformed host beside an unknown expectation', head('POST /v1/boards HTTP/1.1', 'host: a b', 'expect: x'), 400, 'bad_request'],
    ['an IPv6 host with a port', head('GET /v1/account HTTP/1.1', 'host: [::1]:3000'), 401, 'unauthorized'],
    ['an empty host', head('GET /v1/account HTTP/1.1', 'host:'), 401, 'unauthorized'],
    ['no host with HTTP/1.0', head('GET /v1/account HTTP/1.0'), 401, 'unauthorized'],
    ['HTTP/2.0', head('GET /v1/account HTTP/2.0', 'host: x'), 400, 'bad_request'],
    ['HTTP/0.9 with a version', head('GET /v1/account HTTP/0.9', 'host: x'), 400, 'bad_request'],
    ['an unknown method', head('BREW /v1/account HTTP/1.1', 'host: x'), 501, 'not_implemented'],
    ['an unknown method in lower case', head('get /v1/account HTTP/1.1', 'host: x'), 501, 'not_implemented'],
    ['a known method that no path has', head('PROPFIND /v1/account HTTP/1.1', 'host: x'), 401, 'unauthorized'],
    ['CONNECT', head('CONNECT example.com:443 HTTP/1.1', 'host: x'), 400, 'bad_request'],
    ['an unknown expectation', head('GET /v1/account HTTP/1.1', 'host: x', 'expect: unknown'), 401, 'unauthorized'],
    ['a target with a scheme in upper case', head('GET HTTPS://proxy/v1 HTTP/1.1', 'host: x'), 401, 'unauthorized'],
    ['a target without a path', head('GET http://proxy HTTP/1.1', 'host: x'), 404, 'not_found'],
    ['a target without a path, with a query', head('GET http://proxy?/v1 HTTP/1.1', 'host: x'), 404, 'not_found'],
    ['a path without a leading slash', head('GET v1/account HTTP/1.1', 'host: x'), 400, 'bad_request'],
    ['an upgrade', head('GET /v1/account HTTP/1.1', 'host: x', 'upgrade: websocket', 'connection: upgrade'), 401, 'unauthorized'],
    ['a broken escape, without a token', head('GET /v1/%ZZ HTTP/1.1', 'host: x'), 401, 'unauthorized'],
    ['a broken escape outside /v1', head('GET /%ZZ HTTP/1.1', 'host: x'), 404, 'not_found'],
    ['an absolute target', head('GET http://elsewhere/v1/account HTTP/1.1', 'host: x'), 401, 'unauthorized'],
    ['an asterisk target', head('OPTIONS * HTTP/1.1', 'host: x'), 404, 'not_found'],
  ])('%s is answered with an error envelope', async (_case, bytes, status, code) => {
    const reply = await send(bytes)
    expect([reply.status, reply.body.error?.code, typeof reply.body.error?.request_id]).toEqual([status, code, 'string'])
  })

  // A proxy that filters by prefix must see the same path as the service.
  test.each([
    ['/v1', 404],
    ['/v1/', 404],
    ['/v1/nowhere', 404],
    ['/v1/Account', 404],
    ['/v1/account;x', 404],
    ['/v1/boards//members', 404],
    ['/v1/%ZZ', 404],
    ['/v1/./account', 404],
    ['/v1//account', 404],
    ['/v1/boards/%2e%2e/account', 404],
    ['/v1/boards/../account', 404],
    ['/v1/%61ccount', 404],
    ['/v1/account#f', 404],
    ['/v1/account/', 404],
    ['/v1/account%2f', 404],
    ['/v1/..', 404],
    ['/v1/../settings', 404],
    ['/v1/../healthz', 404],
    ['/v1/%2e%2e/account', 404],
    ['/v1/boards/%2e/members?limit=1', 404],
    ['/v1/boards/%2e%2e', 404],
    ['/v1/account?x=1', 422],
    ['/v1/account?', 200],
    ['/v1/boards?limit=1?x', 422],
    ['/v1/account', 200],
  ])('the path %s is not normalised, and requires a token first', async (target, status) => {
    expect((await send(head(`GET ${target} HTTP/1.1`, 'host: x'))).status).toBe(401)
    expect((await send(head(`GET ${target} HTTP/1.1`, 'host: x', auth()))).status).toBe(status)
    expect((await send(head(`GET http://x${target} HTTP/1.1`, 'host: x', auth()))).status).toBe(status)
  })
  test.each([
    '/x/../v1/account',
    '/%761/account',
    '/v1\\account',
    '/./v1/account',
    '/x/../healthz',
    '/./settings',
    '/V1/account',
    '/v10',
    '/v',
    '/x/v1/account',
  ])('the path %s outside of /v1 is answered 404', async (target) => {
    for (const headers of [[], [auth()]]) expect((await send(head(`GET ${target} HTTP/1.1`, 'host: x', ...headers))).status).toBe(404)
  })

  test.each([
    ['without a token', [], '/v1/boards', 401],
    ['with an insufficient scope', ['READ'], '/v1/boards', 403],
    ['for an unknown path', ['ADMIN'], '/v1/unknown', 404],
    ['with an oversized length', ['ADMIN', 'content-length: 900000'], '/v1/boards', 413],
  ])('100 Continue is not sent for a request %s', async (_case, more, path, status) => {
    const headers = more.map((line) => (line === 'READ' ? `authorization: Bearer ${person.read}` : line === 'ADMIN' ? auth() : line))
    const length = more.some((line) => line.startsWith('content-length')) ? [] : ['content-length: 12']
    const text = (
      await exchange(
        listener.port,
        [`POST ${path} HTTP/1.1`, 'host: x', ...headers, 'content-type: application/json', ...length, 'expect: 100-continue', '', ''].join(
          CRLF,
        ),
      )
    ).toString()
    expect(text).not.toContain('100 Continue')
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(text.toLowerCase()).toContain('connection: close')
  })
  test('100 Continue is sent for a request whose body is read', async () => {
    const lines = [
      `POST /v1/boards HTTP/1.1`,
      'host: x',
      auth(),
      'content-type: application/json',
      'content-length: 12',
      'Expect: 100-Continue',
      '',
      '',
    ]
    const text = (
      await exchange(listener.port, lines.join(CRLF), '{"name":"x"}', head('GET /v1/account HTTP/1.1', 'host: x', auth()))
    ).toString()
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['100', '201', '200'])
  })

  test('a request with two Authorization headers is refused', async () => {
    const reply = await send(head('GET /v1/account HTTP/1.1', 'host: x', auth(), auth()))
    expect(reply.status).toBe(401)
  })

  test('a status line has the standard reason phrase', async () => {
    expect((await send(head('GET /v1/account HTTP/1.1', 'host: x', auth()))).head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect((await send(head('GET /v1/account HTTP/1.1', 'host: x'))).head).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/)
  })

  test('a chunked body is read, and a request after a refused one works', async () => {
    const chunked = (path: string, body: string) => [
      head(`POST ${path} HTTP/1.1`, 'host: x', auth(), 'content-type: application/json', 'transfer-encoding: chunked'),
      `${body.length.toString(16)}${CRLF}${body}${CRLF}0${CRLF}${CRLF}`,
    ]
    expect((await send(...chunked('/v1/boards', '{"name":"x"}'))).status).toBe(201)
    expect((await send(...chunked('/v1/unknown', 'x'.repeat(5000)))).status).toBe(404)
    expect((await send(...chunked('/v1/boards', ' '.repeat(600_000)))).status).toBe(413)
    expect((await send(head('GET /v1/account HTTP/1.1', 'host: x', auth()))).status).toBe(200)
  })

  test('an endless body is refused with 413 and the connection is closed', async () => {
    const reply = await new Promise<string>((resolve) => {
      const socket = connect(listener.port, '127.0.0.1')
      let received = ''
      let sending = true
      const fill = (): void => {
        while (sending && socket.write('x'.repeat(16_384)));
      }
      socket.on('drain', fill)
      socket.on('error', () => (sending = false))
      socket.on('data', (data) => (received += data.toString()))
      socket.on('close', () => resolve(received))
      socket.write(
        [`POST /v1/boards HTTP/1.1`, 'host: x', auth(), 'content-type: application/json', 'content-length: 99999999999', '', ''].join(CRLF),
        fill,
      )
    })
    expect(firstReply(reply).body.error.code).toBe('payload_too_large')
  })

  test('an interrupted upload is answered 400 and leaves no bytes', async () => {
    const board = await TestBoard.create(service, person)
    const card = await board.card(await board.column())
    const recordsBefore = service.records.length
    for (let i = 0; i < 10; i++) {
      await new Promise<void>((resolve) => {
        const socket = connect(listener.port, '127.0.0.1', () => {
          const form = ['--x', 'content-disposition: form-data; name="file"; filename="a"', '', 'y'.repeat(i * 100_000)].join(CRLF)
          socket.write(
            [
              `POST /v1/cards/${card}/attachments HTTP/1.1`,
              'host: x',
              auth(),
              'content-type: multipart/form-data; boundary=x',
              'content-length: 5000000',
              '',
              form,
            ].join(CRLF),
            () => setTimeout(() => socket.destroy(), 20),
          )
        })
        socket.on('error', () => undefined)
        socket.on('close', () => resolve())
      })
    }
    await expect.poll(() => service.records.filter(({ operation }) => operation === 'attachments.attach').length).toBeGreaterThanOrEqual(10)
    expect(
      new Set(
        service.records
          .slice(recordsBefore)
          .filter(({ operation }) => operation === 'attachments.attach')
          .map(({ status }) => status),
      ),
    ).toEqual(new Set([400]))
    expect(await service.blobKeys()).toEqual([])
  })

  test('a request works after another client disconnects in the middle of a body', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(listener.port, '127.0.0.1', () => {
        socket.write(
          [`POST /v1/boards HTTP/1.1`, 'host: x', auth(), 'content-type: application/json', 'content-length: 50', '', '{"na'].join(CRLF),
        )
        setImmediate(() => socket.destroy())
      })
      socket.on('close', () => resolve())
    })
    expect((await send(head('GET /v1/account HTTP/1.1', 'host: x', auth()))).status).toBe(200)
  })
})

test('a connection can be used again after a request that was refused in the middle of its body', async () => {
  const open = async () => {
    const opened = await memory.open()
    const write = async (_id: string, bytes: AsyncIterable<Uint8Array>) => {
      for await (const chunk of bytes) if (chunk.byteLength > 0) break
      throw new StorageUnavailable('gone')
    }
    return { ...opened, blobs: { ...opened.blobs, write } }
  }
  const service = await Service.start({ name: 'memory', open })
  const person = await service.person(await service.workspace())
  const board = await TestBoard.create(service, person)
  const card = await board.card(await board.column())
  const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  const request = (...lines: string[]) => [...lines, 'host: x', `authorization: Bearer ${person.admin}`, '', ''].join(CRLF)
  const file = ['--x', 'content-disposition: form-data; name="file"; filename="a"', '', 'y'.repeat(5_000_000), '--x--', ''].join(CRLF)
  const received = await exchange(
    listener.port,
    request(
      `POST /v1/cards/${card}/attachments HTTP/1.1`,
      'content-type: multipart/form-data; boundary=x',
      `content-length: ${file.length}`,
    ),
    file,
    request('GET /v1/account HTTP/1.1', 'connection: close'),
  )
  expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['503', '200'])
  await listener.close()
  await service.stop()
})

test('closing the listener refuses new connections and finishes requests in flight', async () => {
  let release: () => void = () => undefined
  let arrived: () => void = () => undefined
  const gate = new Promise<void>((resolve) => (release = resolve))
  const inFlight = new Promise<void>((resolve) => (arrived = resolve))
  const slow = operations.map((row) =>
    row.id === 'account.read' ? { ...row, related: async () => (arrived(), gate.then(() => ({}))) } : row,
  ) as Operation[]
  const service = await Service.start(memory, { operations: slow })
  const person = await service.person(await service.workspace())
  const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  const response = exchange(listener.port, head('GET /v1/account HTTP/1.1', 'host: x', `authorization: Bearer ${person.read}`))
  await inFlight
  const closed = listener.close()
  await expect(fetch(`${listener.url}/v1/account`)).rejects.toThrow()
  release()
  expect(firstReply(await response).status).toBe(200)
  await closed
  await service.stop()
})

test('a taken or unsafe port is refused, and no other port is used', async () => {
  const service = await Service.start(memory)
  const first = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  await expect(startListener(service.app.h3, { port: first.port, host: '127.0.0.1' })).rejects.toThrow('the port is taken')
  await expect(startListener(service.app.h3, { port: 6000, host: '127.0.0.1' })).rejects.toThrow('unsafe')
  await first.close()
  await service.stop()
})
