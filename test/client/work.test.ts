import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  ApiError,
  ClaimLost,
  createClient,
  Failure,
  InvalidInput,
  Question,
  type Client,
  type TakenCard,
  type WorkContext,
  type WorkHandler,
} from '../../src/client/client.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'
import { atRest, VirtualClock } from '../support/virtual-clock.ts'

const SECOND = 1000
/** What a request of a test gets instead of the service's response. */
type Fault = (request: Request, send: () => Promise<Response>) => Promise<Response>

let service: Service
let clock: VirtualClock
let fault: Fault
let sent: { method: string; path: string; claim: string | null; key: string | null }[]
let lk: Client
let other: Client
let board_id: string
let column_id: string
let running: number
let stop: AbortController
const enough = new Error('enough')
const sendAsIs: Fault = (_request, send) => send()
/** Nothing arrives: of all requests, or of some. */
const cut =
  (isMeant: (request: Request) => boolean = () => true): Fault =>
  (request, send) =>
    isMeant(request) ? Promise.reject(new TypeError('fetch failed')) : send()

beforeEach(async () => {
  service = await Service.start(memory)
  clock = new VirtualClock()
  fault = sendAsIs
  sent = []
  running = 0
  stop = new AbortController()
  const ann = await service.person(await service.workspace())
  const began = [service.now, clock.time] as const
  // The clock of the service passes with the monotonic one of the client, whose time of day is half a century behind.
  Object.defineProperty(service, 'now', { get: () => began[0] + clock.time - began[1] })
  const client = (token: string, isWorker: boolean) =>
    createClient({
      url: 'http://localhost',
      token,
      random: () => 1,
      timers: clock,
      monotonic: () => clock.time,
      now: () => 0,
      fetch: async (url, init) => {
        const request = new Request(url as string, init)
        const { method, headers } = request
        const path = new URL(request.url).pathname.slice(3)
        if (isWorker) sent.push({ method, path, claim: headers.get('if-claim'), key: headers.get('idempotency-key') })
        running++
        const send = () => service.app.fetch(request)
        return (isWorker ? fault(request, send) : send()).finally(() => running--)
      },
    })
  lk = client(ann.write, true)
  other = client(ann.admin, false)
  board_id = (await other.boards.create({ name: 'Garden' })).data.id
  column_id = (await other.columns.create({ board_id, name: 'To do' })).data.id
})
afterEach(() => service.stop())

const add = async (title: string) => (await other.cards.create({ board_id, column_id, title })).data.id
const read = async (card_id: string) => (await other.cards.read({ card_id, include: ['claim', 'work'] })).data
const isDone = async (card_id: string) => (await read(card_id)).completed_at !== null
const isTaking = ({ url }: Request) => new URL(url).pathname.endsWith('/claims')
const settle = () => atRest(() => running > 0)
const pass = (seconds: number) => clock.pass(seconds * SECOND, settle)
const writes = (pattern: RegExp) => sent.filter(({ method, path }) => pattern.test(`${method} ${path}`))

/** Expects that a claim is lost after so many seconds without a response, and lets the worker end. */
async function expectLostAfter(seconds: number, { context, go, ended }: ReturnType<typeof startOne>): Promise<void> {
  const { signal } = await context
  fault = cut()
  await pass(seconds - 0.1)
  expect(signal.aborted).toBe(false)
  await pass(0.1)
  expect(signal.aborted).toBe(true)
  fault = sendAsIs
  go()
  await ended
}

/** Runs a worker until it ends. @returns why it has ended */
const work = (handler: WorkHandler, options = {}) =>
  lk.claims.work(board_id, handler, { ttl: 10, signal: stop.signal, ...options }).then(
    () => expect.unreachable(),
    (error: unknown) => error,
  )

