import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { startListener } from '../../src/listener/listener.ts'
import { operations } from '../../src/resources/table.ts'
import type { Operation } from '../../src/resources/operation.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'
import { inTime } from '../support/in-time.ts'
import { exchange, firstReply } from '../support/raw-http.ts'

const CRLF = '\r\n'
/** The head of a request. */
const lines = (...all: string[]) => [...all, '', ''].join(CRLF)
const head = (...all: string[]) => lines(...all, 'connection: close')
/** The heads of requests with a host. */
const get = (target: string, ...headers: string[]) => head(`GET ${target} HTTP/1.1`, 'host: x', ...headers)
const ofHost = (...hosts: string[]) => head('GET /v1/account HTTP/1.1', ...hosts.map((host) => `host:${host}`))

describe('the listener', async () => {
  const service = await Service.forSuite()
  const person = await service.person(await service.workspace(), 'owner')
  const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  afterAll(() => listener.close())
  const auth = () => `authorization: Bearer ${person.admin}`
  const send = async (...chunks: (string | Uint8Array)[]) => firstReply(await exchange(listener.port, ...chunks))

  const ACCOUNT = '/v1/account'
  const unauthorized = lines('POST /v1/boards HTTP/1.1', 'host: x', 'transfer-encoding: chunked')
  test('a client that goes on sending a body after the answer is disconnected', async () => {
    const socket = connect(listener.port, '127.0.0.1')
    const isClosed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve))
    socket.write(unauthorized)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toContain('401')
    const chunks = `1${CRLF}x${CRLF}`.repeat(500)
    // It would go on for ever.
    const send = (): void => void (socket.writable && socket.write(chunks, () => setImmediate(send)))
    send()
    await inTime(isClosed, () => 'the listener reads on')
  })

  test('a body that ends soon after the answer leaves the connection open for the next request', async () => {
    const rest = `${`1${CRLF}x${CRLF}`.repeat(1000)}0${CRLF}${CRLF}`
    const received = await exchange(listener.port, unauthorized, rest, get(ACCOUNT, auth()))
    expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['401', '200'])
  })

  const BAD = [400, 'bad_request'] as const
  const ANONYMOUS = [401, 'unauthorized'] as const
  const NOWHERE = [404, 'not_found'] as const
  test.each<[string, string, number, string]>([
    ['an invalid request line', `hello${CRLF}${CRLF}`, ...BAD],
    ['TLS on a plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', ...BAD],
    [
      'two body lengths',
      `${head('POST /v1/boards HTTP/1.1', 'host: x', 'content-length: 5', 'transfer-encoding: chunked')}0${CRLF}${CRLF}`,
      ...BAD,
    ],
    ['a header without a name', get(ACCOUNT, ': y'), ...BAD],
    ['a missing host', ofHost(), ...BAD],
    ['an oversized head', get(ACCOUNT, `x: ${'y'.repeat(20_000)}`), 431, 'headers_too_large'],
    ['two hosts', ofHost('x', 'x'), ...BAD],
    ['two hosts with HTTP/1.0', head('GET /v1/account HTTP/1.0', 'host: x', 'Host: y'), ...BAD],
    ['a host with a path', ofHost('x/y'), ...BAD],
    ['a host with a user', ofHost('me@x'), ...BAD],
    ['a host with a port that is no number', ofHost('x:y'), ...BAD],
    ['a malformed host beside an expectation', head('POST /v1/boards HTTP/1.1', 'host: a b', 'expect: 100-continue'), ...BAD],
    ['a malformed host beside an unknown expectation', head('POST /v1/boards HTTP/1.1', 'host: a b', 'expect: x'), ...BAD],
    ['an IPv6 host with a port', ofHost('[::1]:3000'), ...ANONYMOUS],
    ['an empty host', ofHost(''), ...ANONYMOUS],
    ['no host with HTTP/1.0', head('GET /v1/account HTTP/1.0'), ...ANONYMOUS],
    ['HTTP/2.0', head('GET /v1/account HTTP/2.0', 'host: x'), ...BAD],
    ['HTTP/0.9 with a version', head('GET /v1/account HTTP/0.9', 'host: x'), ...BAD],
    ['an unknown method', head('BREW /v1/account HTTP/1.1', 'host: x'), 501, 'not_implemented'],
    ['an unknown method in lower case', head('get /v1/account HTTP/1.1', 'host: x'), 501, 'not_implemented'],
    ['a known method that no path has', head('PROPFIND /v1/account HTTP/1.1', 'host: x'), ...ANONYMOUS],
    ['CONNECT', head('CONNECT example.com:443 HTTP/1.1', 'host: x'), ...BAD],
    ['an unknown expectation', get(ACCOUNT, 'expect: unknown'), ...ANONYMOUS],
    ['a target with a scheme in upper case', get('HTTPS://proxy/v1'), ...ANONYMOUS],
    ['a target without a path', get('http://proxy'), ...NOWHERE],
    ['a target without a path, with a query', get('http://proxy?/v1'), ...NOWHERE],
    ['a path without a leading slash', get('v1/account'), ...BAD],
    ['an upgrade', get(ACCOUNT, 'upgrade: websocket', 'connection: upgrade'), ...ANONYMOUS],
    ['a broken escape, without a token', get('/v1/%ZZ'), ...ANONYMOUS],
    ['a broken escape outside /v1', get('/%ZZ'), ...NOWHERE],
    ['an absolute target', get('http://elsewhere/v1/account'), ...ANONYMOUS],
    ['an asterisk target', head('OPTIONS * HTTP/1.1', 'host: x'), ...NOWHERE],
  ])('%s is answered with an error envelope', async (_case, bytes, status, code) => {
    const reply = await send(bytes)
    expect({ status: reply.status, code: reply.body.error?.code, requestId: typeof reply.body.error?.request_id }).toEqual({
      status,
      code,
      requestId: 'string',
    })
  })

  // A proxy that filters by prefix must see the same path as the service.
  const notFound = [
    '/v1',
    '/v1/',
    '/v1/nowhere',
    '/v1/Account',
    '/v1/account;x',
    '/v1/boards//members',
    '/v1/%ZZ',
    '/v1/./account',
    '/v1//account',
    '/v1/boards/%2e%2e/account',
    '/v1/boards/../account',
    '/v1/%61ccount',
    '/v1/account#f',
    '/v1/account%2f',
    '/v1/..',
    '/v1/../settings',
    '/v1/../healthz',
    '/v1/%2e%2e/account',
    '/v1/boards/%2e/members?limit=1',
    '/v1/boards/%2e%2e',
  ]
  test.each([
    ...notFound.map((path) => [path, 404] as const),
    ['/v1/account?x=1', 422],
    ['/v1/account?', 200],
    ['/v1/boards?limit=1?x', 422],
    ['/v1/account', 200],
  ] as const)('the path %s is not normalised, and requires a token first', async (target, status) => {
    expect((await send(get(target))).status).toBe(401)
    expect((await send(get(target, auth()))).status).toBe(status)
    expect((await send(get(`http://x${target}`, auth()))).status).toBe(status)
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
    for (const headers of [[], [auth()]]) expect((await send(get(target, ...headers))).status).toBe(404)
  })

  const JSON_TYPE = 'content-type: application/json'
  /** The head of a request with a body of JSON, which leaves the connection open. */
  const post = (path: string, length: number, ...headers: string[]) =>
    lines(`POST ${path} HTTP/1.1`, 'host: x', JSON_TYPE, `content-length: ${length}`, ...headers)

  test.each<[string, () => string[], string, number, number]>([
    ['without a token', () => [], '/v1/boards', 12, 401],
    ['with an insufficient scope', () => [`authorization: Bearer ${person.read}`], '/v1/boards', 12, 403],
    ['for an unknown path', () => [auth()], '/v1/unknown', 12, 404],
    ['with an oversized length', () => [auth()], '/v1/boards', 900_000, 413],
  ])('100 Continue is not sent for a request %s', async (_case, headers, path, length, status) => {
    const text = await exchange(listener.port, post(path, length, ...headers(), 'expect: 100-continue'))
    expect(text).not.toContain('100 Continue')
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(text.toLowerCase()).toContain('connection: close')
  })
  test('100 Continue is sent for a request whose body is read', async () => {
    const asked = post('/v1/boards', 12, auth(), 'Expect: 100-Continue')
    const text = await exchange(listener.port, asked, '{"name":"x"}', get(ACCOUNT, auth()))
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['100', '201', '200'])
  })

  test('a request with two Authorization headers is refused', async () => {
    const reply = await send(get(ACCOUNT, auth(), auth()))
    expect(reply.status).toBe(401)
  })

  test('a status line has the standard reason phrase', async () => {
    expect((await send(get(ACCOUNT, auth()))).head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect((await send(get(ACCOUNT))).head).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/)
  })

  test('a chunked body is read, and a request after a refused one works', async () => {
    const chunked = (path: string, body: string) => [
      head(`POST ${path} HTTP/1.1`, 'host: x', auth(), JSON_TYPE, 'transfer-encoding: chunked'),
      `${body.length.toString(16)}${CRLF}${body}${CRLF}0${CRLF}${CRLF}`,
    ]
    expect((await send(...chunked('/v1/boards', '{"name":"x"}'))).status).toBe(201)
    expect((await send(...chunked('/v1/unknown', 'x'.repeat(5000)))).status).toBe(404)
    expect((await send(...chunked('/v1/boards', ' '.repeat(600_000)))).status).toBe(413)
    expect((await send(get(ACCOUNT, auth()))).status).toBe(200)
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
      socket.write(post('/v1/boards', 99_999_999_999, auth()), fill)
    })
    expect(firstReply(reply).body.error.code).toBe('payload_too_large')
  })

  test('an interrupted upload is answered 400 and leaves no bytes', async () => {
    const board = await TestBoard.create(service, person)
    const card = await board.card(await board.column())
    for (let i = 0; i < 10; i++) {
      await new Promise<void>((resolve) => {
        const socket = connect(listener.port, '127.0.0.1', () => {
          const type = 'content-type: multipart/form-data; boundary=x'
          const asked = lines(`POST /v1/cards/${card}/files HTTP/1.1`, 'host: x', auth(), type, 'content-length: 5000000')
          const part = lines('--x', 'content-disposition: form-data; name="file"; filename="a"')
          socket.write(asked + part + 'y'.repeat(i * 100_000), () => setTimeout(() => socket.destroy(), 20))
        })
        socket.on('error', () => undefined)
        socket.on('close', () => resolve())
      })
    }
    const statuses = () => service.records.filter(({ operation }) => operation === 'attachments.upload').map(({ status }) => status)
    await expect.poll(statuses).toEqual(Array(10).fill(400))
    expect(await service.blobKeys()).toEqual([])
  })

  test('a request works after another client disconnects in the middle of a body', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(listener.port, '127.0.0.1', () => {
        socket.write(`${post('/v1/boards', 50, auth())}{"na`)
        setImmediate(() => socket.destroy())
      })
      socket.on('close', () => resolve())
    })
    expect((await send(get(ACCOUNT, auth()))).status).toBe(200)
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
    request(`POST /v1/cards/${card}/files HTTP/1.1`, 'content-type: multipart/form-data; boundary=x', `content-length: ${file.length}`),
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
  const response = exchange(listener.port, get('/v1/account', `authorization: Bearer ${person.read}`))
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
