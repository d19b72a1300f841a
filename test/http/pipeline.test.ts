import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { mintToken } from '../../src/auth/tokens/format.ts'
import { RateLimits } from '../../src/governor/quotas.ts'
import { Call } from '../../src/http/call.ts'
import { conclude, handle } from '../../src/http/pipeline.ts'
import { SessionPrincipal } from '../../src/http/principal.ts'
import type { Services } from '../../src/http/services.ts'
import { systemRandom } from '../../src/model/ids.ts'
import type { Blobs } from '../../src/store/blobs.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { TransactionConflict } from '../../src/store/transaction.ts'
import { recordUses, TestBoard } from '../support/board.ts'
import { captureLog } from '../support/log.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'

/** The storage for bytes. */
let blobs: Blobs
/** The storage without what tests add to it. */
let store: Services['store']
/** Replaces its function `remove`. */
let remove: Blobs['remove'] | undefined
let service: Service
let ann: Person
let board: TestBoard
let path: string
beforeAll(async () => {
  const open = async () => {
    const opened = await memory.open()
    ;({ blobs, store } = opened)
    return { ...opened, blobs: { ...blobs, remove: (id: string) => (remove ?? blobs.remove)(id) } }
  }
  service = await Service.start({ name: 'memory', open })
  ann = await service.person(await service.workspace())
  await recordUses(service, ann)
})
afterAll(() => service.stop())
beforeEach(async () => {
  board = await TestBoard.create(service, ann)
  path = `/boards/${board.id}`
})
afterEach(() => {
  vi.restoreAllMocks()
  remove = undefined
  service.store.beforeRead = undefined
})

describe('the sinks of decision records', () => {
  /** Reads a board with these sinks. @returns the response, and what was logged */
  const readBoard = async (sinks: Services['sinks']) => {
    const captured = captureLog()
    const request = new Request(`http://x/v1${path}`, { headers: { authorization: `Bearer ${ann.read}` } })
    const incoming = { request, requestId: 'req_1', method: 'GET', path, search: '' }
    const response = await handle({ ...service.app.services, log: captured.log, sinks }, incoming)
    return { response, lines: captured.lines }
  }

  test('an error of one sink is logged with the id of the request, and changes neither the answer nor the other sinks', async () => {
    const records: unknown[] = []
    const fail = () => {
      throw new Error('out of order')
    }
    const { response, lines } = await readBoard([fail, ({ operation, status }) => void records.push([operation, status])])
    expect({ status: response.status, records }).toEqual({ status: 200, records: [['boards.read', 200]] })
    expect(lines).toMatchObject([{ level: 50, request_id: 'req_1', err: { message: 'out of order' } }])
  })

  test('a service without sinks logs nothing', async () => {
    const { response, lines } = await readBoard([])
    expect({ status: response.status, lines }).toEqual({ status: 200, lines: [] })
  })
})