/** A worker whose handler waits until the test lets it go on. */
function startOne(options = {}) {
  let begun!: (context: WorkContext & { readonly card_id: string }) => void
  const context = new Promise<WorkContext & { readonly card_id: string }>((resolve) => (begun = resolve))
  let go!: (outcome?: 'release' | Error) => void
  const gate = new Promise<'release' | void>((resolve, reject) => {
    go = (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome))
  })
  let cards = 0
  const ended = work((card, found) => {
    // Only the first card is waited for: with the second one, the worker ends.
    if (cards++ > 0) return (stop.abort(enough), 'release')
    begun({ ...found, card_id: card.id })
    return gate
  }, options)
  return { context, go, ended }
}

describe('the end of a handler decides about its card', () => {
  test('a card whose handler returns is completed, and the next one follows', async () => {
    const ids = [await add('Sow'), await add('Water'), await add('Reap')]
    const titles: string[] = []
    const ended = await work(({ title }) => {
      if (titles.push(title) === 3) stop.abort(enough)
    })
    expect(ended).toBe(enough)
    expect(titles).toEqual(['Sow', 'Water', 'Reap'])
    expect(await Promise.all(ids.map(isDone))).toEqual([true, true, true])
    expect(writes(/completion/).map(({ claim }) => claim)).toEqual(['1', '1', '1'])
  })

  test('a card whose handler returns "release" is free again', async () => {
    const id = await add('Sow')
    expect(await work(() => (stop.abort(enough), 'release'))).toBe(enough)
    expect(await read(id)).toMatchObject({ completed_at: null, claim: null, work: { state: 'ready', attempts: 0 } })
    expect(writes(/DELETE .*claim/).map(({ claim }) => claim)).toEqual(['1'])
  })

  test.each<[string, (lk: WorkContext['lk'], card_id: string) => Promise<unknown>]>([
    ['completes', (own, card_id) => own.cards.complete({ card_id, completed: true })],
    ['archives', (own, card_id) => own.cards.archive({ card_id })],
    ['releases', (own, card_id) => own.claims.release({ card_id })],
    ['fails', (own, card_id) => own.claims.fail({ card_id, reason: 'No seed.' })],
    ['asks about', (own, card_id) => own.claims.ask({ card_id, question: 'Which seed?' })],
  ])('nothing more is done about a card that its handler %s', async (_verb, end) => {
    await add('Sow')
    await work(async ({ id }, context) => {
      await end(context.lk, id)
      stop.abort(enough)
    })
    expect(sent.slice(1).map(({ claim }) => claim)).toEqual(['1'])
  })

  test('nothing more is done about a card if its handler then throws: only the caller is told', async () => {
    const id = await add('Sow')
    const told: unknown[] = []
    const handler: WorkHandler = async ({ id: card_id }, context) => {
      await context.lk.cards.complete({ card_id, completed: true })
      stop.abort(new Error('later'))
      throw new Failure('broken')
    }
    await work(handler, { onFailure: (error: unknown) => told.push(error) })
    expect(told).toMatchObject([{ message: 'broken' }])
    expect(sent.length).toBe(2)
    expect(await isDone(id)).toBe(true)
  })
})

