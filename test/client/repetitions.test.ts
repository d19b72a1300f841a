import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { createClient, type Client, type WriteOptions } from '../../src/client/client.ts'
import { setUpBoard } from '../support/board.ts'
import { FakeService, refused, success, type SentRequest, type Step } from '../support/fake-service.ts'
import { memory } from '../support/memory.ts'

const DONE = success({ id: 'att_1' }, { status: 201 })
const later = { 'retry-after': '1' }

/** Why a request is repeated. */
const reasons: readonly Step[] = [
  'cut',
  'silent',
  'cut in the body',
  refused(429, 'rate_limited', {}, later),
  refused(503, 'unavailable', { outcome: 'not_done' }, later),
  refused(503, 'contention', { outcome: 'not_done' }, later),
  refused(503, 'unavailable', { outcome: 'unknown' }, later),
  new Response('<html>', { status: 503 }),
  new Response('<html>', { status: 502 }),
  new Response('<html>', { status: 504 }),
  refused(408, 'request_timeout'),
  refused(409, 'idempotency_key_in_use', {}, later),
]

type Write = (client: Client, options?: WriteOptions) => Promise<unknown>
const file = () => new File(['first line\nsecond line'], 'notes.txt', { type: 'text/plain' })
const FILE = [
  '--boundary',
  'Content-Disposition: form-data; name="file"; filename="notes.txt"',
  'Content-Type: text/plain',
  '',
  'first line\nsecond line',
]
const formOf = (...lines: string[]) => [...lines, '--boundary--', ''].join('\r\n')

const JSON_TYPE = 'application/json'
/** Writes of each form, with what is sent. */
const writes: readonly (readonly [title: string, write: Write, method: string, content: string, contentType: string | null])[] = [
  ['an update', (lk, options) => lk.cards.update({ card_id: 'crd_1', title: 'Sow' }, options), 'PATCH', '{"title":"Sow"}', JSON_TYPE],
  [
    'a creation',
    (lk, options) => lk.cards.create({ board_id: 'brd_1', column_id: 'col_1', title: 'Sow' }, options),
    'POST',
    '{"column_id":"col_1","title":"Sow"}',
    JSON_TYPE,
  ],
  ['a deletion', (lk, options) => lk.labels.delete({ label_id: 'lbl_1' }, options), 'DELETE', '', null],
  ['a write without a body', (lk, options) => lk.cards.archive({ card_id: 'crd_1' }, options), 'POST', '', null],
  [
    'an upload',
    (lk, options) => lk.attachments.upload({ card_id: 'crd_1', file: file(), visibility: 'private' }, options),
    'POST',
    formOf(...FILE, '--boundary', 'Content-Disposition: form-data; name="visibility"', '', 'private'),
    'multipart/form-data; boundary=boundary',
  ],
]

const wire = ({ url, method, headers, content, contentType }: SentRequest) => ({
  request: `${method} ${url}`,
  headers: Object.fromEntries([...headers].filter(([name]) => name !== 'content-type')),
  content,
  contentType,
})

test.each(writes)(
  'each repetition of %s is the same request, although the caller changes its arguments',
  async (_title, write, method, content, contentType) => {
    const service = new FakeService(...reasons, DONE)
    let keys = 0
    const lk = service.client({ retries: { attempts: 100 }, newKey: () => `key-${++keys}` })
    const options = { ifMatch: '"7"', headers: { 'x-trace': 'trace' } as Record<string, string> }
    const done = write(lk, options)
    Object.assign(options, { ifMatch: '"8"', idempotencyKey: 'other' })
    options.headers['x-trace'] = 'other'
    await done
    const first = wire(service.sent[0]!)
    expect(first).toEqual({
      request: expect.stringMatching(new RegExp(`^${method} http://service\\.test/v1/`)),
      headers: { authorization: 'Bearer lk_pat_test', 'idempotency-key': '"key-1"', 'if-match': '"7"', 'x-trace': 'trace' },
      content,
      contentType,
    })
    expect(service.sent.map(wire)).toEqual(Array(reasons.length + 1).fill(first))
    expect(keys).toBe(1)
  },
)

test('a write is not repeated when the token was rotated while the client waited: a key belongs to one token', async () => {
  const service = new FakeService('cut', refused(401, 'unauthorized'), DONE)
  const error = await writes[0]![1](service.client({ newKey: () => 'key' })).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'unauthorized', idempotencyKey: 'key' })
  expect(service.sent.length).toBe(2)
})

test('over a connection, the file is sent whole again after one that was cut within it', async () => {
  const received: { key: string | undefined; bytes: Buffer }[] = []
  const server = createServer((request: IncomingMessage, response) => {
    // The first connection ends within the file, the second one gets a refusal without its file being read.
    const attempt = received.push({ key: String(request.headers['idempotency-key']), bytes: Buffer.alloc(0) })
    if (attempt === 1) return void request.once('data', () => request.socket.destroy())
    if (attempt === 2)
      return void response
        .writeHead(503, { 'content-type': 'application/json', connection: 'close' })
        .end('{"error":{"code":"unavailable","message":"x","outcome":"not_done"}}')
    void buffer(request).then((bytes) => {
      received[2]!.bytes = bytes
      return response.writeHead(201, { 'content-type': 'application/json' }).end('{"data":{"id":"att_1"}}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const bytes = Buffer.alloc(3_000_000, 'lanekeeper ')
    const client = createClient({ url: `http://127.0.0.1:${port}`, token: 'lk_pat_test', retries: { delay: 0 } })
    const { status } = await client.attachments.upload({ card_id: 'crd_1', file: new File([bytes], 'a.bin') })
    expect({ status, received: received.length, keys: new Set(received.map(({ key }) => key)).size }).toEqual({
      status: 201,
      received: 3,
      keys: 1,
    })
    expect(received[2]!.bytes.includes(bytes)).toBe(true)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

describe('with a service whose responses are lost', () => {
  const setup = setUpBoard(memory)

  test('an upload and another write are made once each', async () => {
    const { service, board, bob, cardId } = setup
    let attempts = 0
    const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const response = await service.app.fetch(new Request(url, init))
      if (++attempts % 3 !== 0) throw new TypeError('the response is lost')
      return response
    }
    const client = createClient({ url: 'http://localhost', token: bob.write, fetch, retries: { delay: 0 } })
    const uploaded = await client.attachments.upload({ card_id: cardId, file: file() })
    const created = await client.comments.create({ card_id: cardId, body: 'Sown' })
    expect({ uploaded: uploaded.replayed, created: created.replayed, attempts }).toEqual({ uploaded: true, created: true, attempts: 6 })
    expect((await board.all(`/cards/${cardId}/attachments`)).map(({ id }) => id)).toEqual([uploaded.data.id])
    expect((await board.all(`/cards/${cardId}/comments`)).map(({ id }) => id)).toEqual([created.data.id])
  })
})
