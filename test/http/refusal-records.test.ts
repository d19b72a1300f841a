import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { DecisionLog } from '../../src/decision-log/log.ts'
import { Replay } from '../../src/decision-log/replay.ts'
import { isChain, linesOf, logDisk, PATH, recordRequests, verify } from '../support/decision-log.ts'
import type { FaultyDisk } from '../support/faulty-disk.ts'
import { memory } from '../support/memory.ts'
import { diskError, recordDisk } from '../support/recording-disk.ts'
import { engine, Service, type Person } from '../support/service.ts'

/** Lines of one source in a second. */
const MOST = 10
const LIMIT = 20
let service: Service
let ann: Person
let bob: Person
let disk: FaultyDisk
let log: DecisionLog
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  service = await Service.start(memory, { rateLimits: { quotas: { token: LIMIT, workspace: 10_000, address: 30 } } })
  const workspaceId = await service.workspace()
  ann = await service.person(workspaceId, 'member', 'Ann')
  bob = await service.person(workspaceId, 'member', 'Bob')
  disk = await logDisk()
  log = await recordRequests(service, disk)
})
afterEach(async () => {
  vi.useRealTimers()
  await service.stop()
})
/** The lines after the first one. */
const lines = async () => (await log.flush(), (await linesOf(disk)).slice(1))
const kinds = async () => {
  const counts = new Map<string, number>()
  for (const { kind } of await lines()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
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

describe('refusals that decided nothing', () => {
  test('of requests without a valid token have at most ten lines in a second, and one line counts the others', async () => {
    expect(await flood('lk_pat_wrong', 300)).toEqual({ 401: 30, 429: 270 })
    expect(await flood(null, 200)).toEqual({ 429: 200 })
    expect(await kinds()).toEqual([['refusal', MOST]])
    await vi.advanceTimersByTimeAsync(1000)
    expect((await lines()).at(-1)).toMatchObject({
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

  test('because of a rate limit count by token: the refusals of one do not hide those of another', async () => {
    const [ofAnn, ofBob] = [await sourceOf(ann), await sourceOf(bob)]
    expect(await flood(ann.read, 200)).toEqual({ 200: LIMIT - 1, 429: 181 })
    expect(await flood(bob.read, 22)).toEqual({ 200: LIMIT - 1, 429: 3 })
    await vi.advanceTimersByTimeAsync(1000)
    const found = await lines()
    const refusals = found.filter(({ kind }) => kind === 'refusal')
    expect(refusals.every(({ stage, code }) => stage === 'rate_limit' && code === 'rate_limited')).toBe(true)
    const ofToken = ({ token_id }: { readonly token_id: string }) => refusals.filter((line) => line.token_id === token_id).length
    expect([ofToken(ofAnn), ofToken(ofBob)]).toEqual([MOST, 3])
    expect(found.filter(({ kind }) => kind === 'left_out')).toMatchObject([{ ...ofAnn, count: 181 - MOST }])
    // Each request that was admitted has its own line.
    expect(found.filter(({ kind }) => kind === 'decision')).toHaveLength(2 * LIMIT)
  })

  test('leave out nothing else: what was admitted always has its line', async () => {
    await flood(null, 100)
    const paths = ['/nothing', '/boards?limit=x', '/boards/brd_00000000000000000000']
    for (let i = 0; i < 6; i++) for (const path of paths) await send(ann.read, path)
    expect((await service.send(ann.write, 'POST', '/boards', { name: 'New' })).status).toBe(201)
    const stages = (await lines()).slice(MOST).map(({ stage, kind }) => stage ?? kind)
    expect(stages).toEqual([...Array.from({ length: 6 }, () => ['route', 'input', 'absence']).flat(), 'decision'])
  })

  test('leave a log that is intact and can be replayed', async () => {
    await flood(null, 100)
    await flood(ann.read, 100)
    await vi.advanceTimersByTimeAsync(1000)
    await flood(null, 100)
    await log.close()
    const text = (await disk.read(PATH))!.toString()
    expect([isChain(text), (await verify([text])).found]).toEqual([true, []])
    const replay = new Replay(engine)
    for (const [i, line] of text.trimEnd().split('\n').entries()) expect(replay.add(line, { file: PATH, line: i + 1 })).toBe(true)
    // Both stages of each answer.
    expect([replay.records, replay.decisions, replay.differences]).toEqual([LIMIT, 2 * LIMIT, []])
  })

  test('are counted when the log is closed', async () => {
    await flood(null, 25)
    await log.close()
    expect((await linesOf(disk)).at(-1)).toMatchObject({ kind: 'left_out', count: 25 - MOST })
  })

  test('are still counted if the line that counts them is dropped', async () => {
    let isFull = false
    const full = recordDisk(await logDisk(), (operation) => {
      if (isFull && operation.startsWith('write')) throw diskError('ENOSPC')
    })
    log = await recordRequests(service, full, { onFull: 'drop' })
    await flood(null, 25)
    await log.flush()
    isFull = true
    await vi.advanceTimersByTimeAsync(1000)
    await log.flush()
    isFull = false
    await send(ann.read)
    await log.flush()
    expect((await linesOf(full)).slice(1 + MOST)).toMatchObject([{ kind: 'dropped', count: 25 - MOST }, { kind: 'decision' }])
  })
})
