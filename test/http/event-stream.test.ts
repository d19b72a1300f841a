import { expect, test } from 'vitest'
import { API_HEADERS } from '../../src/http/envelope.ts'
import { EventStream } from '../../src/http/event-stream.ts'
import { ApiError } from '../../src/model/errors.ts'
import type { StreamedResult } from '../../src/resources/result.ts'
import { Contention, StorageUnavailable } from '../../src/store/port.ts'

/** What a stream has found. @param ids of its changes */
const found = (position: string, ...ids: string[]): StreamedResult => ({
  items: ids.map((id) => ({ id, data: { text: id } })),
  position,
  index: undefined as never,
  readNext: () => Promise.reject(new Error('not called here')),
})

type Decide = (ahead: StreamedResult, stream: EventStream) => Promise<unknown>

/** A stream whose waiter has a hint at once, and whose time goes on with each wait. @param decisions of its polls; then it is aborted */
class Setup {
  readonly steps: string[] = []
  now = 0
  readonly stream: EventStream
  readonly #decisions: Decide[]

  constructor(decisions: Decide[], elapsed: readonly number[] = []) {
    this.#decisions = decisions
    const times = [...elapsed]
    const { steps } = this
    const waiter = {
      hintedAt: 7,
      isAborted: false,
      wait: async () => {
        steps.push('wait')
        await Promise.resolve()
        this.now += times.shift() ?? 0
        waiter.isAborted = this.#decisions.length === 0
      },
      end: () => void steps.push('end'),
    }
    this.stream = new EventStream({
      requestId: 'request-1',
      waiter: waiter as never,
      readAhead: async ({ position }, hintedAt) => {
        steps.push(`read after ${position} since ${hintedAt}`)
        return found('next', 'secret')
      },
      toApiError: (error) => (error instanceof ApiError ? error : new ApiError('internal_error', { message: (error as Error).message })),
      now: () => this.now,
    })
    this.stream.add(found('start', 'first'))
    this.stream.start(async (ahead) => {
      steps.push('decide')
      await this.#decisions.shift()!(ahead!, this.stream)
    })
  }

  text(): Promise<string> {
    return this.stream.respond('GET', {}).text()
  }
}

const BEGIN = ': the changes of a board\n\nid: first\nevent: change\ndata: {"text":"first"}\n\n'
const nothing: Decide = async () => undefined
const fail =
  (error: Error): Decide =>
  async () => {
    throw error
  }

test('a stream does not send what was read ahead if the decision, which comes afterwards, is negative', async () => {
  const setup = new Setup([fail(new ApiError('not_found')), nothing])
  const { code, message } = new ApiError('not_found')
  const error = JSON.stringify({ error: { code, message, request_id: 'request-1' } })
  expect(await setup.text()).toBe(`${BEGIN}event: error\ndata: ${error}\n\n`)
  expect(setup.steps).toEqual(['wait', 'read after start since 7', 'decide', 'end'])
})

test('a stream sends what was read ahead if the decision is positive, goes on behind it, and ends without an error when it is aborted', async () => {
  const take: Decide = async (ahead, stream) => stream.add(ahead)
  const setup = new Setup([take, take])
  const secret = 'id: secret\nevent: change\ndata: {"text":"secret"}\n\n'
  expect(await setup.text()).toBe(BEGIN + secret + secret)
  const [first, second] = ['start', 'next'].map((position) => ['wait', `read after ${position} since 7`, 'decide'])
  expect(setup.steps).toEqual([...first!, ...second!, 'wait', 'end'])
  expect(setup.stream.position).toBe('next')
})

test.each([new StorageUnavailable('away'), new Contention()])('a stream goes on after %s', async (error) => {
  expect(await new Setup([fail(error), nothing]).text()).toBe(BEGIN)
})

test('an unexpected error ends a stream like a request', async () => {
  const text = await new Setup([fail(new TypeError('broken')), nothing]).text()
  expect(text).toBe(`${BEGIN}event: error\ndata: {"error":{"code":"internal_error","message":"broken","request_id":"request-1"}}\n\n`)
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

test('a change that several streams send is written as JSON once', async () => {
  let count = 0
  const shared: StreamedResult = { ...found('next'), items: [{ id: 'shared', data: { toJSON: () => ({ count: ++count }) } }] }
  const texts = [1, 2].map(() => new Setup([async (_ahead, stream) => stream.add(shared)]).text())
  for (const text of await Promise.all(texts)) expect(text).toContain('id: shared\nevent: change\ndata: {"count":1}\n\n')
})

test('an event ends the silence', async () => {
  const setup = new Setup([nothing, async (ahead, stream) => stream.add(ahead), nothing], [14_999, 0, 14_999])
  const text = await setup.text()
  expect([text.includes('id: secret'), text.includes('still here')]).toEqual([true, false])
})

test('the response has the headers of every response and its own', () => {
  const { headers, status, statusText } = new Setup([]).stream.respond('GET', { ratelimit: 'r' })
  expect([status, statusText, Object.fromEntries(headers)]).toEqual([
    200,
    'OK',
    {
      ...API_HEADERS,
      'content-type': 'text/event-stream; charset=utf-8',
      'x-request-id': 'request-1',
      'x-accel-buffering': 'no',
      ratelimit: 'r',
    },
  ])
})

test('HEAD has no body, and waits for nothing', () => {
  const setup = new Setup([])
  expect([setup.stream.respond('HEAD', {}).body, setup.steps]).toEqual([null, ['end']])
  const reading = new Setup([])
  reading.stream.respond('GET', {})
  expect(reading.steps).toEqual([])
})

test('a client that stops reading ends the waiting', async () => {
  const setup = new Setup([nothing])
  const reader = setup.stream.respond('GET', {}).body!.getReader()
  await reader.read()
  await reader.cancel()
  expect(setup.steps.at(-1)).toBe('end')
})

test('no event is prepared long before it is read', async () => {
  const setup = new Setup(Array.from({ length: 50 }, (): Decide => async (ahead, stream) => stream.add(ahead)))
  const reader = setup.stream.respond('GET', {}).body!.getReader()
  await reader.read()
  for (let i = 0; i < 100; i++) await Promise.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  expect(setup.steps.filter((step) => step === 'decide').length).toBeLessThan(4)
  await reader.cancel()
})
