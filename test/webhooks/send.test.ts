import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { DAY } from '../../src/model/time.ts'
import { send, type Delivery, type SendOptions } from '../../src/webhooks/send.ts'
import { Targets } from '../../src/webhooks/targets.ts'
import { inTime } from '../support/in-time.ts'
import { atRest, VirtualClock } from '../support/virtual-clock.ts'
import { EXPIRED, KEY, SELF_SIGNED, TEST_AUTHORITY, VALID } from './certificates.ts'
import { startReceiver, type Receiver, type ReceiverOptions } from './receiver.ts'

const NOW = Date.parse('2026-01-02T03:04:05Z')
const BODY = '{"name":"Grüße"}'
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

const started: Receiver[] = []
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  for (const one of started.splice(0)) one.close()
})

async function receiver(answer: string | ((socket: Socket, request: string) => void), options?: ReceiverOptions): Promise<Receiver> {
  const one = await startReceiver(typeof answer === 'string' ? (socket) => void socket.write(answer) : answer, options)
  started.push(one)
  return one
}

/** Sends to a receiver. Time does not pass unless a test says so. */
function deliver(port: number, delivery: Partial<Delivery> = {}, options: SendOptions = {}) {
  const given = { url: `http://127.0.0.1:${port}/hook`, address: '127.0.0.1', body: BODY, headers: { 'webhook-id': 'dlv_1' }, ...delivery }
  const sent = send(given, { clock: () => NOW, timers: new VirtualClock(), ...options })
  return inTime(sent, () => 'the attempt has not ended')
}

/** Whether a promise has been resolved, when the process has come to rest. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  let resolved = false
  void promise.then(() => (resolved = true))
  await atRest(() => false)
  return resolved
}

describe('the request', () => {
  test('is a POST of the body to the path and query, with the headers and the name of the host', async () => {
    const target = await receiver(OK)
    const url = `http://Hooks.Example.COM.:${target.port}/ä?q=1#part`
    const headers = { 'webhook-id': 'dlv_1', host: 'other', 'content-length': '1', 'user-agent': 'Lanekeeper' }
    expect(await deliver(target.port, { url, headers })).toEqual({ status: 200 })
    const [head, body] = target.requests[0]!.split('\r\n\r\n')
    const lines = head!.split('\r\n')
    expect(lines[0]).toBe('POST /%C3%A4?q=1 HTTP/1.1')
    expect(lines.slice(1).toSorted()).toEqual([
      'Connection: close',
      `content-length: ${Buffer.byteLength(BODY)}`,
      'content-type: application/json',
      `host: hooks.example.com.:${target.port}`,
      'user-agent: Lanekeeper',
      'webhook-id: dlv_1',
    ])
    expect(Buffer.from(body!, 'latin1').toString()).toBe(BODY)
  })

  test('has a connection of its own, which is closed', async () => {
    const target = await receiver(OK)
    await deliver(target.port)
    await deliver(target.port)
    await target.closed()
    expect(target.sockets).toHaveLength(2)
  })

  test('uses no proxy of the environment', async () => {
    const [target, proxy] = [await receiver(OK), await receiver('HTTP/1.1 502 Bad Gateway\r\n\r\n')]
    const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'NODE_USE_ENV_PROXY']
    for (const name of names) vi.stubEnv(name, name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${proxy.port}`)
    expect(await deliver(target.port)).toEqual({ status: 200 })
    expect(proxy.requests).toEqual([])
  })

  test.each(['127.0.0.1', '::1'])('reaches the address %s', async (address) => {
    const target = await receiver(OK, { address })
    const host = address.includes(':') ? `[${address}]` : address
    expect(await deliver(target.port, { address, url: `http://${host}:${target.port}/` })).toEqual({ status: 200 })
  })
})

describe('a name that answers differently the second time', () => {
  /** Answers 127.0.0.1 once, and then always 127.0.0.2, where another receiver has the same port. */
  async function rebinding() {
    const checked = await receiver(OK, { address: '127.0.0.1' })
    const hits: string[] = []
    const other = createServer((socket) => (hits.push('connected'), socket.destroy())).listen(checked.port, '127.0.0.2')
    await once(other, 'listening')
    let lookups = 0
    const lookup = async () => [{ address: lookups++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 }]
    return { checked, hits, lookup, lookups: () => lookups, close: () => other.close() }
  }

  test('changes nothing: the connection goes to the address that was checked', async () => {
    const { checked, hits, lookup, lookups, close } = await rebinding()
    const targets = Targets.from('http://ci.internal:*', { lookup })
    const url = `http://ci.internal:${checked.port}/hook`
    const target = await targets.resolve(url)
    expect(target).toEqual({ address: '127.0.0.1', family: 4 })
    if ('error' in target) throw new Error('unreachable')
    expect(await deliver(checked.port, { url, ...target })).toEqual({ status: 200 })
    expect(checked.requests[0]).toContain(`host: ci.internal:${checked.port}\r\n`)
    expect({ hits, lookups: lookups() }).toEqual({ hits: [], lookups: 1 })
    // The next delivery is checked anew, and goes where the name leads then.
    const next = await targets.resolve(url)
    expect(next).toEqual({ address: '127.0.0.2', family: 4 })
    expect(await deliver(checked.port, { url, address: '127.0.0.2' })).toEqual({ error: 'connection reset' })
    expect(hits).toHaveLength(1)
    close()
  })

  test('is refused at the next delivery, if that address is not allowed', async () => {
    let address = '1.1.1.1'
    const targets = Targets.from(undefined, { lookup: async () => [{ address, family: 4 }] })
    expect(await targets.resolve('https://ci.example.com/')).toEqual({ address, family: 4 })
    address = '127.0.0.1'
    expect(await targets.resolve('https://ci.example.com/')).toEqual({ error: 'address not allowed' })
  })
})