describe('a handler that throws', () => {
  /** Runs a worker whose handler throws once. @returns what the card has come to */
  async function afterThrowing(thrown: unknown) {
    const [id] = [await add('Sow'), await add('Last')]
    let cards = 0
    const ended = await work(() => {
      if (cards++ === 0) throw thrown
      stop.abort(enough)
      // It may be the same card, if that is tried again at once.
      return 'release'
    })
    // The worker has gone on.
    expect({ ended, cards }).toEqual({ ended: enough, cards: 2 })
    const { claim, completed_at, work: found } = await read(id)
    expect({ claim, completed_at }).toEqual({ claim: null, completed_at: null })
    const comments = (await other.comments.list({ card_id: id })).data
    return { ...found!, seconds: found!.not_before === null ? 0 : (Date.parse(found!.not_before) - service.now) / SECOND, comments }
  }

  test.each<[string, unknown, string, number]>([
    ['an error', new Error('No seed.'), 'No seed.', 30],
    ['an error without a message', new RangeError(), 'RangeError', 30],
    ['an error that is blank', new Error(' \n'), 'Error', 30],
    ['no error', 'No seed.', 'No seed.', 30],
    ['nothing', undefined, 'undefined', 30],
    ['an object', Object.create(null), 'Error', 30],
    ['a long message', new Error('🌱'.repeat(2_001)), '🌱'.repeat(2_000), 30],
    ['colors and other control characters', new Error('\u001b[31mred\u001b[39m\n\0peas'), 'red\npeas', 30],
    ['half of a character', new Error('peas \ud83c'), 'peas \ufffd', 30],
    ['an access token', new Error('"Bearer lk_pat_0123abc" is no header'), '"Bearer lk_pat_…" is no header', 30],
    ['a failure with a time', new Failure('Too cold.', { retryAfter: 600 }), 'Too cold.', 600],
    ['a failure that is tried again at once', new Failure('Too cold.', { retryAfter: 0 }), 'Too cold.', 0],
    ['a failure without a time', new Failure('Too cold.'), 'Too cold.', 30],
  ])('fails its card with the message: %s', async (_what, thrown, reason, seconds) => {
    expect(await afterThrowing(thrown)).toMatchObject({ attempts: 1, reason, seconds, question_id: null, comments: [] })
    expect(writes(/failure/).map(({ claim }) => claim)).toEqual(['1'])
  })

  test.each<[string, Question, string]>([
    ['a question', new Question('Which seed?'), 'Which seed?'],
    ['a long one', new Question('🌱'.repeat(2_001)), '🌱'.repeat(2_000)],
    ['an empty one', new Question(''), 'Question'],
  ])('asks with %s', async (_what, question, body) => {
    const found = await afterThrowing(question)
    expect(found).toMatchObject({ state: 'waiting', attempts: 0, reason: null, comments: [{ kind: 'question', body }] })
    expect(found.question_id).toBe(found.comments[0]!.id)
    expect(writes(/question/).map(({ claim }) => claim)).toEqual(['1'])
  })

  test.each([{ retryAfter: -1 }, { retryAfter: 1.5 }, { retryAfter: 86_401 }, { after: 1 }])('a Failure with %j is an error', (options) => {
    expect(() => new Failure('x', options as never)).toThrow(InvalidInput)
  })

  test('a Failure keeps its cause', () => {
    expect(new Failure('x', { cause: enough }).cause).toBe(enough)
    expect('cause' in new Failure('x')).toBe(false)
  })

  test('the caller is told of a thrown error, after the card has failed, and of no question', async () => {
    const [id, asked] = [await add('Sow'), await add('Water')]
    const broken = new Error('broken')
    const told: unknown[] = []
    const onFailure = async (error: unknown, card: TakenCard) => void told.push([error, card.id, writes(/failure/).length])
    await work(
      (card) => {
        if (card.id === asked) stop.abort(enough)
        throw card.id === asked ? new Question('How much?') : broken
      },
      { onFailure },
    )
    expect(told).toEqual([[broken, id, 1]])
  })

  test('an error that the caller throws ends the worker, and the card has failed', async () => {
    const id = await add('Sow')
    const onFailure = () => {
      throw enough
    }
    expect(await work(() => Promise.reject(new Error('broken')), { onFailure })).toBe(enough)
    expect((await read(id)).work).toMatchObject({ attempts: 1, reason: 'broken' })
  })

  test('through an outage, fails its card once', async () => {
    const id = await add('Sow')
    let failures = 0
    // The first response is lost, and the request was carried out. The second one does not arrive.
    fault = async (request, send) => {
      if (!request.url.endsWith('/failure') || ++failures > 2) return send()
      if (failures === 1) await send()
      throw new TypeError('terminated')
    }
    let isOver = false
    const ended = work((card) => {
      if (card.id !== id) return (stop.abort(enough), 'release')
      throw new Error('broken')
    })
    void ended.then(() => (isOver = true))
    await add('Last')
    while (!isOver) await pass(1)
    expect(failures).toBe(3)
    expect((await read(id)).work).toMatchObject({ attempts: 1, reason: 'broken' })
  })

  test('a card that is deleted meanwhile is left alone', async () => {
    const id = await add('Sow')
    await add('Last')
    const titles: string[] = []
    await work(async ({ title }) => {
      if (titles.push(title) === 2) return void stop.abort(enough)
      await other.cards.delete({ card_id: id })
      throw new Error('broken')
    })
    expect(titles).toEqual(['Sow', 'Last'])
    expect(writes(/failure/).length).toBe(1)
  })
})

