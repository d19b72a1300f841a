import { Agent, createServer, request as sendRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { speakEnvelope } from '../../src/listener/protocol.ts'
import { startListener, type Listener } from '../../src/listener/listener.ts'
import { encodeCursor } from '../../src/listing/pages.ts'
import type { errors } from '../../src/model/errors.ts'
import { HOUR } from '../../src/model/time.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { TestBoard } from '../support/board.ts'
import {
  ETAG,
  PAGE_ETAG,
  OPEN,
  CLOSED,
  RATED_BY_ADDRESS,
  REVALIDATED,
  JSON_BODY,
  UNLIMITED_JSON_BODY,
  UNAUTHORIZED,
  REFUSED,
  CONTENT,
  CONTENT_ETAG,
  DOWNLOAD,
  UNCHANGED_DOWNLOAD,
} from './expected-headers.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'
import { exchangeWhole, readReply, type HeaderSet, type WholeReply } from '../support/whole-reply.ts'

// The whole head of each kind of response, as a client receives it. A header that is missing, and one that is not
// expected, are both mistakes. The service never answers 204: a success always has a body.

let service: Service
let listener: Listener
let ann: Person
let bob: Person
let ids: Record<'board' | 'column' | 'card' | 'attachment' | 'text', string>
const agent = new Agent({ keepAlive: true })
beforeAll(async () => {
  service = await Service.start(memory, { rateLimits: { quotas: { token: 300, workspace: 600, address: 1000 } } })
  const workspaceId = await service.workspace()
  ann = await service.person(workspaceId, 'member', 'Ann')
  bob = await service.person(workspaceId, 'member', 'Bob')
  listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  const board = await TestBoard.create(service, ann)
  const column = await board.column()
  const card = await board.card(column)
  const attachment = (await board.attach(card, { name: "a 'b' é.png", type: 'image/png', text: CONTENT })).body.data.id
  const text = (await board.attach(card)).body.data.id
  ids = { board: board.id, column, card, attachment, text }
})
afterAll(async () => {
  agent.destroy()
  await listener.close()
  await service.stop()
})
afterEach(() => (service.store.beforeRead = undefined))

/** Sends a request with the token of a person. `{name}` in its path and body stands for an id. */
function send(
  target: string,
  headers: Record<string, string> = {},
  body?: object | string,
  token: string | null = ann.admin,
): Promise<WholeReply> {
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_all, name: keyof typeof ids) => ids[name])
  const [method, path] = target.split(' ') as [string, string]
  const content = body === undefined ? undefined : fill(typeof body === 'string' ? body : JSON.stringify(body))
  const all = {
    // Neither is of importance to any response: none allows another origin, or sets a cookie.
    origin: 'https://elsewhere.example',
    cookie: 'session=1',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(content === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(content)) }),
    ...headers,
  }
  return new Promise((resolve, reject) => {
    const request = sendRequest({ port: listener.port, method, path: fill(path), headers: all, agent }, (response) =>
      readReply(response).then(resolve, reject),
    )
    request.on('error', reject)
    request.end(content)
  })
}

/** The announced length must be that of the body. */
function expectReply({ status, headers, body }: WholeReply, expectedStatus: number, expectedHeaders: HeaderSet, bodyless = false): void {
  expect([status, headers]).toEqual([expectedStatus, expectedHeaders])
  expect(body.length).toBe(bodyless ? 0 : Number(headers['content-length']))
}

