import { expect, test } from 'vitest'
import { API_HEADERS } from '../../src/http/envelope.ts'
import { eventStreams } from '../../src/http/event-stream.ts'
import type { StreamShare } from '../../src/governor/stream-share.ts'
import { ApiError } from '../../src/model/errors.ts'
import type { StreamedResult } from '../../src/resources/result.ts'
import { Contention, StorageUnavailable } from '../../src/store/port.ts'

/** What a stream has found. @param ids of its changes */
const found = (position: string, ...ids: string[]): StreamedResult => ({
  items: ids.map((id) => ({ id, data: { text: id } })),
  position,
  index: undefined as never,
})

/** Decides on a read, and reads. */
type Read = () => Promise<StreamedResult>

/** A stream whose waiter has a hint at once, and whose time goes on with each wait. @param reads its further reads; then it is aborted */
class Setup {
  readonly steps: string[] = []
  now = 0
  readonly respond: (method: string, headers?: Record<string, string>) => Response
  readonly #reads: Read[]

  constructor(reads: Read[], elapsed: readonly number[] = []) {
    this.#reads = reads
    const times = [...elapsed]
    const { steps } = this
    const waiter = {
      isAborted: false,
      wait: async () => {
        steps.push('wait')
        await Promise.resolve()
        this.now += times.shift() ?? 0
        waiter.isAborted = this.#reads.length === 0
      },
      end: () => void steps.push('end'),
    }
    const readNext = async (position: string) => {
      steps.push(`read after ${position}`)
      return await this.#reads.shift()!()
    }
    const toApiError = (error: unknown) =>
      error instanceof ApiError ? error : new ApiError('internal_error', { message: (error as Error).message })
    const share = { step: async (work: () => unknown) => work(), requireRest: () => undefined } as unknown as StreamShare
    const deps = { requestId: 'request-1', share, waiter: waiter as never, readNext, toApiError, now: () => this.now }
    this.respond = (method, headers = {}) => eventStreams([{ ...deps, first: found('start', 'first') }], method, headers)
  }

  text(): Promise<string> {
    return this.respond('GET').text()
  }
}

const SECOND = 'id: second\nevent: change\ndata: {"text":"second"}\n\n'
const BEGIN = ': the changes of a board\n\nid: first\nevent: change\ndata: {"text":"first"}\n\n'
const nothing: Read = async () => found('next')
const something: Read = async () => found('next', 'second')
const fail =
  (error: Error): Read =>
  async () => {
    throw error
  }

test.each([
  ['refused', new ApiError('not_found'), 'not_found', new ApiError('not_found').message],
  ['unexpected', new TypeError('broken'), 'internal_error', 'broken'],
])('a stream ends with the error of the first read that is %s', async (_what, thrown, code, message) => {
  const setup = new Setup([something, fail(thrown), something])
  const error = JSON.stringify({ error: { code, message, request_id: 'request-1' } })
  expect(await setup.text()).toBe(`${BEGIN}${SECOND}event: error\ndata: ${error}\n\n`)
  expect(setup.steps).toEqual(['wait', 'read after start', 'wait', 'read after next', 'end'])
})

test('a stream goes on behind the events that it has read, and ends without an error when it is aborted', async () => {
  const setup = new Setup([something, something])
  expect(await setup.text()).toBe(BEGIN + SECOND + SECOND)
  expect(setup.steps).toEqual(['wait', 'read after start', 'wait', 'read after next', 'wait', 'end'])
})

test.each([new StorageUnavailable('away'), new Contention()])('a stream goes on after %s, and sends nothing twice', async (error) => {
  const setup = new Setup([fail(error), something])
  expect(await setup.text()).toBe(BEGIN + SECOND)
  expect(setup.steps.filter((step) => step.startsWith('read'))).toEqual(['read after start', 'read after start'])
})

test.each([
  ['14,999 ms', [14_999], 0],
  ['15,000 ms', [15_000], 1],
  ['15,000 ms in parts, and 14,999 ms', [14_999, 1, 14_999], 1],
  ['twice 15,000 ms', [15_000, 15_000], 2],
])('after %s without an event, as many comments are sent as are due', async (_what, elapsed, count) => {
  const setup = new Setup(
    elapsed.map(() => nothing),
    elapsed,
  )
  // The first event is sent at 100,000 ms, which is the beginning of the silence.
  setup.now = 100_000
  expect(await setup.text()).toBe(BEGIN + ': still here\n\n'.repeat(count))
})

test('a comment is due only after 15 seconds without an event', async () => {
  const setup = new Setup([nothing, something, nothing], [14_999, 0, 14_999])
  const text = await setup.text()
  expect(text).toContain('id: second')
  expect(text).not.toContain('still here')
})

test('the response has the headers of every response and its own', () => {
  const { headers, status, statusText } = new Setup([]).respond('GET', { ratelimit: 'r' })
  expect({ status, statusText, headers: Object.fromEntries(headers) }).toEqual({
    status: 200,
    statusText: 'OK',
    headers: {
      ...API_HEADERS,
      'content-type': 'text/event-stream; charset=utf-8',
      'x-request-id': 'request-1',
      'x-accel-buffering': 'no',
      ratelimit: 'r',
    },
  })
})

test('HEAD has no body, and waits for nothing', () => {
  const setup = new Setup([])
  expect({ body: setup.respond('HEAD').body, steps: setup.steps }).toEqual({ body: null, steps: ['end'] })
  const reading = new Setup([])
  reading.respond('GET')
  expect(reading.steps).toEqual([])
})

test('a client that stops reading ends the waiting', async () => {
  const setup = new Setup([nothing])
  const reader = setup.respond('GET').body!.getReader()
  await reader.read()
  await reader.cancel()
  await expect.poll(() => setup.steps.at(-1)).toBe('end')
})

test('no event is prepared long before it is read', async () => {
  const setup = new Setup(Array.from({ length: 50 }, () => something))
  const reader = setup.respond('GET').body!.getReader()
  await reader.read()
  for (let i = 0; i < 100; i++) await Promise.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  expect(setup.steps.filter((step) => step.startsWith('read')).length).toBeLessThan(4)
  await reader.cancel()
})