describe('the card that a handler gets', () => {
  test('has the number of failed attempts, and the reason of the last one', async () => {
    await add('Sow')
    const found: unknown[] = []
    await work(({ work: { state, attempts, reason }, answered }) => {
      found.push([state, attempts, reason, answered])
      if (found.length === 3) return (stop.abort(enough), 'release')
      throw new Failure(`broken ${found.length}`, { retryAfter: 0 })
    })
    expect(found).toEqual([
      ['claimed', 0, null, null],
      ['claimed', 1, 'broken 1', null],
      ['claimed', 2, 'broken 2', null],
    ])
  })

  test('has the last question with its answer', async () => {
    const id = await add('Sow')
    const found: TakenCard['answered'][] = []
    const ended = work(({ answered }) => {
      if (found.push(answered) === 2) return void stop.abort(enough)
      throw new Question('Which seed?')
    })
    await expect.poll(async () => (await read(id)).work!.state).toBe('waiting')
    await other.cards.answer({ card_id: id, body: 'Peas.' })
    expect(await ended).toBe(enough)
    expect(found).toMatchObject([null, { question: { body: 'Which seed?' }, answer: { body: 'Peas.' } }])
  })
})

describe('an outcome that the service refuses', () => {
  const refuse =
    (path: string, code: string, status: number): Fault =>
    (request, send) =>
      request.url.endsWith(path) ? Promise.resolve(Response.json({ error: { code, message: 'no' } }, { status })) : send()
  const refused = 'The outcome was refused: no'

  // What is refused about every card ends the worker; the card counts an attempt if possible.
  test.each<[string, string, number, Error | undefined, object, boolean]>([
    ['/completion', 'forbidden', 403, undefined, { attempts: 1, reason: refused }, true],
    ['/completion', 'unauthorized', 401, undefined, { attempts: 1, reason: refused }, true],
    ['/completion', 'conflict', 409, undefined, { attempts: 1, reason: refused }, false],
    ['/question', 'conflict', 409, new Question('Which?'), { attempts: 1, reason: refused, question_id: null }, false],
    ['/failure', 'forbidden', 403, new Error('broken'), { attempts: 0, state: 'claimed' }, true],
  ])('%s with %s (%i) is the reason why the card has failed', async (path, code, status, thrown, expected, isEnd) => {
    const [id] = [await add('Sow'), await add('Last')]
    fault = refuse(path, code, status)
    const ended = await work((card) => {
      if (card.id !== id) stop.abort(enough)
      else if (thrown !== undefined) throw thrown
    })
    if (isEnd) expect(ended).toMatchObject({ code })
    else expect(ended).toBe(enough)
    expect((await read(id)).work).toMatchObject(expected)
  })

  test('that `onRetry` gives up releases the card, and counts no attempt', async () => {
    const id = await add('Sow')
    fault = cut(({ url }) => url.endsWith('/completion'))
    const onRetry = () => {
      throw enough
    }
    expect(await work(() => undefined, { onRetry })).toBe(enough)
    expect(await read(id)).toMatchObject({ claim: null, work: { attempts: 0 } })
  })
})

