import { createHash } from 'node:crypto'
import { Agent, createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { speakEnvelope } from '../../src/listener/protocol.ts'
import { startListener } from '../../src/listener/listener.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'
import { exchangeWhole, readReply, type HeaderSet, type WholeReply } from '../support/whole-reply.ts'

// The whole head of each form of response, as a client receives it. A header that is missing, and one that is not expected, are both
// mistakes. What the document lists for each response is compared by `Service.send`; the further members of each error:
// openapi/errors.test.ts; HEAD: compression.test.ts. The service never answers 204: a success always has a body.

const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const [ETAG, PAGE_ETAG] = [/^"[0-9A-Za-z]{20}"$/, /^W\/"[0-9a-f]{40}"$/].map((form) => expect.stringMatching(form))

// What Node adds to each response, and to one that leaves the connection open.
const DATED = { date: expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/) }
const OPEN = { ...DATED, connection: 'keep-alive', 'keep-alive': expect.stringMatching(/^timeout=\d+$/) }

const UNLIMITED = { vary: 'Authorization, Accept-Encoding', 'x-content-type-options': 'nosniff', 'x-request-id': UUID }
/** The clock of the service stands at the begin of a minute. */
const RATED = {
  'ratelimit-policy': '"token";q=300;w=60, "workspace";q=600;w=60',
  ratelimit: expect.stringMatching(/^"token";r=2\d\d;t=60, "workspace";r=5\d\d;t=60$/),
}
const NOT_STORED = { 'cache-control': 'private, no-store' }
const REVALIDATED = { 'cache-control': 'private, no-cache' }
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'content-length': expect.stringMatching(/^[1-9][0-9]*$/) }
/** A response outside of /v1. */
const UNLIMITED_JSON_BODY = { ...OPEN, ...UNLIMITED, ...NOT_STORED, ...JSON_TYPE }
const JSON_BODY = { ...UNLIMITED_JSON_BODY, ...RATED }
/** Only the address of the client is known. */
const UNAUTHORIZED = {
  ...JSON_BODY,
  'ratelimit-policy': '"address";q=1000;w=60',
  ratelimit: expect.stringMatching(/^"address";r=(1000|9\d\d);t=60$/),
  'www-authenticate': 'Bearer',
}
/** A response to what is no valid HTTP. */
const REFUSED = { ...UNLIMITED, ...NOT_STORED, ...JSON_TYPE, connection: 'close' }

const CONTENT = 'Hello, world'
const DOWNLOAD = {
  ...OPEN,
  ...UNLIMITED,
  ...RATED,
  ...NOT_STORED,
  'content-type': 'image/png',
  'content-length': '12',
  'content-disposition': `attachment; filename="a 'b' _.png"; filename*=UTF-8''a%20%27b%27%20%C3%A9.png`,
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'accept-ranges': 'bytes',
  etag: `"${createHash('sha256').update(CONTENT).digest('hex')}"`,
  vary: 'Authorization',
}

const agent = new Agent({ keepAlive: true })
const service = await Service.forSuite(memory, { rateLimits: { quotas: { token: 300, workspace: 600, address: 1000 } } })
const ann = await service.person(await service.workspace(), 'member', 'Ann')
const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
const board = await TestBoard.create(service, ann)
const card = await board.card(await board.column())
const attached = await board.attach(card, { name: "a 'b' é.png", type: 'image/png', text: CONTENT })
const ids = { board: board.id, attachment: attached.body.data.id }
afterAll(async () => {
  agent.destroy()
  await listener.close()
})

/** Sends a request with a token. `{name}` in its path stands for an id. */
function send(
  target: string,
  headers: Record<string, string> = {},
  body?: object | string,
  token: string | null = ann.admin,
): Promise<WholeReply> {
  const [method, path] = target.replace(/\{(\w+)\}/, (_all, name: keyof typeof ids) => ids[name]).split(' ') as [string, string]
  const content = typeof body === 'object' ? JSON.stringify(body) : body
  const all = {
    // Neither is of importance to any response: none allows another origin, or sets a cookie.
    origin: 'https://elsewhere.example',
    cookie: 'session=1',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(content === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(content)) }),
    ...headers,
  }
  return new Promise((resolve, reject) => {
    sendRequest({ port: listener.port, method, path, headers: all, agent }, (response) => readReply(response).then(resolve, reject))
      .on('error', reject)
      .end(content)
  })
}

/** The announced length must be the body's. */
function expectReply({ status, headers, body }: WholeReply, expectedStatus: number, expectedHeaders: HeaderSet, bodyless = false): void {
  expect({ status, headers }).toEqual({ status: expectedStatus, headers: expectedHeaders })
  expect(body.length).toBe(bodyless ? 0 : Number(headers['content-length']))
}

