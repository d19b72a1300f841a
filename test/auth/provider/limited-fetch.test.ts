import type { Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { fetchLimited } from '../../../src/auth/provider/limited-fetch.ts'
import { inTime } from '../../support/in-time.ts'
import { startReceiver, type Receiver } from '../../webhooks/receiver.ts'

const started: Receiver[] = []
afterEach(() => {
  for (const one of started.splice(0)) one.close()
})

async function provider(answer: string | ((socket: Socket) => void)): Promise<Receiver> {
  const one = await startReceiver(typeof answer === 'string' ? (socket) => void socket.write(answer) : answer)
  started.push(one)
  return one
}

function ask({ port }: Receiver, options: Partial<Parameters<typeof fetchLimited>[1]> = {}): Promise<Response> {
  const given = { method: 'POST', headers: { accept: 'application/json' }, body: 'a=b', redirect: 'manual', ...options } as const
  return inTime(fetchLimited(`http://127.0.0.1:${port}/token?x=1`, given), () => 'there is no answer')
}

/** Sends something again and again, until the connection is closed. */
const flood =
  (first: string, more: string) =>
  (socket: Socket): void => {
    const block = more.repeat(Math.ceil(4096 / more.length))
    const next = (): void => void (!socket.destroyed && socket.write(block, next))
    socket.write(first, next)
  }

test('a request is sent as it is given, and its answer comes as a whole', async () => {
  const one = await provider('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX: 1\r\nX: 2\r\nContent-Length: 2\r\n\r\n{}')
  for (const body of ['a=b', new URLSearchParams({ a: 'b' }), Buffer.from('a=b')]) {
    const response = await ask(one, { body })
    expect({ status: response.status, x: response.headers.get('x'), body: await response.json() }).toEqual({
      status: 200,
      x: '1, 2',
      body: {},
    })
  }
  const [, , last] = one.requests
  expect(last!.split('\r\n')[0]).toBe('POST /token?x=1 HTTP/1.1')
  for (const line of ['accept: application/json', 'accept-encoding: identity', 'Content-Length: 3']) expect(last).toContain(line)
  expect(last!.endsWith('\r\n\r\na=b')).toBe(true)
  expect(new Set(one.requests).size).toBe(1)
  expect(one.sockets).toHaveLength(3)
})

test('a redirect is not followed', async () => {
  const other = await provider('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  const one = await provider(`HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${other.port}/\r\nContent-Length: 0\r\n\r\n`)
  expect((await ask(one)).status).toBe(302)
  expect(other.sockets).toEqual([])
})

test('the reason of a signal is the error', async () => {
  const one = await provider(() => {})
  const controller = new AbortController()
  const asked = ask(one, { signal: controller.signal })
  await one.arrived(1)
  controller.abort(new DOMException('It took too long.', 'TimeoutError'))
  await expect(asked).rejects.toMatchObject({ name: 'TimeoutError' })
  await one.closed()
  await expect(ask(one, { signal: controller.signal })).rejects.toMatchObject({ name: 'TimeoutError' })
})

describe('the service reads a bounded amount from the provider, whatever the time:', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\n'
  const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`
  test.each<[what: string, answer: (socket: Socket) => void, error: RegExp]>([
    ['100 without end', flood('', 'HTTP/1.1 100 Continue\r\n\r\n'), /too long/],
    ['103 without end', flood('', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'), /too long/],
    ['17 answers with 1xx', (socket) => void socket.write('HTTP/1.1 103 X\r\n\r\n'.repeat(17)), /too long/],
    ['empty lines without end', flood('', '\r\n'), /too long/],
    ['headers without end', flood(HEAD, 'X: xxxxxxxx\r\n'), /Header overflow/],
    ['a body without end', flood(`${HEAD}\r\n`, 'x'.repeat(64 * 1024)), /too long/],
    ['chunks of one byte without end', flood(CHUNKED, '1\r\nx\r\n'), /too long/],
    ['an extension of a chunk without end', flood(`${CHUNKED}1;`, 'x'), /Parse Error|too long/],
    ['trailers without end', flood(`${CHUNKED}0\r\n`, 'a: b\r\n'), /Header overflow|too long/],
    ['the status 000', (socket) => void socket.write('HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n'), /no valid status/],
    ['the status 600', (socket) => void socket.write('HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n'), /no valid status/],
    [
      'another protocol',
      (socket) => void socket.write('HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      /closed|hang up|reset/,
    ],
    ['what was compressed', (socket) => void socket.write(`${HEAD}Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx`), /compressed/],
    ['less than it says', (socket) => void socket.end(`${HEAD}Content-Length: 9\r\n\r\nx`), /aborted/],
    ['nothing', (socket) => void socket.end(), /hang up|closed/],
  ])('%s', async (_what, answer, error) => {
    const one = await provider(answer)
    await expect(ask(one)).rejects.toThrow(error)
    await one.closed()
  })
})