describe('while a handler runs', () => {
  test('its claim is renewed at a third of its time, with If-Claim', async () => {
    const id = await add('Sow')
    const { context, go, ended } = startOne()
    const { signal } = await context
    await pass(61)
    expect(signal.aborted).toBe(false)
    expect((await read(id)).claim).toMatchObject({ epoch: 1 })
    expect(writes(/PUT .*claim/).length).toBe(18)
    expect(new Set(writes(/PUT .*claim/).map(({ claim, key }) => `${claim} ${key}`))).toEqual(new Set(['1 null']))
    const last = await add('Last')
    go()
    expect(await ended).toBe(enough)
    expect([await isDone(id), await isDone(last)]).toEqual([true, false])
    sent = []
    await pass(60)
    expect(sent).toEqual([])
  })

  test('writes to the card and to its parts have If-Claim, and no other requests have it', async () => {
    const strange = await add('Sow')
    const foreign = await add('Other')
    await work(async ({ id: card_id }, { lk: own }) => {
      const subtask = (await own.subtasks.create({ card_id, title: 'Dig' })).data
      await own.subtasks.update({ subtask_id: subtask.id, completed: true })
      await own.comments.create({ card_id, body: 'Begun.' })
      await own.cards.update({ card_id, title: 'Sow peas' })
      await own.cards.read({ card_id })
      await own.cards.update({ card_id: foreign, title: 'Another' })
      await own.labels.create({ board_id, name: 'late', color: '#123456' })
      stop.abort(enough)
    })
    expect((await read(strange)).title).toBe('Sow peas')
    expect(sent.map(({ claim }) => claim)).toEqual([null, '1', '1', '1', '1', null, null, null, '1'])
  })
})

describe('a claim is lost', () => {
  test('when it runs out, because no renewal has arrived: the handler is told, and can write nothing more', async () => {
    const id = await add('Sow')
    const { context, go, ended } = startOne()
    const { signal, lk: own } = await context
    fault = cut(({ method }) => method === 'PUT')
    await pass(9.9)
    expect(signal.aborted).toBe(false)
    await pass(0.1)
    expect(signal.reason).toMatchObject({ name: 'ClaimLost', card_id: id })
    expect((await read(id)).claim).toBeNull()
    fault = sendAsIs
    sent = []
    await expect(own.comments.create({ card_id: id, body: 'Late.' })).rejects.toBeInstanceOf(ClaimLost)
    expect(sent).toEqual([])
    // What it throws or returns now does not matter: the worker goes on, here with the same card.
    go(new Error('confused'))
    expect(await ended).toBe(enough)
    expect(await read(id)).toMatchObject({ completed_at: null, claim: null })
    expect(writes(/POST .*claims/).length).toBe(1)
  })

  test('when a write gets 412, because another has it', async () => {
    const id = await add('Sow')
    const { context, go, ended } = startOne()
    const { signal, lk: own } = await context
    await lk.claims.release({ card_id: id })
    await other.claims.take({ card_id: id, ttl: 10 })
    const refused = await own.cards.update({ card_id: id, title: 'Mine' }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ApiError)
    expect(signal.reason).toMatchObject({ name: 'ClaimLost', cause: refused })
    await add('Next')
    go()
    expect(await ended).toBe(enough)
    expect(await read(id)).toMatchObject({ title: 'Sow', completed_at: null, claim: { epoch: 2 } })
  })

  test('when a renewal gets 412', async () => {
    const id = await add('Sow')
    const { context, go, ended } = startOne()
    const { signal } = await context
    await other.cards.complete({ card_id: id, completed: true })
    await pass(4)
    expect(signal.reason).toBeInstanceOf(ClaimLost)
    await add('Next')
    go()
    expect(await ended).toBe(enough)
  })

  test('a 412 that is about an ETag loses nothing', async () => {
    await add('Sow')
    const lost: boolean[] = []
    await work(async ({ id: card_id }, { lk: own, signal }) => {
      await own.cards.update({ card_id, title: 'Mine' }, { ifMatch: '"1"' }).catch(() => undefined)
      lost.push(signal.aborted)
      stop.abort(enough)
    })
    expect(lost).toEqual([false])
  })

  test('in a process that was stopped, before its timers say so', async () => {
    const id = await add('Sow')
    const { context, go, ended } = startOne()
    const { signal, lk: own } = await context
    clock.time += 11 * SECOND
    await expect(own.comments.create({ card_id: id, body: 'Late.' })).rejects.toBeInstanceOf(ClaimLost)
    expect(signal.aborted).toBe(true)
    expect(writes(/comments/)).toEqual([])
    go()
    await ended
  })

  test('by a time that is counted from before the request was sent', async () => {
    await add('Sow')
    fault = async (request, send) => {
      const response = await send()
      // The response takes its time.
      if (request.method === 'POST') clock.time += 2 * SECOND
      return response
    }
    await expectLostAfter(8, startOne())
  })
})

