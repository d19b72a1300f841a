import { randomBytes } from 'node:crypto'
import { request as sendRequest, type ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { ServerRequest } from 'srvx'
import { afterAll, describe, expect, test } from 'vitest'
import { CompressibleResponse, Compression, preferredCoding } from '../../src/http/compression.ts'
import { startListener } from '../../src/listener/listener.ts'
import { readText, filesBelow } from '../lint/syntax.ts'
import { TestBoard } from '../support/board.ts'
import { Service } from '../support/service.ts'
import { readReply, type WholeReply } from '../support/whole-reply.ts'

const DECODE = { br: brotliDecompressSync, gzip: gunzipSync } as const
const CODINGS = ['br', 'gzip'] as const

// By RFC 9110 §12.5.3. Of two codings with the same weight, the service prefers br, then gzip, then none.
test.each<[coding: 'br' | 'gzip' | undefined, headers: string[]]>([
  ['br', ['gzip, deflate, br', 'br', 'br;q=0.801, gzip;q=0.8', '*', '*;q=0.1, gzip;q=0.05', 'gzip;q=0.1234, br;q=0.1']],
  ['gzip', ['gzip', 'GZip', 'x-gzip', '  gzip\t;\tq=1.000  ', 'gzip;Q=0.5', 'br;q=0.5, gzip;q=0.8', 'gzip;q=0.001']],
  ['gzip', ['br;q=0, *', '*;q=0, gzip', 'gzip, identity', 'gzip;q=0.5, identity;q=0.4', ',, ,gzip,']],
  [undefined, ['gzip;q=0.5, identity', '*;q=0.5, identity;q=0.6', 'identity', '', 'deflate, zstd', '__proto__, constructor']],
  [undefined, ['gzip;q=0', 'gzip;q=0.000', '*;q=0', 'identity;q=0']],
  [undefined, ['gzip;q=2', 'gzip;q=0.1234', 'gzip;q', 'gzip;level=1', 'gzip br']],
])('the coding is %s for a client that accepts %j', (expected, headers) => {
  expect(headers.map((header) => [header, preferredCoding(header)])).toEqual(headers.map((header) => [header, expected]))
})

test('each cookie of a response has a header of its own', () => {
  const list = ['content-type', 'text/plain', 'set-cookie', 'a=1', 'set-cookie', 'b=2']
  const { headers } = new CompressibleResponse('text', 200, list)
  expect([headers.getSetCookie(), headers.get('content-type')]).toEqual([['a=1', 'b=2'], 'text/plain'])
})

describe('over HTTP', async () => {
  const service = await Service.forSuite()
  const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  const ann = await service.person(await service.workspace(), 'member', 'Ann')
  const board = await TestBoard.create(service, ann)
  const card = await board.card(await board.column(), 'Long', { description: 'Änderung und Übersicht. '.repeat(100) })
  const attachment = (await board.attach(card, { name: 'a.txt', type: 'text/plain', text: 'x'.repeat(5000) })).body.data.id
  afterAll(() => listener.close())

  const send = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown): Promise<WholeReply> =>
    new Promise((resolve, reject) => {
      const target = path.replace('{board}', board.id).replace('{card}', card).replace('{attachment}', attachment)
      const all = {
        authorization: `Bearer ${ann.admin}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      }
      sendRequest(`${listener.url}${target}`, { method, headers: all }, (response) => readReply(response).then(resolve, reject))
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body))
    })
  const invalid = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`unknown_${i}`, 1]))

  const reads = [
    '/v1/boards/{board}/cards',
    '/v1/cards/{card}',
    '/openapi.json',
    '/llms.txt',
    '/docs',
    '/docs/assets/style.css',
    '/settings/assets/style.css',
  ]
  describe.each<[method: string, path: string, body?: unknown]>([
    ...reads.map((path) => ['GET', path] as [string, string]),
    ['POST', '/v1/boards', invalid],
  ])('the response to %s %s', (method, path, body) => {
    test.each(CODINGS)('is compressed with %s for a client that asks for it', async (coding) => {
      const plain = await send(method, path, { 'accept-encoding': 'zstd, identity;q=0' }, body)
      expect(plain.headers['content-encoding']).toBeUndefined()
      const { status, headers, body: compressed } = await send(method, path, { 'accept-encoding': coding }, body)
      expect({ status, isWhole: DECODE[coding](compressed).equals(Buffer.from(withRequestId(plain, headers))) }).toEqual({
        status: plain.status,
        isWhole: true,
      })
      expect(headers).toMatchObject({ 'content-encoding': coding, 'content-length': String(compressed.length) })
      expect(compressed.length).toBeLessThan(plain.body.length)
      expect([headers['vary'], headers['content-type'], headers['cache-control']]).toEqual(
        ['vary', 'content-type', 'cache-control'].map((name) => plain.headers[name]),
      )
      expect(plain.headers['vary']).toBe(path.startsWith('/v1') ? 'Authorization, Accept-Encoding' : 'Accept-Encoding')
      const { etag } = plain.headers as { etag?: string }
      expect(headers['etag']).toBe(etag?.startsWith('"') ? `${etag.slice(0, -1)}-${coding}"` : etag)
    })
  })

  test.each(reads)('the response to HEAD %s has the headers of GET, compressed or not', async (path) => {
    for (const accepted of [...CODINGS, 'identity']) {
      const [get, head] = await Promise.all(['GET', 'HEAD'].map((method) => send(method, path, { 'accept-encoding': accepted })))
      const shared = ({ status, headers: { date: _date, 'x-request-id': _id, ...headers } }: WholeReply) => ({ status, headers })
      expect({ headers: shared(head!), bytes: head!.body.length }).toEqual({ headers: shared(get!), bytes: 0 })
    }
  })

  /** The plain body with the id of another request. */
  function withRequestId(plain: WholeReply, headers: WholeReply['headers']): string {
    return plain.body.toString().replaceAll(String(plain.headers['x-request-id']), String(headers['x-request-id']))
  }

  test.each(['/v1/account', '/v1/attachments/{attachment}/content', '/settings', '/healthz'])(
    'the response to GET %s is never compressed',
    async (path) => {
      const { status, headers } = await send('GET', path, { 'accept-encoding': 'br, gzip' })
      expect({ isDone: status < 400, isEncoded: 'content-encoding' in headers }).toEqual({ isDone: true, isEncoded: false })
    },
  )

  test.each([
    ['/v1/cards/{card}', 'Authorization, Accept-Encoding', ['br', 'gzip', 'identity']],
    ['/openapi.json', 'Accept-Encoding', ['br']],
  ])(
    '%s is answered 304 with the ETag that the client has, whatever codings the copy has and the request accepts',
    async (path, vary, accepted) => {
      const plain = String((await send('GET', path)).headers['etag'])
      for (const coding of CODINGS)
        for (const one of accepted) {
          const coded = plain.replace(/"$/, `-${coding}"`)
          for (const etag of [coded, `W/${coded}`]) {
            const { status, body, headers } = await send('GET', path, { 'accept-encoding': one, 'if-none-match': `"x", ${etag}` })
            expect({ status, bytes: body.length, etag: headers['etag'], vary: headers['vary'] }).toEqual({
              status: 304,
              bytes: 0,
              etag,
              vary,
            })
          }
        }
      expect((await send('GET', path, { 'if-none-match': plain })).headers['etag']).toBe(plain)
    },
  )
})

describe('the compression of bodies', () => {
  const request = (accepted: string) => new Request('http://localhost/', { headers: { 'accept-encoding': accepted } }) as ServerRequest
  const apply = async (compression: Compression, content: string | Uint8Array, owner?: object) =>
    compression.apply(request('gzip'), new CompressibleResponse(content, 201, ['x-other', 'stays'], owner))

  test.each<[string, string | Uint8Array, boolean]>([
    ['1024 bytes', 'x'.repeat(1024), false],
    ['1025 bytes', 'x'.repeat(1025), true],
    ['1024 bytes in 512 characters', 'ä'.repeat(512), false],
    ['1026 bytes in 513 characters', 'ä'.repeat(513), true],
    ['1024 bytes of a buffer', Buffer.alloc(1024), false],
    ['1025 bytes of a buffer', Buffer.alloc(1025), true],
  ])('a body of %s is compressed: only if it is larger than 1 KiB', async (_what, content, isCompressed) => {
    const response = await apply(new Compression(), content)
    expect({
      status: response.status,
      xOther: response.headers.get('x-other'),
      isEncoded: response.headers.has('content-encoding'),
    }).toEqual({ status: 201, xOther: 'stays', isEncoded: isCompressed })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect((isCompressed ? gunzipSync(bytes) : bytes).equals(Buffer.from(content))).toBe(true)
  })

  test('leaves the event loop free', async () => {
    let turns = 0
    const count = async (): Promise<void> => {
      for (; turns < 1000; turns++) await nextTurn()
    }
    void count()
    await apply(new Compression(), randomBytes(200_000).toString('hex'))
    expect(turns).toBeGreaterThan(1)
    turns = 1000
  })

  /** Compressors that wait until the test ends each of them. */
  function controlled() {
    const running: { resolve: (bytes: Uint8Array) => void; reject: (error: Error) => void }[] = []
    const gzip = () => new Promise<Uint8Array>((resolve, reject) => void running.push({ resolve, reject }))
    return { running, compression: new Compression({ gzip, br: gzip }) }
  }
  const BODY = 'x'.repeat(2000)

  test('happens for two bodies at a time, and the others wait, also behind one that fails', async () => {
    const { running, compression } = controlled()
    const all = Array.from({ length: 5 }, () =>
      apply(compression, BODY).then(
        () => 'done',
        () => 'failed',
      ),
    )
    const numbers: number[] = []
    for (let i = 0; i < 5; i++) {
      await nextTurn()
      numbers.push(running.length)
      if (i === 1) running[i]!.reject(new Error('out of memory'))
      else running[i]!.resolve(Buffer.from('x'))
    }
    expect({ numbers, results: await Promise.all(all) }).toEqual({
      numbers: [2, 3, 4, 5, 5],
      results: ['done', 'failed', 'done', 'done', 'done'],
    })
    // The next one does not wait.
    void apply(compression, BODY)
    await nextTurn()
    expect(running.length).toBe(6)
  })

  test('happens once for a text that is kept, unless it fails', async () => {
    const { running, compression } = controlled()
    const owner = {}
    const failed = apply(compression, BODY, owner).catch((error: Error) => error.message)
    await nextTurn()
    running[0]!.reject(new Error('out of memory'))
    expect(await failed).toBe('out of memory')
    const both = Promise.all([apply(compression, BODY, owner), apply(compression, BODY, owner)])
    await nextTurn()
    running[1]!.resolve(Buffer.from('x'))
    await both
    await apply(compression, BODY, owner)
    expect(running.length).toBe(2)
  })

  test('is not needed for most bodies: they are sent with their list of headers, until someone has that as an object', () => {
    const sent: unknown[] = []
    const response = { writeHead: (...head: unknown[]) => (sent.push(head), response), end: (body: unknown) => sent.push(body) }
    const to = response as unknown as ServerResponse
    const whole = new CompressibleResponse('{}', 201, ['x-other', 'stays'])
    expect({ isSent: whole.sendTo(to), sent }).toEqual({ isSent: true, sent: [[201, 'Created', ['x-other', 'stays']], '{}'] })
    whole.headers.set('x-new', 'added')
    expect({ isSent: whole.sendTo(to), calls: sent.length, headers: [...whole.headers] }).toEqual({
      isSent: false,
      calls: 2,
      headers: [
        ['x-new', 'added'],
        ['x-other', 'stays'],
      ],
    })
  })

  test('is only for the JSON of /v1 and of /mcp, for public texts and for pages: nothing else makes such a response', () => {
    const makers = filesBelow('src').filter((path) => path.endsWith('.ts') && readText(path).includes('new CompressibleResponse('))
    expect(makers.toSorted()).toEqual([
      // The same response, compressed.
      'src/http/compression.ts',
      'src/http/envelope.ts',
      'src/http/public-text.ts',
      'src/mcp/endpoint.ts',
      // The form tokens of pages are masked in each answer.
      'src/web/app.ts',
    ])
  })
})
