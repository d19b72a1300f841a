import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { DecisionLog } from '../../src/decision-log/log.ts'
import { Metrics } from '../../src/metrics.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { recordUses, TestBoard } from '../support/board.ts'
import { FOLDER, linesOf, logDisk, PATH, recordRequests, verify } from '../support/decision-log.ts'
import type { FaultyDisk } from '../support/faulty-disk.ts'
import { memory } from '../support/memory.ts'
import { diskError, recordDisk, type RecordingDisk } from '../support/recording-disk.ts'
import { Service, type Person, type ServiceOptions } from '../support/service.ts'

let service: Service
let ann: Person
let bob: Person
let disk: RecordingDisk
let log: DecisionLog
/** the operations of the disk that fail */
let fails: RegExp | undefined
const start = async (options: Parameters<typeof recordRequests>[2] = {}) => {
  disk = recordDisk(await logDisk(), (operation) => {
    if (fails?.test(operation)) throw diskError('ENOSPC')
  })
  log = await recordRequests(service, disk, options)
}
async function startService(options: ServiceOptions = {}): Promise<void> {
  fails = undefined
  service = await Service.start(memory, options)
  const workspaceId = await service.workspace()
  ann = await service.person(workspaceId, 'member', 'Ann')
  bob = await service.person(workspaceId, 'member', 'Bob')
  await recordUses(service, ann, bob)
  // The rates begin again.
  service.now += 60_000
  await start()
}
beforeEach(() => startService())
afterEach(async () => {
  await service.stop()
  vi.useRealTimers()
})
const create = (name: string, token = ann.write) => service.send(token, 'POST', '/boards', { name })
const names = async () => (await service.send(ann.read, 'GET', '/boards')).body.data.map(({ name }: any) => name)
const records = async () => (await log.flush(), (await linesOf(disk)).slice(1))

const REFUSED = {
  code: 'unavailable',
  outcome: 'not_done',
  message: 'The decision log cannot take the record of this request. Nothing was changed. Try again soon.',
}

describe('when the disk of the decision log is full', () => {
  test('a write is refused before its commit, and the next ones before anything is read', async () => {
    fails = /^write/
    const first = await create('One')
    expect({ status: first.status, retryAfter: first.headers.get('retry-after'), error: first.body.error }).toMatchObject({
      status: 503,
      retryAfter: '1',
      error: REFUSED,
    })
    const { trips } = service.store
    expect((await create('Two')).body.error).toMatchObject(REFUSED)
    expect((await service.send(null, 'GET', '/boards')).status).toBe(503)
    expect(service.store.trips).toBe(trips)
    fails = undefined
    expect(await names()).toEqual([])
    expect(await records()).toMatchObject([{ kind: 'refused', count: 3 }, { kind: 'list' }])
    expect(log.counts.refused).toBe(3)
  })

  test('a read that was already decided is refused, too', async () => {
    let isDecided = false
    await start({ sync: 'always' })
    service.store.beforeRead = async () => {
      isDecided = true
      fails = /^write/
    }
    const reply = await service.send(ann.read, 'GET', '/account')
    expect({ isDecided, status: reply.status, error: reply.body.error }).toMatchObject({ isDecided: true, status: 503, error: REFUSED })
  })

  test('the bytes of an upload that was refused are removed', async () => {
    const board = await TestBoard.create(service, ann)
    const card = await board.card(await board.column())
    fails = /^write/
    expect((await board.attach(card)).status).toBe(503)
    expect(await service.blobKeys()).toEqual([])
  })

  test('with `drop` requests succeed, and the records that are missing are counted', async () => {
    await start({ onFull: 'drop' })
    fails = /^write/
    expect((await create('One')).status).toBe(201)
    fails = undefined
    expect((await create('Two')).status).toBe(201)
    expect(await records()).toMatchObject([{ kind: 'dropped', count: 1 }, { operation: 'boards.create' }])
    const metrics = new Metrics()
    metrics.watchLog(() => log.counts)
    const text = await metrics.read()
    for (const line of ['records_total 1', 'dropped_total 1', 'refused_total 0'])
      expect(text).toContain(`lanekeeper_decision_log_${line}\n`)
  })
})