test('a read that finds everything in memory is answered at once, and a write waits for its body alone', async () => {
  const send = (method: string, target: string, body?: object) => {
    const headers = { authorization: `Bearer ${ann.write}`, ...(body && { 'content-type': 'application/json' }) }
    const request = new Request(`http://x/v1${target}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) })
    return handle({ ...service.app.services, store }, { request, requestId: 'req_1', method, path: target, search: '' })
  }
  const card = await board.card(await board.column())
  for (const target of ['/account', path, `/cards/${card}`]) {
    const response = send('GET', target)
    expect(response).toBeInstanceOf(Response)
    expect((response as Response).status).toBe(200)
  }
  const written = send('PATCH', `/cards/${card}`, { title: 'Two' })
  expect(written).toBeInstanceOf(Promise)
  expect((await written).status).toBe(200)
})

describe('the end of a call', () => {
  const incoming = (target: string, headers: Record<string, string> = { authorization: `Bearer ${ann.read}` }) => {
    const [name, query] = target.split('?')
    const request = new Request(`http://x/v1${target}`, { headers })
    return { request, requestId: 'req_1', method: 'GET', path: name!, search: query === undefined ? '' : `?${query}` }
  }

  test('a long answer costs a unit for each 64 KiB, and a search one for each 512 KiB that it examines', async () => {
    const column = await board.column()
    for (let i = 0; i < 11; i++) await board.patch(`/cards/${await board.card(column)}`, { description: 'x'.repeat(50_000) })
    const rateLimits = new RateLimits({ quotas: { token: 100, workspace: 100, address: 100 } }, service.app.services.clock)
    const remaining: number[] = []
    for (const target of [path, `${path}/cards?limit=2`, `${path}/cards?q=none`, path]) {
      const response = await handle({ ...service.app.services, rateLimits }, incoming(target))
      remaining.push(Number(/"token";r=(\d+)/.exec(response.headers.get('ratelimit')!)?.[1]))
    }
    expect(remaining).toEqual([99, 97, 95, 94])
  })

  test('a call that has waited does not watch the storage any more', async () => {
    const watched = vi.fn<() => void>()
    vi.spyOn(store, 'watch').mockReturnValue(watched)
    const { changes_cursor } = (await board.get(`${path}?include=columns`)).body.data
    const services = { ...service.app.services, store, stopping: AbortSignal.abort() }
    expect((await handle(services, incoming(`${path}/changes?after=${changes_cursor}&wait=30`))).status).toBe(200)
    expect(watched).toHaveBeenCalledTimes(1)
  })

  test('an answer without a body is not given if its record cannot be written', async () => {
    const decisionLog = { ready: () => undefined, finish: async () => false } as unknown as Services['decisionLog']
    const services = { ...service.app.services, decisionLog }
    const identify = () => new SessionPrincipal(ann.id, ann.workspaceId)
    const call = new Call(services, incoming(path, {}), { name: 'web_app', isCounted: false, identify })
    const shown = await conclude<{ readonly status: number }>(services, call, {
      answer: () => ({ status: 200 }),
      refuse: ({ status }) => ({ status }),
    })
    expect(shown.status).toBe(503)
  })
})

describe('a conflict with concurrent writes', () => {
  test('a request is attempted twelve times, then it is refused', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    let commits = 0
    const commit = vi.spyOn(service.store, 'commit').mockImplementation(async () => (commits++, 'conflict'))
    const reply = await service.send(ann.write, 'PATCH', path, { name: 'x' })
    commit.mockRestore()
    expect({ status: reply.status, commits }).toEqual({ status: 503, commits: 12 })
  })

  test('the record has nothing of an attempt that was repeated', async () => {
    service.store.beforeCommit = async () => void (await service.send(ann.admin, 'DELETE', path))
    expect((await service.send(ann.write, 'PATCH', path, { name: 'Two' })).status).toBe(404)
    expect(service.records.at(-1)).toMatchObject({ attempts: 2, status: 404, operation: 'boards.update' })
    expect(service.records.at(-1)).not.toHaveProperty('decision')
  })

  test('the second attempt begins after a pause', async () => {
    let isPaused = false
    const random = vi.spyOn(Math, 'random').mockImplementation(() => {
      isPaused = true
      void nextTurn().then(() => (isPaused = false))
      return 10
    })
    const pausedAtRead: boolean[] = []
    service.store.beforeCommit = async () => {
      await board.patch(path, { name: 'By another request' })
      service.store.beforeRead = async () => void pausedAtRead.push(isPaused)
    }
    expect((await service.send(ann.write, 'PATCH', path, { description: 'x' })).status).toBe(200)
    expect({ draws: random.mock.calls.length, pausedAtRead: pausedAtRead[0] }).toEqual({ draws: 1, pausedAtRead: false })
  })
})

