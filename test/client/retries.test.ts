import { describe, expect, test } from 'vitest'
import { ApiError, NoResponse, type Client, type WriteOptions } from '../../src/client/client.ts'
import { FakeService, refused, success, type Step } from '../support/fake-service.ts'

const DONE = success({ id: 'crd_1' })
const after = (time: string) => ({ 'retry-after': time })
const limited = (time: string) => refused(429, 'rate_limited', {}, after(time))
const proxied = (status: number) => new Response('<html>', { status })
const notDone = (seconds = 1) => refused(503, 'unavailable', { outcome: 'not_done' }, after(String(seconds)))
const unknown = (headers = {}) => refused(503, 'unavailable', { outcome: 'unknown' }, headers)

type Call = (client: Client) => Promise<{ data: unknown }>
const read: Call = (client) => client.cards.read({ card_id: 'crd_1' })
const writeWith =
  (options?: WriteOptions): Call =>
  (client) =>
    client.cards.update({ card_id: 'crd_1', title: 'Sow' }, options)
const write = writeWith()
const writeWithoutKey = writeWith({ idempotencyKey: false })

// Written by hand: what the service does, the calls, and the waits in milliseconds without jitter. No wait: there is one attempt.
// `give up` is an error, everything else must succeed at the end.
const table: readonly (readonly [title: string, steps: readonly Step[], calls: readonly Call[], waits: readonly number[] | 'give up'])[] = [
  ['a success', [DONE], [read, write, writeWithoutKey], []],
  ['no connection', ['cut', 'cut', DONE], [read, write], [250, 500]],
  ['no connection', ['cut', DONE], [writeWithoutKey], 'give up'],
  ['no response in time', ['silent', DONE], [read, write], [250]],
  ['no response in time', ['silent', DONE], [writeWithoutKey], 'give up'],
  ['a connection that is cut in the body', ['cut in the body', DONE], [read, write], [250]],
  ['a connection that is cut in the body', ['cut in the body', DONE], [writeWithoutKey], 'give up'],
  ['a 503 that says that nothing was changed', [notDone(3), DONE], [read, write, writeWithoutKey], [3250]],
  ['a 503 with an unknown outcome', [unknown(), DONE], [read, write], [250]],
  ['a 503 with an unknown outcome and Retry-After', [unknown(after('2')), DONE], [write], [2250]],
  ['a 503 with an unknown outcome', [unknown(), DONE], [writeWithoutKey], 'give up'],
  ['contention', [refused(503, 'contention', { outcome: 'not_done' }, after('1')), DONE], [read, write, writeWithoutKey], [1250]],
  ['a rate limit', [limited('59'), DONE], [read, write, writeWithoutKey], [59_250]],
  ['a rate limit with a date', [limited('Fri, 20 Nov 2026 12:00:05 GMT'), DONE], [read], [5250]],
  ['a rate limit for longer than a minute', [limited('61'), DONE], [read, write], 'give up'],
  ['a key that is in use', [refused(409, 'idempotency_key_in_use', {}, after('1')), DONE], [write], [1250]],
  ['a bad gateway of a proxy', [proxied(502), DONE], [read, write], [250]],
  ['a bad gateway of a proxy', [proxied(502), DONE], [writeWithoutKey], 'give up'],
  ['a 503 of a proxy', [proxied(503), DONE], [writeWithoutKey], 'give up'],
  ['a request that did not arrive in time', [refused(408, 'request_timeout'), DONE], [read, write], [250]],
  ...[400, 401, 403, 404, 409, 410, 412, 413, 415, 422, 500, 501].map(
    (status) => [`the status ${status}`, [refused(status, 'conflict'), DONE], [read, write, writeWithoutKey], 'give up'] as const,
  ),
]

describe('the repetition of requests', () => {
  test.each(table.flatMap(([title, steps, calls, waits]) => calls.map((call) => [title, nameOf(call), steps, call, waits] as const)))(
    'after %s, %s is repeated as the table says',
    async (_title, _name, steps, call, waits) => {
      const service = new FakeService(...steps)
      const result = await call(service.client()).catch((error: unknown) => error)
      if (waits === 'give up') {
        expect(service.sent.length).toBe(1)
        expect(result instanceof ApiError || result instanceof NoResponse).toBe(true)
      } else {
        expect(service.waits).toEqual(waits)
        expect(service.sent.length).toBe(waits.length + 1)
        expect(result).toMatchObject({ data: { id: 'crd_1' } })
      }
    },
  )
})

function nameOf(call: Call): string {
  return call === read ? 'a read' : call === write ? 'a write' : 'a write without a key'
}

test('attempts are bounded, and the wait doubles up to a limit', async () => {
  const service = new FakeService('cut')
  await expect(read(service.client({ retries: { attempts: 8, maxDelay: 2000 } }))).rejects.toThrow(
    'there was no response in 8 attempts: fetch failed: connect ECONNREFUSED',
  )
  expect(service.waits).toEqual([250, 500, 1000, 2000, 2000, 2000, 2000])
})

test('the wait has jitter, and is never shorter than Retry-After', async () => {
  const service = new FakeService('cut', notDone(2), DONE)
  const numbers = [0.5, 0.25]
  await read(service.client({ random: () => numbers.shift()! }))
  expect(service.waits).toEqual([125, 2125])
})

test('all attempts of a write have the same key, and two writes have different ones', async () => {
  const service = new FakeService('cut', unknown(), DONE)
  const client = service.client()
  await write(client)
  await write(client)
  const [first, second, third, other] = service.sent.map(({ headers }) => headers.get('idempotency-key'))
  expect(first).toMatch(/^"[0-9a-f]{32}"$/)
  expect({ second, third }).toEqual({ second: first, third: first })
  expect(other).toMatch(/^"[0-9a-f]{32}"$/)
  expect(other).not.toBe(first)
})

test('a read, a write without a key and a dry run have no Idempotency-Key', async () => {
  const service = new FakeService(DONE)
  for (const call of [read, writeWithoutKey, writeWith({ dryRun: true })]) await call(service.client())
  expect(service.sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual([null, null, null])
})

test('an error states the key to repeat the write with later', async () => {
  for (const step of ['cut', unknown()] as const) {
    const service = new FakeService(step)
    const error = await writeWith({ idempotencyKey: 'order-7' })(service.client()).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ idempotencyKey: 'order-7' })
    expect(service.sent[0]!.headers.get('idempotency-key')).toBe('"order-7"')
  }
})

test('a signal ends a call before, during and between attempts', async () => {
  const reason = new Error('enough')
  const aborted = new FakeService(DONE)
  await expect(aborted.client().cards.read({ card_id: 'crd_1' }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  expect(aborted.sent).toEqual([])

  const silent = new FakeService('silent')
  const during = new AbortController()
  const timers = { setTimeout: () => undefined, clearTimeout: () => undefined }
  const call = silent.client({ timers }).cards.read({ card_id: 'crd_1' }, { signal: during.signal })
  during.abort(reason)
  await expect(call).rejects.toBe(reason)
  expect(silent.sent.length).toBe(1)

  const failing = new FakeService('cut')
  const between = new AbortController()
  const waiting = failing.client({
    timers: {
      setTimeout: (_callback, milliseconds) => milliseconds < 1000 && queueMicrotask(() => between.abort(reason)),
      clearTimeout: () => undefined,
    },
    timeout: 1000,
  })
  await expect(waiting.cards.read({ card_id: 'crd_1' }, { signal: between.signal })).rejects.toBe(reason)
  expect(failing.sent.length).toBe(1)
})