describe('the headers of a success', () => {
  const stale = { 'if-none-match': '"other"' }
  test.each<[what: string, target: string, headers: Record<string, string>, body: object | undefined, status: number, expected: HeaderSet]>(
    [
      ['a resource without an ETag', 'GET /v1/account', {}, undefined, 200, JSON_BODY],
      ['a list', 'GET /v1/boards', {}, undefined, 200, { ...JSON_BODY, etag: PAGE_ETAG }],
      ['a list, revalidated', 'GET /v1/boards', stale, undefined, 200, { ...JSON_BODY, ...REVALIDATED, etag: PAGE_ETAG }],
      ['a resource', 'GET /v1/boards/{board}', {}, undefined, 200, { ...JSON_BODY, etag: ETAG }],
      ['a resource, revalidated', 'GET /v1/boards/{board}', stale, undefined, 200, { ...JSON_BODY, ...REVALIDATED, etag: ETAG }],
      ['a changed resource', 'PATCH /v1/boards/{board}', {}, { name: 'New' }, 200, { ...JSON_BODY, etag: ETAG }],
      ['a membership of a board', 'PUT /v1/boards/{board}/members/{bob}', {}, undefined, 200, { ...JSON_BODY, etag: ETAG }],
    ],
  )('the response with %s has exactly these headers', async (_what, target, headers, body, status, expected) => {
    expectReply(await send(target.replace('{bob}', bob.id), headers, body), status, expected)
  })

  test('the responses to a creation and to a deletion have exactly these headers', async () => {
    const created = await send('POST /v1/boards/{board}/labels', {}, { name: 'New', color: '#000000' })
    const location = expect.stringMatching(/^\/v1\/labels\/lbl_\w{20}$/)
    expectReply(created, 201, { ...JSON_BODY, etag: ETAG, location })
    expectReply(await send(`DELETE ${created.headers['location']}`), 200, JSON_BODY)
  })

  test('the response to HEAD has exactly the headers and the length of that to GET', async () => {
    const get = await send('GET /v1/boards/{board}')
    expectReply(
      await send('HEAD /v1/boards/{board}'),
      200,
      { ...JSON_BODY, etag: get.headers['etag'], 'content-length': get.headers['content-length'] },
      true,
    )
  })

  test.each(['GET', 'HEAD'])('the 304 to %s of a resource has exactly these headers', async (method) => {
    const { etag } = (await send('GET /v1/boards/{board}')).headers as { etag: string }
    const reply = await send(`${method} /v1/boards/{board}`, { 'if-none-match': etag })
    expectReply(reply, 304, { ...OPEN, ...REVALIDATED, etag }, true)
  })

  const path = '/v1/attachments/{attachment}/content'
  test.each<[what: string, method: string, headers: Record<string, string>, status: number, expected: HeaderSet]>([
    ['a download', 'GET', {}, 200, { ...DOWNLOAD, 'content-length': '12' }],
    ['a download, revalidated', 'GET', stale, 200, { ...DOWNLOAD, 'content-length': '12' }],
    ['a download by HEAD', 'HEAD', {}, 200, { ...DOWNLOAD, 'content-length': '12' }],
    ['a range by HEAD', 'HEAD', { range: 'bytes=0-4' }, 200, { ...DOWNLOAD, 'content-length': '12' }],
    ['a range', 'GET', { range: 'bytes=7-' }, 206, { ...DOWNLOAD, 'content-length': '5', 'content-range': 'bytes 7-11/12' }],
    ['a download that has not changed', 'GET', { 'if-none-match': CONTENT_ETAG }, 304, UNCHANGED_DOWNLOAD],
    ['the same by HEAD', 'HEAD', { 'if-none-match': CONTENT_ETAG }, 304, UNCHANGED_DOWNLOAD],
  ])('the response with %s has exactly these headers', async (_what, method, headers, status, expected) => {
    const reply = await send(`${method} ${path}`, headers)
    expectReply(reply, status, expected, method === 'HEAD' || status === 304)
    if (reply.body.length > 0) expect(reply.body.toString()).toBe(status === 206 ? 'world' : CONTENT)
  })
})