describe('an upload that fails after its bytes were stored', () => {
  /** Uploads to a card that is deleted while the bytes are received: between the two commits of an upload. */
  const uploadToDeletedCard = async () => {
    const card = await board.card(await board.column())
    service.store.afterCommit = async () => void (await board.delete(`/cards/${card}`))
    return board.attach(card)
  }

  test('its bytes are removed before the refusal is sent', async () => {
    let stored: string[] = []
    remove = async (id) => {
      stored = await service.blobKeys()
      await nextTurn()
      await blobs.remove(id)
    }
    const { status } = await uploadToDeletedCard()
    expect({ status, stored: stored.length, blobKeys: await service.blobKeys() }).toEqual({ status: 404, stored: 1, blobKeys: [] })
  })

  test('if its bytes cannot be removed now, the response is the refusal', async () => {
    remove = async () => {
      throw new Error('out of order')
    }
    const reply = await uploadToDeletedCard()
    expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status: 404, code: 'not_found' })
  })

  test('its bytes stay if it is not known whether its file was created', async () => {
    const card = await board.card(await board.column())
    service.store.afterCommit = async () => {
      service.store.afterCommit = async () => {
        throw new StorageUnavailable('gone', { outcomeKnown: false })
      }
    }
    expect((await board.attach(card, { text: 'hello' })).status).toBe(503)
    const [attachment] = await board.all(`/cards/${card}/attachments`)
    const response = await service.fetch(ann.read, 'GET', `/attachments/${attachment.id}/content`)
    expect({ status: response.status, text: await response.text() }).toEqual({ status: 200, text: 'hello' })
  })
})

describe('a request with HEAD', () => {
  test('is answered 304 to the current ETag, and 412 to an If-Match that does not match, like GET', async () => {
    for (const method of ['GET', 'HEAD']) {
      const send = (headers: Record<string, string> = {}) => service.send(ann.read, method, path, undefined, headers)
      const etag = (await send()).headers.get('etag')!
      const conditions = [
        { 'if-none-match': etag },
        { 'if-none-match': '"x"' },
        { 'if-match': '"x"' },
        { 'if-match': etag },
        { 'if-match': '*' },
        { 'if-match': '"x"', 'if-none-match': etag },
        { 'if-match': etag, 'if-none-match': etag },
      ]
      const statuses: number[] = []
      for (const condition of conditions) statuses.push((await send(condition as Record<string, string>)).status)
      expect([method, ...statuses]).toEqual([method, 304, 200, 412, 200, 200, 412, 304])
    }
  })
})

test('the commit of a creation relies on its If-Match, which names the parent', async () => {
  const etag = (await service.send(ann.read, 'GET', path)).headers.get('etag')!
  service.store.beforeCommit = async () => void (await service.send(ann.write, 'PATCH', path, { name: 'meanwhile' }))
  const reply = await service.send(ann.write, 'POST', `${path}/columns`, { name: 'x' }, { 'if-match': etag })
  expect({ status: reply.status, attempts: service.records.at(-1)!.attempts }).toEqual({ status: 412, attempts: 2 })
})

test('the commit of a write relies on its If-None-Match: a tag that becomes current meanwhile is found', async () => {
  const seen: string[] = []
  service.store.beforeCommit = async () => {
    const reply = await service.send(ann.write, 'PATCH', path, { name: 'meanwhile' })
    seen.push(reply.headers.get('etag')!)
  }
  const reply = await service.send(ann.write, 'PATCH', path, { name: 'mine' }, { 'if-none-match': '"x"' })
  expect({ status: reply.status, attempts: service.records.at(-1)!.attempts, seen: seen.length }).toEqual({
    status: 200,
    attempts: 2,
    seen: 1,
  })
})

test('no other request waits for the bytes of an upload that has a lease, and its next attempt has its lease until the commit', async () => {
  const card = await board.card(await board.column())
  const events: string[] = []
  const takeLease = service.store.takeLease.bind(service.store)
  vi.spyOn(service.store, 'takeLease').mockImplementation(async (partition) => {
    const lease = await takeLease(partition)
    events.push('lease')
    return { ...lease, end: () => (events.push('end'), lease.end()) }
  })
  let conflicts = 3
  service.store.beforeRead = async () => {
    if (conflicts-- > 0) throw new TransactionConflict()
  }
  service.store.beforeCommit = async () => {
    events.push('tombstone')
    service.store.afterCommit = async () => {
      conflicts = 1
      service.store.beforeCommit = async () => void events.push('file')
    }
  }
  expect((await board.attach(card)).status).toBe(201)
  expect(events).toEqual(['lease', 'end', 'tombstone', 'end', 'lease', 'file', 'end'])
})