describe('a commit that is not made', () => {
  test('after a conflict is withdrawn, and the next attempt has its own record', async () => {
    const { id } = (await create('One')).body.data
    const before = (await records()).length
    service.store.beforeCommit = async () => void (await service.send(ann.write, 'PATCH', `/boards/${id}`, { name: 'Other' }))
    expect((await service.send(ann.write, 'PATCH', `/boards/${id}`, { name: 'Two' })).status).toBe(200)
    const [first, other, withdrawn, second] = (await records()).slice(before)
    expect({ first, other, withdrawn, second }).toMatchObject({
      first: { kind: 'decision', effect: 'commit', attempts: 1 },
      other: { kind: 'decision', effect: 'commit', attempts: 1 },
      withdrawn: { kind: 'outcome', of: first.n, outcome: 'not_done', request_id: first.request_id },
      second: { kind: 'decision', effect: 'commit', attempts: 2, request_id: first.request_id },
    })
    expect(await records()).toHaveLength(before + 4)
  })

  test.each([
    [true, 'not_done'],
    [false, 'unknown'],
  ] as const)('because storage is unavailable is withdrawn; outcome known: %s', async (outcomeKnown, outcome) => {
    service.store.beforeCommit = async () => {
      throw new StorageUnavailable('gone', { outcomeKnown })
    }
    expect((await create('One')).status).toBe(503)
    expect(await records()).toMatchObject([
      { effect: 'commit', status: 201 },
      { kind: 'outcome', outcome },
      { effect: 'none', status: 503, code: 'unavailable' },
    ])
  })

  test('with an unknown outcome is still answered so when the log fails afterwards', async () => {
    service.store.beforeCommit = async () => {
      fails = /^write/
      throw new StorageUnavailable('gone', { outcomeKnown: false })
    }
    expect((await create('One')).body.error).toMatchObject({ code: 'unavailable', outcome: 'unknown' })
  })
})

test('with `always`, no response is sent before its record is synced', async () => {
  await start({ sync: 'always' })
  for (const send of [() => create('One'), () => service.send(ann.read, 'GET', '/boards'), () => service.send(null, 'GET', '/boards')]) {
    const before = (await linesOf(disk)).length
    await send()
    expect(disk.operations.slice(-2)).toEqual([`write ${PATH}`, `sync ${PATH}`])
    expect(await linesOf(disk)).toHaveLength(before + 1)
  }
})

/** Creates boards while one operation of the disk fails. @returns the boards without a record, and how many were refused */
async function createUnderFault(fault: FaultyDisk['fault'] | undefined, seed: number, log: typeof recordRequests = recordRequests) {
  const faulty = await logDisk(seed)
  let now = 0
  await log(service, faulty, { sync: 'always', maxBytes: 1300, now: () => (now += 400) })
  const begun = faulty.operations
  if (fault !== undefined) faulty.fault = { ...fault, at: begun + fault.at }
  const replies = []
  for (let i = 0; i < 4; i++) replies.push(await create(`${seed}`, i % 2 === 0 ? ann.write : bob.write))
  const operations = faulty.operations - begun
  faulty.fault = undefined
  const files = await Promise.all(
    (await faulty.list(FOLDER)).map((name) => `${FOLDER}/${name}`).toSorted((a, b) => Number(a === PATH) - Number(b === PATH)),
  )
  const lines = (await Promise.all(files.map((path) => linesOf(faulty, path)))).flat()
  const recorded = new Set(lines.filter(({ effect, status }) => effect === 'commit' && status === 201).map(({ request_id }) => request_id))
  const { findings } = await verify((await Promise.all(files.map((path) => faulty.read(path)))) as Buffer[])
  const done = replies.filter(({ status }) => status === 201)
  return {
    operations,
    findings,
    done,
    refused: replies.length - done.length,
    lost: done.filter((one) => !recorded.has(one.headers.get('x-request-id'))),
  }
}

test('whatever fails on the disk, every commit has its record, and no refused change was made', async () => {
  const boards = async () => (await service.recordKeys(ann.workspaceId)).filter((key) => key.startsWith('board:'))
  const { operations, done: all } = await createUnderFault(undefined, 0)
  expect(operations).toBeGreaterThan(12)
  expect(all.length).toBe(4)
  let created = all.length
  let refusals = 0
  for (let at = 1; at <= operations; at++)
    for (const [kind, effect] of [
      ['EIO', 'none'],
      ['EIO', 'full'],
      ['ENOSPC', 'partial'],
    ] as const)
      // prettier-ignore
      for (const permanent of [true, false]) {
        const { findings, lost, done, refused } = await createUnderFault({ at, kind, effect, permanent }, at)
        const stored = await boards()
        expect({ at, kind, effect, permanent, findings, lost }).toEqual({ at, kind, effect, permanent, findings: 0, lost: [] })
        expect(done.filter(({ body }) => !stored.includes(`board:${body.data.id}`))).toEqual([])
        created += done.length
        expect(stored).toHaveLength(created)
        refusals += refused
      }
  expect(refusals).toBeGreaterThan(operations)
})