/** What Node reports if the head of a request does not arrive in time, without waiting for it. */
async function timeOut(): Promise<WholeReply> {
  const server: Server = createServer()
  speakEnvelope(server, () => undefined)
  server.on('connection', (socket) => server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const reply = await exchangeWhole((server.address() as AddressInfo).port, 'GET /v1/account HTTP/1.1\r\n')
  await new Promise((resolve) => server.close(resolve))
  return reply
}

function sendWhileStorageFails(): Promise<WholeReply> {
  service.store.beforeRead = async () => {
    throw new StorageUnavailable('gone')
  }
  return send('GET /v1/account')
}

/** More requests than the service accepts from one network at once. */
async function revokeTooOften(): Promise<WholeReply> {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  for (let i = 0; i < 30; i++) await send('POST /revoke', form, 'token=x', null)
  return send('POST /revoke', form, 'token=x', null)
}

/** More requests than the service accepts of one token in a minute, one hour later. */
async function sendTooOften(): Promise<WholeReply> {
  const { now } = service
  service.now += HOUR
  const token = await service.token(ann.workspaceId, ann.id, ['kanban:read'])
  for (let i = 0; i < 300; i++) await service.fetch(token, 'GET', '/unknown')
  return send('GET /v1/unknown', {}, undefined, token).finally(() => (service.now = now))
}

describe('the headers of an error', () => {
  const name = { name: 'New' }
  // What an operation answers: openapi/errors.test.ts.
  const cases: readonly (readonly [
    code: keyof typeof errors,
    what: string,
    request: () => Promise<WholeReply>,
    status: number,
    headers: HeaderSet,
  ])[] = [
    ['bad_request', 'invalid HTTP', () => exchangeWhole(listener.port, 'hello\r\n\r\n'), 400, REFUSED],
    ['unauthorized', 'no token', () => send('GET /v1/account', {}, undefined, null), 401, UNAUTHORIZED],
    ['unauthorized', 'no token, unknown path', () => send('GET /v1/x', {}, undefined, null), 401, UNAUTHORIZED],
    [
      'forbidden',
      'not the creator',
      () => send('PUT /v1/boards/{board}/visibility', {}, { visibility: 'private' }, bob.admin),
      403,
      JSON_BODY,
    ],
    ['not_found', 'an unknown path', () => send('GET /v1/unknown'), 404, JSON_BODY],
    ['not_found', 'a path outside of /v1', () => send('GET /unknown'), 404, UNLIMITED_JSON_BODY],
    ['method_not_allowed', 'a list', () => send('PUT /v1/boards'), 405, { ...JSON_BODY, allow: 'GET, HEAD, POST' }],
    ['request_timeout', 'a head that does not arrive', timeOut, 408, REFUSED],
    [
      'precondition_failed',
      'a stale ETag',
      () => send('PATCH /v1/boards/{board}', { 'if-match': '"0"' }, name),
      412,
      { ...JSON_BODY, etag: ETAG },
    ],
    [
      'payload_too_large',
      'an announced length',
      () => send('POST /v1/boards', {}, ' '.repeat(600_000)),
      413,
      { ...JSON_BODY, ...CLOSED, 'keep-alive': undefined },
    ],
    [
      'cursor_expired',
      'a change that is not there',
      () => send(`GET /v1/boards/{board}/changes?after=${encodeCursor('boards.changes', `${'9'.repeat(16)} x`)}`),
      410,
      JSON_BODY,
    ],
    [
      'unsupported_media_type',
      'a content coding',
      () => send('POST /v1/boards', { 'content-encoding': 'gzip' }, name),
      415,
      { ...JSON_BODY, 'accept-encoding': 'identity' },
    ],
    ['rate_limited', 'too many revocations', revokeTooOften, 429, { ...UNLIMITED_JSON_BODY, 'retry-after': '2' }],
    [
      'rate_limited',
      'too many requests of a token',
      sendTooOften,
      429,
      { ...JSON_BODY, ratelimit: expect.stringMatching(/^"token";r=0;t=60, "workspace";r=\d+;t=60$/), 'retry-after': '60' },
    ],
    [
      'headers_too_large',
      'an oversized head',
      () => exchangeWhole(listener.port, `GET /v1/account HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`),
      431,
      REFUSED,
    ],
    ['not_implemented', 'an unknown method', () => exchangeWhole(listener.port, 'BREW /v1/x HTTP/1.1\r\n\r\n'), 501, REFUSED],
    [
      'unavailable',
      'a storage that is not reachable',
      sendWhileStorageFails,
      503,
      { ...JSON_BODY, ...RATED_BY_ADDRESS, 'retry-after': '1' },
    ],
  ]

  test.each(cases)('the error %s for %s has exactly these headers', async (code, _what, request, status, expected) => {
    const reply = await request()
    expectReply(reply, status, expected)
    const { error } = JSON.parse(reply.body.toString()) as { error: Record<string, unknown> }
    expect([error['code'], error['request_id']]).toEqual([code, reply.headers['x-request-id']])
  })

  test('HEAD with a range behind the end has the headers of the whole file', async () => {
    const reply = await send('HEAD /v1/attachments/{attachment}/content', { range: 'bytes=12-' })
    expectReply(reply, 200, { ...DOWNLOAD, 'content-length': '12' }, true)
  })

  test('an error of HEAD has exactly the headers of the error of GET', async () => {
    expectReply(await send('HEAD /v1/account', {}, undefined, null), 401, UNAUTHORIZED, true)
    expectReply(await send('HEAD /v1/boards/{board}/visibility'), 405, { ...JSON_BODY, allow: 'PUT' }, true)
  })
})
