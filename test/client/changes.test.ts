import { describe, expect, test } from 'vitest'
import { createClient, type Change, type ClientOptions, type Retry } from '../../src/client/client.ts'
import { FakeService, refused, success, type Step } from '../support/fake-service.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'

const page = (cursor: string | null, ...seqs: readonly number[]) =>
  success(
    seqs.map((seq) => ({ seq })),
    { page: { next_cursor: cursor } },
  )
/** Reads changes of a board until `last`. @returns their numbers */
async function readUntil(last: number, stream: AsyncIterable<Change>): Promise<number[]> {
  const found: number[] = []
  for await (const { seq } of stream) if (found.push(seq) && seq === last) break
  return found
}
const input = { board_id: 'brd_1' }
const searches = (service: FakeService) => service.sent.map(({ url }) => new URL(url).search)

test('changes are yielded in order, and each request continues from the last page', async () => {
  const service = new FakeService(page('c2', 1, 2), page('c2'), 'cut', page('c4', 3, 4))
  expect(await readUntil(4, service.client().changes({ ...input, after: 'c0', wait: 20 }))).toEqual([1, 2, 3, 4])
  expect(service.sent[0]!.url).toContain('/v1/boards/brd_1/changes?')
  expect(searches(service)).toEqual(['?wait=20&after=c0', '?wait=20&after=c2', '?wait=20&after=c2', '?wait=20&after=c2'])
})

test('the cursor of a stream never skips a change that the reader has not handled', async () => {
  const service = new FakeService(page('c2', 1, 2), page('c3', 3), refused(410, 'cursor_expired'))
  const stream = service.client().changes(input)
  expect(stream.cursor).toBeUndefined()
  const cursors: [seq: number, cursor: string | undefined][] = []
  const reading = (async () => {
    for await (const { seq } of stream) cursors.push([seq, stream.cursor])
  })()
  await expect(reading).rejects.toMatchObject({ name: 'ApiError', code: 'cursor_expired', status: 410 })
  expect(cursors).toEqual([
    [1, undefined],
    [2, undefined],
    [3, 'c2'],
  ])
  expect(stream.cursor).toBe('c3')
  expect(searches(service)[0]).toBe('?wait=30')
})

test('a long poll has the time that the service may wait, beside the time of each attempt', async () => {
  const timeouts: number[] = []
  const service = new FakeService(page('c1', 1))
  const timers = { setTimeout: (_callback: unknown, milliseconds: number) => timeouts.push(milliseconds), clearTimeout: () => undefined }
  const lk = service.client({ timers, timeout: 5000 })
  await readUntil(1, lk.changes({ ...input, wait: 20 }))
  await readUntil(1, lk.changes(input, { timeout: 1000 }))
  await lk.boards.changes(input)
  expect(timeouts).toEqual([25_000, 31_000, 5000])
})

test('a signal ends a stream', async () => {
  const service = new FakeService(page('c1', 1))
  const controller = new AbortController()
  const reading = (async () => {
    for await (const { seq } of service.client().changes(input, { signal: controller.signal })) if (seq === 1) controller.abort()
  })()
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' })
  expect(service.sent.length).toBe(1)
})