describe('refusals that decided nothing', () => {
  /** Lines of one source in a second. */
  const MOST = 10
  const LIMIT = 20
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await service.stop()
    await startService({ rateLimits: { quotas: { token: LIMIT, workspace: 10_000, address: 30 } } })
  })
  const kinds = async () => {
    const counts = new Map<string, number>()
    for (const { kind } of await records()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
    return [...counts]
  }
  const send = (token: string | null, path = '/account') => service.send(token, 'GET', path)
  async function flood(token: string | null, count: number): Promise<Record<string, number>> {
    const statuses: Record<string, number> = {}
    for (let i = 0; i < count; i++) {
      const { status } = await send(token)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
    return statuses
  }
  /** The ids of a person's token for reads, as the log has them. */
  const sourceOf = async ({ id, read }: Person) => ({ user_id: id, token_id: (await send(read)).body.data.token.id })

  test('of requests without a valid token have at most ten lines in a second, and one line counts the others', async () => {
    expect(await flood('lk_pat_wrong', 300)).toEqual({ 401: 30, 429: 270 })
    expect(await flood(null, 200)).toEqual({ 429: 200 })
    expect(await kinds()).toEqual([['refusal', MOST]])
    await vi.advanceTimersByTimeAsync(1000)
    expect((await records()).at(-1)).toMatchObject({
      time: '2026-11-20T12:00:00.000Z',
      kind: 'left_out',
      token_id: null,
      user_id: null,
      count: 500 - MOST,
    })
    await flood(null, 5)
    expect(await kinds()).toEqual([
      ['refusal', MOST + 5],
      ['left_out', 1],
    ])
  })

  test('because of a rate limit count by token: the refusals of one do not hide the refusals of another', async () => {
    const [ofAnn, ofBob] = [await sourceOf(ann), await sourceOf(bob)]
    expect(await flood(ann.read, 200)).toEqual({ 200: LIMIT - 1, 429: 181 })
    expect(await flood(bob.read, 22)).toEqual({ 200: LIMIT - 1, 429: 3 })
    await vi.advanceTimersByTimeAsync(1000)
    const found = await records()
    const refusals = found.filter(({ kind }) => kind === 'refusal')
    expect(refusals.every(({ stage, code }) => stage === 'rate_limit' && code === 'rate_limited')).toBe(true)
    const ofToken = ({ token_id }: { readonly token_id: string }) => refusals.filter((line) => line.token_id === token_id).length
    expect({ ofAnn: ofToken(ofAnn), ofBob: ofToken(ofBob) }).toEqual({ ofAnn: MOST, ofBob: 3 })
    expect(found.filter(({ kind }) => kind === 'left_out')).toMatchObject([{ ...ofAnn, count: 181 - MOST }])
    // Each request that was admitted has its own line.
    expect(found.filter(({ kind }) => kind === 'decision')).toHaveLength(2 * LIMIT)
  })

  test('leave out nothing else: an admitted request always has its line', async () => {
    await flood(null, 100)
    const paths = ['/nothing', '/boards?limit=x', '/boards/brd_00000000000000000000']
    for (let i = 0; i < 6; i++) for (const path of paths) await send(ann.read, path)
    expect((await service.send(ann.write, 'POST', '/boards', { name: 'New' })).status).toBe(201)
    const stages = (await records()).slice(MOST).map(({ stage, kind }) => stage ?? kind)
    expect(stages).toEqual([...Array.from({ length: 6 }, () => ['route', 'input', 'absence']).flat(), 'decision'])
  })

  test('are counted when the log is closed', async () => {
    await flood(null, 25)
    await log.close()
    expect((await linesOf(disk)).at(-1)).toMatchObject({ kind: 'left_out', count: 25 - MOST })
  })

  test('are still counted if the line that counts them is dropped', async () => {
    await start({ onFull: 'drop' })
    await flood(null, 25)
    await log.flush()
    fails = /^write/
    await vi.advanceTimersByTimeAsync(1000)
    await log.flush()
    fails = undefined
    await send(ann.read)
    expect((await records()).slice(MOST)).toMatchObject([{ kind: 'dropped', count: 25 - MOST }, { kind: 'decision' }])
  })
})