describe('the answer', () => {
  test.each([200, 201, 202, 204, 299, 300, 304, 400, 401, 404, 410, 429, 500, 503, 599, 999])('with status %i is told', async (status) => {
    const target = await receiver(`HTTP/1.1 ${status} Any\r\nContent-Length: 0\r\n\r\n`)
    expect(await deliver(target.port)).toEqual({ status })
  })

  test.each([301, 302, 303, 307, 308])('with status %i is told, and nothing is sent to where it leads', async (status) => {
    const other = await receiver(OK)
    const answer = (location: string) => `HTTP/1.1 ${status} Moved\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`
    for (const location of [`http://127.0.0.1:${other.port}/`, '/other', '//localhost/', 'file:///etc/passwd']) {
      const target = await receiver(answer(location))
      expect(await deliver(target.port)).toEqual({ status })
      await target.closed()
      expect(target.requests).toHaveLength(1)
    }
    expect(other.sockets).toEqual([])
  })

  test('after others with 1xx is the one that counts', async () => {
    const target = await receiver(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}`)
    expect(await deliver(target.port)).toEqual({ status: 200 })
  })

  test('that changes the protocol is a status, and the connection is closed', async () => {
    const target = await receiver('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n')
    expect(await deliver(target.port)).toEqual({ status: 101 })
    await target.closed()
  })

  test.each<[string, number | undefined]>([
    ['0', 0],
    ['120', 120],
    ['86400', 86_400],
    ['86401', 86_400],
    ['99999999999999999999999999', 86_400],
    ['Fri, 02 Jan 2026 03:05:05 GMT', 60],
    ['Friday, 02-Jan-26 03:05:05 GMT', 60],
    ['Fri Jan  2 03:05:05 2026', 60],
    ['Fri, 02 Jan 2026 03:04:00 GMT', 0],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Fri, 02 Jan 2099 03:05:05 GMT', DAY / 1000],
    ['-1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['soon', undefined],
    ['2026-01-02T03:05:05Z', undefined],
    ['Any, 99 Any 2026 03:05:05 GMT', undefined],
    ['', undefined],
  ])('with Retry-After: %s', async (text, retryAfter) => {
    for (const status of [429, 503]) {
      const target = await receiver(`HTTP/1.1 ${status} Later\r\nRetry-After: ${text}\r\nContent-Length: 0\r\n\r\n`)
      expect(await deliver(target.port)).toEqual({ status, ...(retryAfter !== undefined && { retryAfter }) })
    }
  })

  test('that comes before the body was read is the result', async () => {
    // Nothing is read: the body does not fit into the buffers of both sides.
    const target = await receiver(() => {}, {
      onConnection: (socket) => (socket.pause(), socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n')),
    })
    expect(await deliver(target.port, { body: 'x'.repeat(20_000_000) })).toEqual({ status: 413 })
  })
})

describe('the body of an answer', () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`

  test('is read up to 1,024 bytes, and not beyond', async () => {
    const less = await receiver(head + chunk(1023))
    const clock = new VirtualClock()
    const waiting = deliver(less.port, {}, { timers: clock })
    await less.arrived(1)
    expect(await isResolved(waiting)).toBe(false)
    less.sockets[0]!.write(chunk(1))
    expect(await waiting).toEqual({ status: 200 })
    await less.closed()
  })

  test('may come byte by byte', async () => {
    const target = await receiver(async (socket) => {
      for (const byte of Buffer.from(OK)) {
        await new Promise((resolve) => socket.write(Buffer.of(byte), resolve))
        await new Promise(setImmediate)
      }
    })
    expect(await deliver(target.port)).toEqual({ status: 200 })
  })

  test('may have no end: the receiver is left, and can send no more than what the buffers hold', async () => {
    let written = 0
    const endless = (socket: Socket): void => {
      const block = chunk(64 * 1024)
      const more = (): void => {
        if (socket.destroyed) return
        written += block.length
        socket.write(block, more)
      }
      socket.write(head, more)
    }
    const target = await receiver(endless)
    expect(await deliver(target.port)).toEqual({ status: 200 })
    await target.closed()
    expect(written).toBeLessThan(64 * 1024 * 1024)
  })

  test.each([
    ['shorter than it says', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort'],
    ['longer than it says', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nlonger'],
    ['a chunk that is cut off', `${head}ff\r\nshort`],
    ['chunks that are not valid', `${head}zz\r\nshort\r\n`],
  ])('may be %s: the status stands', async (_what, answer) => {
    const target = await receiver((socket) => socket.end(answer))
    expect(await deliver(target.port)).toEqual({ status: 200 })
    await target.closed()
  })

  test('may be reset: the status stands', async () => {
    const target = await receiver((socket) =>
      socket.write('HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\nx', () => socket.resetAndDestroy()),
    )
    const result = await deliver(target.port)
    // A reset may overtake what was sent before it.
    expect([{ status: 500 }, { error: 'connection reset' }]).toContainEqual(result)
  })
})

describe('a receiver that hangs is left after ten seconds', () => {
  const settled = (target: Receiver) => async () => {
    await target.arrived(1)
    await atRest(() => false)
  }

  test.each([
    ['before its answer', '', { error: 'timed out' }],
    ['in the first line of its answer', 'HTTP/1.1 20', { error: 'timed out' }],
    ['in its headers', 'HTTP/1.1 200 OK\r\nContent-', { error: 'timed out' }],
    ['after others with 1xx', 'HTTP/1.1 100 Continue\r\n\r\n', { error: 'timed out' }],
    // Any 2xx within ten seconds is success (src/http/webhooks.md, "Failures").
    ['after its headers', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', { status: 200 }],
    ['in its body', 'HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\nab', { status: 503 }],
  ])('%s', async (_where, answer, result) => {
    const target = await receiver((socket) => void (answer !== '' && socket.write(answer)))
    const clock = new VirtualClock()
    const waiting = deliver(target.port, {}, { timers: clock })
    await clock.pass(9999, settled(target))
    expect(await isResolved(waiting)).toBe(false)
    await clock.pass(1, settled(target))
    expect(await waiting).toEqual(result)
    await target.closed()
  })

  test('however often it sends something', async () => {
    const target = await receiver((socket) => void socket.write('HTTP/1.1 200 OK\r\n'))
    const clock = new VirtualClock()
    const waiting = deliver(target.port, {}, { timers: clock })
    for (let second = 0; second < 10; second++) {
      await settled(target)()
      target.sockets[0]!.write(`X-${second}: still here\r\n`)
      await clock.pass(1000, settled(target))
    }
    expect(await waiting).toEqual({ error: 'timed out' })
  })

  test('in its handshake', async () => {
    const target = await receiver(() => {})
    const clock = new VirtualClock()
    const waiting = deliver(target.port, { url: `https://hooks.example.com:${target.port}/` }, { timers: clock })
    await clock.pass(10_000, async () => void (await expect.poll(() => target.sockets.length).toBe(1)))
    expect(await waiting).toEqual({ error: 'timed out' })
    await target.closed()
  })

  test('or at once when the signal is aborted, before or during the attempt', async () => {
    const target = await receiver(() => {})
    const controller = new AbortController()
    const waiting = deliver(target.port, { signal: controller.signal })
    await target.arrived(1)
    controller.abort()
    expect(await waiting).toEqual({ error: 'stopped' })
    await target.closed()
    expect(await deliver(target.port, { signal: controller.signal })).toEqual({ error: 'stopped' })
    expect(target.requests).toHaveLength(1)
  })

  test('and one that answers leaves no timer and no listener behind', async () => {
    const target = await receiver(OK)
    const timers = new Set<unknown>()
    const counting = {
      setTimeout: () => (timers.add(timers.size), timers.size - 1),
      clearTimeout: (timer: unknown) => void timers.delete(timer),
    }
    const { signal } = new AbortController()
    const listeners = new Set<unknown>()
    signal.addEventListener = (_type: string, listener: unknown) => void listeners.add(listener)
    signal.removeEventListener = (_type: string, listener: unknown) => void listeners.delete(listener)
    expect(await deliver(target.port, { signal }, { timers: counting })).toEqual({ status: 200 })
    expect({ timers: timers.size, listeners: listeners.size }).toEqual({ timers: 0, listeners: 0 })
  })
})

describe('an invalid answer', () => {
  const SECRET = 'hunter2'

  test.each<[what: string, answer: (socket: Socket) => void, error: string]>([
    ['the connection is closed', (socket) => socket.end(), 'connection reset'],
    ['the connection is reset', (socket) => socket.resetAndDestroy(), 'connection reset'],
    ['the connection is closed in the headers', (socket) => socket.end(`HTTP/1.1 200 OK\r\nX: ${SECRET}`), 'connection reset'],
    ['another protocol', (socket) => socket.end(`220 mail.example.com ESMTP ${SECRET}\r\n`), 'answer is not valid HTTP'],
    ['another version', (socket) => socket.end('HTTP/9.9 200 OK\r\n\r\n'), 'answer is not valid HTTP'],
    ['bytes', (socket) => socket.end(Buffer.alloc(500, 0xff)), 'answer is not valid HTTP'],
    ['the status 000', (socket) => socket.end('HTTP/1.1 000 Nothing\r\n\r\n'), 'answer is not valid HTTP'],
    ['the status 099', (socket) => socket.end('HTTP/1.1 099 Little\r\nContent-Length: 0\r\n\r\n'), 'answer is not valid HTTP'],
    ['a status of two digits', (socket) => socket.end('HTTP/1.1 20 OK\r\n\r\n'), 'answer is not valid HTTP'],
    ['a status of letters', (socket) => socket.end(`HTTP/1.1 ${SECRET}\r\n\r\n`), 'answer is not valid HTTP'],
    ['a header with a zero byte', (socket) => socket.end('HTTP/1.1 200 OK\r\nX: \0\r\n\r\n'), 'answer is not valid HTTP'],
    [
      'two lengths',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
      'answer is not valid HTTP',
    ],
    ['a large header', (socket) => socket.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`), 'answer is not valid HTTP'],
    ['many headers', (socket) => socket.end(`HTTP/1.1 200 OK\r\n${'X: xxxxxxxx\r\n'.repeat(5000)}\r\n`), 'answer is not valid HTTP'],
    ['headers without end', (socket) => endless(socket, 'HTTP/1.1 200 OK\r\n', 'X: xxxxxxxx\r\n'.repeat(1000)), 'answer is not valid HTTP'],
  ])('is reported in fixed words: %s', async (_what, answer, error) => {
    const target = await receiver(answer)
    expect(await deliver(target.port)).toEqual({ error })
    await target.closed()
  })

  test('is reported in fixed words: nobody listens', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    expect(await deliver(port)).toEqual({ error: 'connection refused' })
  })

  function endless(socket: Socket, head: string, more: string): void {
    const next = (): void => void (!socket.destroyed && socket.write(more, next))
    socket.write(head, next)
  }
})

describe('the service reads a bounded amount from a receiver, whatever the time:', () => {
  /** Writes as fast as it is taken, and counts. */
  function flood(first: string, more: string) {
    const sent = { bytes: 0 }
    const block = more.repeat(Math.ceil(4096 / more.length))
    const onConnection = (socket: Socket): void => {
      const next = (): void => {
        if (socket.destroyed) return
        sent.bytes += block.length
        socket.write(block, next)
      }
      socket.write(first, next)
    }
    return { sent, onConnection }
  }
  const OK_IN_CHUNKS = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

  test.each<[what: string, first: string, more: string, result: object]>([
    ['100 without end', '', 'HTTP/1.1 100 Continue\r\n\r\n', { error: 'answer too long' }],
    ['100 without end, with headers', '', 'HTTP/1.1 100 Continue\r\nA: b\r\n\r\n', { error: 'answer too long' }],
    ['103 without end', '', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n', { error: 'answer too long' }],
    ['199 without end', '', 'HTTP/1.1 199 X\r\n\r\n', { error: 'answer too long' }],
    ['empty lines before the answer', '', '\r\n', { error: 'answer too long' }],
    ['a first line without end', 'HTTP/1.1 200 ', 'x', { error: 'answer is not valid HTTP' }],
    ['a name of a header without end', 'HTTP/1.1 200 OK\r\n', 'x', { error: 'answer is not valid HTTP' }],
    ['short headers without end', 'HTTP/1.1 200 OK\r\n', 'a:\r\n', { error: 'answer too long' }],
    ['an extension of a chunk without end', `${OK_IN_CHUNKS}1;`, 'x', { status: 200 }],
    ['chunks of one byte with extensions', OK_IN_CHUNKS, `1;${'x'.repeat(500)}\r\nx\r\n`, { status: 200 }],
    ['zeros before the length of a chunk', OK_IN_CHUNKS, '0', { status: 200 }],
    ['trailers without end', `${OK_IN_CHUNKS}0\r\n`, 'a:\r\n', { status: 200 }],
  ])('%s', async (_what, first, more, result) => {
    const { sent, onConnection } = flood(first, more)
    const target = await receiver(() => {}, { onConnection })
    expect(await deliver(target.port)).toEqual(result)
    await target.closed()
    // What the buffers of both sides hold.
    expect(sent.bytes).toBeLessThan(16 * 1024 * 1024)
  })

  test('empty lines that come byte by byte, without end', async () => {
    const target = await receiver(() => {}, {
      onConnection: async (socket) => {
        socket.setNoDelay()
        while (!socket.destroyed) {
          socket.write('\n')
          await new Promise(setImmediate)
        }
      },
    })
    expect(await deliver(target.port)).toEqual({ error: 'answer too long' })
    await target.closed()
  })

  test.each([0, 1, 16])('%i answers with 1xx before the answer are ignored', async (count) => {
    const target = await receiver(`${'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(count)}${OK}`)
    expect(await deliver(target.port)).toEqual({ status: 200 })
  })

  test('17 answers with 1xx before the answer', async () => {
    const target = await receiver(`${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(17)}${OK}`)
    expect(await deliver(target.port)).toEqual({ error: 'answer too long' })
  })

  test('2,000 headers; only the first ones are kept', async () => {
    const target = await receiver(`HTTP/1.1 503 Busy\r\nRetry-After: 60\r\n${'a:\r\n'.repeat(2000)}Content-Length: 0\r\n\r\n`)
    expect(await deliver(target.port)).toEqual({ status: 503, retryAfter: 60 })
  })
})

describe('https', () => {
  const named = (port: number, name = 'hooks.example.com') => ({ url: `https://${name}:${port}/hook` })
  const trusting = { ca: TEST_AUTHORITY }
  const secure = (cert: string) => receiver(OK, { tls: { cert, key: KEY } })

  test('asks for the name, and accepts its certificate', async () => {
    const target = await secure(VALID)
    expect(await deliver(target.port, named(target.port), trusting)).toEqual({ status: 200 })
    expect((target.sockets[0] as TLSSocket).servername).toBe('hooks.example.com')
    expect(target.requests[0]).toContain(`host: hooks.example.com:${target.port}\r\n`)
    expect(await deliver(target.port, named(target.port, 'hooks.example.com.'), trusting)).toEqual({ status: 200 })
    expect((target.sockets[1] as TLSSocket).servername).toBe('hooks.example.com')
  })

  test('accepts the certificate of an address', async () => {
    const target = await secure(VALID)
    expect(await deliver(target.port, named(target.port, '127.0.0.1'), trusting)).toEqual({ status: 200 })
    expect((target.sockets[0] as TLSSocket).servername).toBe(false)
  })

  test.each<[what: string, cert: string, name: string, options: SendOptions, code: string]>([
    ['of an unknown authority', VALID, 'hooks.example.com', {}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['that signed itself', SELF_SIGNED, 'hooks.example.com', trusting, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['that has expired', EXPIRED, 'hooks.example.com', trusting, 'CERT_HAS_EXPIRED'],
    ['of another name', VALID, 'other.example.com', trusting, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('refuses a certificate %s, and sends nothing', async (_what, cert, name, options, code) => {
    const target = await secure(cert)
    // It warns of the variable.
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    for (const setting of ['1', '0']) {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', setting)
      expect(await deliver(target.port, named(target.port, name), options)).toEqual({ error: `certificate not valid: ${code}` })
    }
    await target.closed()
    expect(target.requests).toEqual([])
  })

  test('does not begin another handshake in the same connection', async () => {
    const tls = { cert: VALID, key: KEY, maxVersion: 'TLSv1.2' } as const
    const target = await receiver((socket) => void (socket as TLSSocket).renegotiate({}, () => {}), { tls })
    expect(await deliver(target.port, named(target.port), trusting)).toEqual({ error: 'TLS handshake failed' })
    await target.closed()
  })

  test('refuses a receiver without TLS, and sends nothing that can be read', async () => {
    const target = await receiver(OK, { onConnection: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') })
    expect(await deliver(target.port, named(target.port), trusting)).toEqual({ error: 'TLS handshake failed' })
    await target.closed()
    expect(target.requests).toEqual([])
  })
})