describe('the headers of a success', () => {
  const stale = { 'if-none-match': '"other"' }
  test.each<[what: string, target: string, headers: Record<string, string>, expected: HeaderSet]>([
    ['a resource without an ETag', 'GET /v1/account', {}, JSON_BODY],
    ['a list, revalidated', 'GET /v1/boards', stale, { ...JSON_BODY, ...REVALIDATED, etag: PAGE_ETAG }],
    ['a resource', 'GET /v1/boards/{board}', {}, { ...JSON_BODY, etag: ETAG }],
    ['a download', 'GET /v1/attachments/{attachment}/content', {}, DOWNLOAD],
  ])('the response with %s has exactly these headers', async (_what, target, headers, expected) => {
    expectReply(await send(target, headers), 200, expected)
  })

  test('the responses to a creation and to a deletion have exactly these headers', async () => {
    const created = await send('POST /v1/boards/{board}/labels', {}, { name: 'New', color: '#000000' })
    const location = expect.stringMatching(/^\/v1\/labels\/lbl_\w{20}$/)
    expectReply(created, 201, { ...JSON_BODY, etag: ETAG, location })
    expectReply(await send(`DELETE ${created.headers['location']}`), 200, JSON_BODY)
  })

  test.each(['GET', 'HEAD'])('the 304 to %s of a resource has exactly these headers', async (method) => {
    const { etag } = (await send('GET /v1/boards/{board}')).headers as { etag: string }
    const reply = await send(`${method} /v1/boards/{board}`, { 'if-none-match': etag })
    expectReply(reply, 304, { ...OPEN, ...UNLIMITED, ...RATED, ...REVALIDATED, etag }, true)
  })
})

/** What Node reports if the head of a request does not arrive in time, without waiting for it. */
async function timeOut(): Promise<WholeReply> {
  const server = createServer()
  speakEnvelope(server, () => undefined)
  server.on('connection', (socket) => server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const reply = await exchangeWhole((server.address() as AddressInfo).port, 'GET /v1/account HTTP/1.1\r\n')
  await new Promise((resolve) => server.close(resolve))
  return reply
}

/** More requests than the service accepts from one network at once. */
async function revokeTooOften(): Promise<WholeReply> {
  const revoke = () => send('POST /revoke', { 'content-type': 'application/x-www-form-urlencoded' }, 'token=x', null)
  for (let i = 0; i < 30; i++) await revoke()
  return revoke()
}

describe('the headers of an error', () => {
  const exchanged = (text: string) => () => exchangeWhole(listener.port, text)
  const tooLarge = { ...JSON_BODY, connection: 'close', 'keep-alive': undefined }
  const gzip = { 'content-encoding': 'gzip' }
  test.each<[code: string, what: string, status: number, headers: HeaderSet, request: () => Promise<WholeReply>]>([
    ['bad_request', 'invalid HTTP', 400, REFUSED, exchanged('hello\r\n\r\n')],
    ['unauthorized', 'no token', 401, UNAUTHORIZED, () => send('GET /v1/account', {}, undefined, null)],
    ['not_found', 'an unknown path', 404, JSON_BODY, () => send('GET /v1/unknown')],
    ['not_found', 'a path outside of /v1', 404, UNLIMITED_JSON_BODY, () => send('GET /unknown')],
    ['request_timeout', 'a head that does not arrive', 408, REFUSED, timeOut],
    ['payload_too_large', 'an announced length', 413, tooLarge, () => send('POST /v1/boards', {}, ' '.repeat(600_000))],
    [
      'unsupported_media_type',
      'a content coding',
      415,
      { ...JSON_BODY, 'accept-encoding': 'identity' },
      () => send('POST /v1/boards', gzip, {}),
    ],
    ['rate_limited', 'too many revocations', 429, { ...UNLIMITED_JSON_BODY, 'retry-after': '2' }, revokeTooOften],
    ['headers_too_large', 'an oversized head', 431, REFUSED, exchanged(`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`)],
    ['not_implemented', 'an unknown method', 501, REFUSED, exchanged('BREW /v1/x HTTP/1.1\r\n\r\n')],
  ])('the error %s for %s has the status %i and exactly these headers', async (code, _what, status, expected, request) => {
    const reply = await request()
    expectReply(reply, status, expected)
    const { error } = JSON.parse(reply.body.toString()) as { error: Record<string, unknown> }
    expect({ code: error['code'], requestId: error['request_id'] }).toEqual({ code, requestId: reply.headers['x-request-id'] })
  })

  test('an error of HEAD has exactly the headers of the error of GET', async () => {
    expectReply(await send('HEAD /v1/account', {}, undefined, null), 401, UNAUTHORIZED, true)
    expectReply(await send('HEAD /v1/boards/{board}/visibility'), 405, { ...JSON_BODY, allow: 'PUT' }, true)
  })
})