describe('the record of a request', () => {
  test.each<[stage: string, status: number, send: () => Promise<unknown>]>([
    ['credential', 401, () => service.send(mintToken(ann.workspaceId, systemRandom).plaintext, 'GET', '/account')],
    ['route', 404, () => service.send(ann.read, 'GET', '/nowhere')],
    ['scope', 403, () => service.send(ann.read, 'POST', '/boards', { name: 'x' })],
    ['input', 422, () => service.send(ann.read, 'GET', '/boards?limit=x')],
    ['target', 404, () => service.send(ann.read, 'GET', '/boards/brd_00000000000000000000')],
    ['run', 409, () => service.send(ann.admin, 'DELETE', `${path}/members/${ann.id}`)],
    ['run', 200, () => service.send(ann.read, 'GET', '/boards')],
    ['run', 200, () => service.send(ann.read, 'GET', path)],
    ['run', 412, () => service.send(ann.write, 'PATCH', path, { name: 'x' }, { 'if-match': '"x"' })],
    ['run', 412, () => service.send(ann.write, 'PATCH', path, { name: 'x' }, { 'if-claim': '1' })],
    ['input', 400, () => service.send(ann.write, 'PATCH', path, { name: 'x' }, { 'if-claim': 'x' })],
    ['input', 400, () => service.send(ann.write, 'PATCH', path, { name: 'x' }, { 'idempotency-key': '' })],
    ['run', 200, () => service.send(ann.read, 'GET', path, undefined, { 'if-claim': 'x', 'idempotency-key': '' })],
  ])('has the stage %s after an answer with %i', async (stage, status, send) => {
    await send()
    const record = service.records.at(-1)
    expect(record).toMatchObject({ stage, status, attempts: 1 })
    for (const name of ['created', 'claimed', 'vectors', 'dryRun']) if (status === 200) expect(record).not.toHaveProperty(name)
  })

  test('says whether something other than the stored answer was changed', async () => {
    const effectOf = async (name: string, key: string) => {
      await service.send(ann.write, 'PATCH', path, { name }, { 'idempotency-key': key })
      return service.records.at(-1)!.effect
    }
    expect([await effectOf('Same', `${board.id}-1`), await effectOf('Same', `${board.id}-2`)]).toEqual(['done', undefined])
  })

  test('of a write has the created resource, and says whether the request was a dry run or a repetition', async () => {
    const create = async (query: string, key?: string) => {
      const { body, headers } = await service.send(
        ann.write,
        'POST',
        `/boards${query}`,
        { name: 'x' },
        key === undefined ? {} : { 'idempotency-key': key },
      )
      const { created, dryRun, replayed, stage, operation } = service.records.at(-1)!
      return [created === body.data.id, dryRun, replayed, stage, operation, headers.get('location') === `/v1/boards/${body.data.id}`]
    }
    expect([await create(''), await create('?dry_run=true', 'k'), await create('', 'k'), await create('', 'k')]).toEqual([
      [true, undefined, undefined, 'run', 'boards.create', true],
      [false, true, undefined, 'run', 'boards.create', false],
      [true, undefined, undefined, 'run', 'boards.create', true],
      [false, undefined, true, 'idempotency', 'boards.create', true],
    ])
    expect((await service.send(ann.write, 'POST', '/boards', { name: 'y' }, { 'idempotency-key': 'k' })).status).toBe(422)
    expect(service.records.at(-1)).toMatchObject({ stage: 'idempotency', code: 'idempotency_key_reused' })
  })
})