describe('an outage', () => {
  test('does not end a stream, however long it is; the waits grow up to 30 seconds, and onRetry receives each', async () => {
    const outage = Array.from({ length: 3000 }, (): Step => 'cut')
    const service = new FakeService(page('c2', 1, 2), ...outage, page('c3', 3), 'cut', page('c4', 4))
    const retries: Retry[] = []
    const stream = service.client().changes({ ...input, after: 'c0' }, { onRetry: (retry) => void retries.push(retry) })
    expect(await readUntil(4, stream)).toEqual([1, 2, 3, 4])
    const grown = [250, 500, 1000, 2000, 4000, 8000, 16_000, ...Array<number>(2993).fill(30_000)]
    expect(service.waits).toEqual([...grown, 250])
    expect(retries.map(({ attempt, wait }) => [attempt, wait])).toEqual([...grown.map((wait, i) => [i + 1, wait]), [1, 250]])
    expect(retries[9]!.error).toMatchObject({ name: 'NoResponse', message: expect.stringContaining('connect ECONNREFUSED') as string })
    expect(new Set(searches(service).slice(1, 3002))).toEqual(new Set(['?wait=30&after=c2']))
  })

  test.each<[title: string, step: Step]>([
    ['no connection', 'cut'],
    ['no response in time', 'silent'],
    ['a response that is cut', 'cut in the body'],
    ['a page of a proxy with the status 200', new Response('<html>sign in to the network</html>')],
    ['JSON of a proxy with the status 200', Response.json({ ok: true })],
    ...[408, 425, 429, 500, 501, 502, 503, 504, 507].map((status): [string, Step] => [
      `the status ${status}`,
      new Response('<html>', { status }),
    ]),
    ['a service that is going down', refused(503, 'unavailable', { outcome: 'not_done' })],
    ['a rate limit for five minutes', refused(429, 'rate_limited', {}, { 'retry-after': '300' })],
  ])('%s does not end a stream', async (_title, step) => {
    const service = new FakeService(...Array<Step>(9).fill(step), page('c1', 1))
    const errors: unknown[] = []
    const onRetry = ({ error }: Retry) => void errors.push(error)
    await readUntil(1, service.client({ retries: { attempts: 1 } }).changes(input, { onRetry, timeout: 1_000_000 }))
    expect(errors.length).toBe(9)
    // The longest time that a service can ask for, and the longest wait.
    expect(Math.max(...service.waits)).toBeLessThanOrEqual(90_000)
  })

  test.each([
    [401, 'unauthorized'],
    [403, 'insufficient_scope'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [410, 'cursor_expired'],
    [422, 'validation_failed'],
  ])('the status %i %s ends a stream at once, because waiting cannot mend it', async (status, code) => {
    const service = new FakeService(page('c1', 1), refused(status, code))
    const found: number[] = []
    const onRetry = () => expect.unreachable()
    const reading = (async () => {
      for await (const { seq } of service.client().changes(input, { onRetry })) found.push(seq)
    })()
    await expect(reading).rejects.toMatchObject({ name: 'ApiError', status, code })
    expect(found).toEqual([1])
    expect(service.sent.length).toBe(2)
  })

  test('the waits have jitter, and follow the options of the client', async () => {
    const numbers = [0.5, 0, 0.25]
    const service = new FakeService('cut', 'cut', refused(503, 'unavailable', {}, { 'retry-after': '7' }), page('c1', 1))
    const lk = service.client({ random: () => numbers.shift()!, retries: { delay: 1000, maxDelay: 1500 } })
    await readUntil(1, lk.changes(input))
    expect(service.waits).toEqual([500, 0, 7375])
  })

  test('a signal ends a stream in the wait of an outage, also one that is aborted by onRetry', async () => {
    const reason = new Error('enough')
    for (const timers of [undefined, { setTimeout: () => undefined, clearTimeout: () => undefined }]) {
      const controller = new AbortController()
      const service = new FakeService(...Array<Step>(30).fill('cut'), page('c1', 1))
      const onRetry = ({ attempt }: Retry) => (timers === undefined && attempt < 20 ? undefined : controller.abort(reason))
      const lk = service.client(timers === undefined ? {} : { timers })
      const next = lk.changes(input, { signal: controller.signal, onRetry })[Symbol.asyncIterator]().next()
      await expect(next).rejects.toBe(reason)
      expect(service.sent.length).toBe(timers === undefined ? 20 : 1)
    }
  })

  test('a reader who leaves during a wait or a request does not wait for the end of the outage', async () => {
    for (const step of ['cut', 'silent'] as const) {
      const service = new FakeService(step)
      // No timer ends: what is waited for, is waited for until the reader leaves.
      let isWaiting = (): void => undefined
      const waiting = new Promise<void>((resolve) => (isWaiting = resolve))
      const cleared: unknown[] = []
      const timers: ClientOptions['timers'] = {
        setTimeout: (_callback, milliseconds) => (step === 'silent' || milliseconds < 60_000 ? isWaiting() : undefined, milliseconds),
        clearTimeout: (timer) => void cleared.push(timer),
      }
      const iterator = service.client({ timers, timeout: 60_000 }).changes(input)[Symbol.asyncIterator]()
      const next = iterator.next()
      await waiting
      expect(await iterator.return!()).toEqual({ done: true, value: undefined })
      expect(await next).toEqual({ done: true, value: undefined })
      expect(cleared).toContain(step === 'silent' ? 90_000 : 250)
    }
  })
})

test('across outages of a service, every change is yielded once and in order', async () => {
  const service = await Service.start(memory)
  const ann = await service.person(await service.workspace())
  const faults: ((send: () => Promise<Response>) => Promise<Response>)[] = [
    async (send) => send(),
    async () => Promise.reject(new TypeError('fetch failed')),
    // It was answered, but the answer is lost.
    async (send) => (await send(), Promise.reject(new TypeError('terminated'))),
    async (send) => new Response((await (await send()).text()).slice(0, -10)),
    async () => new Response('<html>', { status: 502 }),
  ]
  let calls = 0
  const options: ClientOptions = {
    url: 'http://localhost',
    token: ann.admin,
    timers: {
      setTimeout: (callback, milliseconds) => (milliseconds >= 60_000 ? undefined : queueMicrotask(callback)),
      clearTimeout: () => undefined,
    },
    timeout: 60_000,
    // Each fault meets each page: the number of faults and what the reader does between are coprime.
    fetch: (url, init) => faults[calls++ % faults.length]!(() => service.app.fetch(new Request(url as string, init))),
  }
  const reliable = createClient({ ...options, fetch: (url, init) => service.app.fetch(new Request(url as string, init)) })
  const board_id = (await reliable.boards.create({ name: 'Garden' })).data.id
  const column_id = (await reliable.columns.create({ board_id, name: 'To do' })).data.id
  const titles = Array.from({ length: 40 }, (_, i) => `card ${i}`)
  const found: unknown[] = []
  let created = 0
  const create = async () => void (await reliable.cards.create({ board_id, column_id, title: titles[created++]! }))
  await create()
  for await (const { kind, data } of createClient(options).changes({ board_id, wait: 0 })) {
    if (kind === 'card') found.push((data as { title: string }).title)
    if (found.length === titles.length) break
    // Some pages have one card, others several.
    if (found.length === created) for (let left = (created % 3) + 1; left > 0 && created < titles.length; left--) await create()
  }
  expect(found).toEqual(titles)
  expect(calls).toBeGreaterThan(titles.length)
  await service.stop()
})