describe('a card that was waited for', () => {
  test('is renewed before its handler begins, because nobody knows when it was taken', async () => {
    await add('Sow')
    fault = async (request, send) => {
      if (isTaking(request)) clock.time += 9 * SECOND
      return send()
    }
    const one = startOne()
    await one.context
    expect(writes(/PUT .*claim/).length).toBe(1)
    await expectLostAfter(10, one)
  })

  test('is not worked on if it is lost already', async () => {
    await add('Sow')
    fault = async (request, send) => {
      const response = await send()
      if (isTaking(request)) {
        clock.time += 20 * SECOND
        stop.abort(enough)
      }
      return response
    }
    let calls = 0
    expect(await work(() => void calls++)).toBe(enough)
    expect(calls).toBe(0)
  })

  test('comes as soon as a card is there', async () => {
    const ended = work(() => stop.abort(enough))
    await expect.poll(() => sent.length).toBe(1)
    const id = await add('Late')
    expect(await ended).toBe(enough)
    expect(await isDone(id)).toBe(true)
    expect(sent.length).toBe(2)
  })
})

describe('the signal of the caller', () => {
  test.each<[string, unknown, string, number]>([
    ['returns', undefined, 'done', 0],
    // It was told to stop: that says nothing about the card.
    ['throws the reason', enough, 'ready', 0],
    ['throws another error', new TypeError('aborted'), 'ready', 0],
    // This does.
    ['throws a Failure', new Failure('No seed.', { retryAfter: 0 }), 'ready', 1],
    ['asks', new Question('Which seed?'), 'waiting', 0],
  ])('is passed on: a card whose handler %s', async (_verb, thrown, state, attempts) => {
    const id = await add('Sow')
    const [told, reasons]: unknown[][] = [[], []]
    const ended = await work(
      (_card, { signal }) => {
        stop.abort(enough)
        reasons!.push(signal.reason)
        if (thrown !== undefined) throw thrown
      },
      { onFailure: (error: unknown) => told!.push(error) },
    )
    expect({ ended, reasons }).toEqual({ ended: enough, reasons: [enough] })
    expect(await read(id)).toMatchObject({ claim: null, work: { state, attempts } })
    expect(told!.length).toBe(attempts)
  })

  test('ends a worker that waits, at once', async () => {
    const ended = work(() => undefined)
    await expect.poll(() => sent.length).toBe(1)
    stop.abort(enough)
    expect(await ended).toBe(enough)
  })
})

test('in outages no card is lost or done twice', async () => {
  const ids = [await add('Sow'), await add('Water')]
  const retries: unknown[] = []
  let calls = 0
  // Every second response is lost, and the request was carried out.
  fault = async (_request, send) => {
    const response = await send()
    if (calls++ % 2 === 0) throw new TypeError('terminated')
    return response
  }
  const titles: string[] = []
  const ended = work(({ title }) => void (titles.push(title) === 2 && stop.abort(enough)), { onRetry: (one: unknown) => retries.push(one) })
  let isOver = false
  void ended.then(() => (isOver = true))
  while (!isOver) await pass(1)
  expect(titles).toEqual(['Sow', 'Water'])
  expect(await Promise.all(ids.map(isDone))).toEqual([true, true])
  expect(retries.length).toBe(4)
})

test('an error that waiting cannot mend ends a worker', async () => {
  expect(await lk.claims.work('brd_absent', () => undefined).catch((error: unknown) => error)).toMatchObject({ code: 'not_found' })
})

test.each([
  [{ ttl: 5 }, 'ttl'],
  [{ ttl: 4000 }, 'ttl'],
  [{ wait: 0 }, 'wait'],
  [{ column: 'col_1' }, 'column'],
  [{ signal: true }, 'signal'],
])('the options %j are refused', async (options, name) => {
  await expect(lk.claims.work(board_id, () => undefined, options as never)).rejects.toThrow(`"${name}"`)
})
