import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { AuditRecorder } from '../../src/audit/recorder.ts'
import { readTrail } from '../../src/audit/trail.ts'
import type { AuditBatch, AuditEntry } from '../../src/model/audit.ts'
import { newId, systemRandom } from '../../src/model/ids.ts'
import { DAY } from '../../src/model/time.ts'
import { decorateStore, StorageUnavailable, type Store } from '../../src/store/port.ts'
import { drivers, type Driver } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'

const USER = newId('user', systemRandom)
const OTHER = newId('user', systemRandom)
const entry = (request_id: string, changes: Partial<AuditEntry> = {}): AuditEntry => ({
  at: '2026-11-20T12:00:00.000Z',
  user_id: USER,
  token_id: null,
  token_name: null,
  operation: 'cards.update',
  ids: [],
  rows: ['S2'],
  outcome: 'done',
  status: 200,
  code: null,
  request_id,
  address: null,
  agent: null,
  ...changes,
})
const idsOf = (entries: readonly AuditEntry[]) => entries.map(({ request_id }) => request_id)
/** Registers the hooks of a suite with a service and a workspace for each test. */
function setUpTrail(driver: Driver) {
  const setup = {} as { service: Service; workspace: string }
  beforeEach(async () => {
    const service = await Service.start(driver)
    Object.assign(setup, { service, workspace: await service.workspace() })
  })
  afterEach(() => setup.service.stop())
  /** The ids of all entries, newest first. */
  const recorded = async () => {
    const sources = [{ partition: setup.workspace }]
    return idsOf((await readTrail(setup.service.deps, { sources, matches: () => true, limit: 10_000 })).entries)
  }
  return { setup, recorded }
}

/** A store whose commits of audit batches fail as often as stated. */
function failing(store: Store, failures: { left: number; isKnown: boolean }): Store {
  return decorateStore(store, {
    async commit(partition, change) {
      const isAudit = [...change.put.keys()].some((key) => key.startsWith('audit:'))
      if (!isAudit || failures.left === 0) return store.commit(partition, change)
      failures.left--
      if (!failures.isKnown) await store.commit(partition, change)
      throw new StorageUnavailable('seeded', { outcomeKnown: failures.isKnown })
    },
  })
}

/** No measure of speed. */
const BOUND = { timeout: 60_000 }

describe('the recorder of the audit trail', () => {
  const { setup, recorded } = setUpTrail(memory)

  test('appends full batches at once, and the rest when its interval has passed', async () => {
    onTestFinished(() => void vi.useRealTimers())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { service, workspace } = setup
    const recorder = new AuditRecorder(service.deps, quiet, { batch: 3 })
    for (let i = 0; i < 4; i++) recorder.add(workspace, entry(String(i)))
    await vi.waitFor(async () => expect(await recorded()).toEqual(['2', '1', '0']), BOUND)
    service.now += 1
    await vi.advanceTimersByTimeAsync(1000)
    await vi.waitFor(async () => expect(await recorded()).toEqual(['3', '2', '1', '0']), BOUND)
    expect(recorder.counts).toEqual({ written: 4, dropped: 0 })
  })

  test.each([true, false])('tries a batch again when storage fails, and writes it once (outcome known: %s)', async (isKnown) => {
    const { service, workspace } = setup
    const recorder = new AuditRecorder({ ...service.deps, store: failing(service.store, { left: 2, isKnown }) }, quiet, {
      interval: 1,
      batch: 2,
    })
    for (const id of ['a', 'b']) recorder.add(workspace, entry(id))
    await vi.waitFor(() => expect(recorder.counts).toEqual({ written: 2, dropped: 0 }), BOUND)
    expect(await recorded()).toEqual(['b', 'a'])
  })

  test('drops and counts what storage does not take, and what exceeds its memory', async () => {
    const { service, workspace } = setup
    const failures = { left: Infinity, isKnown: true }
    const warnings: unknown[] = []
    const log = Object.assign(Object.create(quiet) as typeof quiet, { warn: (details: { event: string }) => warnings.push(details.event) })
    const recorder = new AuditRecorder({ ...service.deps, store: failing(service.store, failures) }, log, { waiting: 3 })
    for (let i = 0; i < 5; i++) recorder.add(workspace, entry(String(i)))
    expect(recorder.counts).toEqual({ written: 0, dropped: 2 })
    await recorder.flush()
    expect(recorder.counts).toEqual({ written: 0, dropped: 5 })
    expect(warnings).toEqual(['audit.dropped', 'audit.failed'])
    failures.left = 0
    recorder.add(workspace, entry('later'))
    await recorder.flush()
    expect(await recorded()).toEqual(['later'])
  })
})

describe.each(drivers)('the audit trail, on $name', (driver) => {
  const { setup, recorded } = setUpTrail(driver)

  test('of several processes and workspaces is read in pages, newest first, by user', async () => {
    const { service, workspace: first } = setup
    const second = await service.workspace()
    const recorders = [0, 1].map(() => new AuditRecorder(service.deps, quiet, { batch: 2 }))
    const added: string[] = []
    for (let i = 0; i < 12; i++) {
      service.now += 1000
      const user_id = i % 3 === 0 ? OTHER : USER
      recorders[i % 2]!.add(i % 4 < 2 ? first : second, entry(String(i), { user_id, ...(i === 9 && { subject_id: USER }) }))
      await recorders[i % 2]!.flush()
      if (user_id === USER || i === 9) added.unshift(String(i))
    }
    const sources = [first, second].map((partition) => ({ partition, userId: USER }))
    const pages: string[][] = []
    let before: string | undefined
    do {
      const page = await readTrail(service.deps, { sources, matches: () => true, limit: 3, before })
      pages.push(idsOf(page.entries))
      before = page.next
    } while (before !== undefined)
    expect(pages.flat()).toEqual(added)
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 3])
  })

  test('is removed when it is too old, and nothing before', async () => {
    const { service, workspace } = setup
    const begin = service.now
    const age = 10 * DAY
    for (let day = 0; day < 3; day++) {
      service.now = begin + day * DAY
      const recorder = new AuditRecorder(service.deps, quiet)
      recorder.add(workspace, entry(`day ${day}`))
      await recorder.flush()
    }
    const leftAfter = async (days: number) => {
      service.now = begin + days * DAY
      await collectGarbage({ ...service.adminDeps, auditAge: age }, workspace)
      return recorded()
    }
    expect(await leftAfter(9.9)).toEqual(['day 2', 'day 1', 'day 0'])
    expect(await leftAfter(11.9)).toEqual(['day 2'])
    expect(await leftAfter(13.9)).toEqual([])
    expect((await service.recordKeys(workspace)).filter((key) => /^(audit|tombstone):/.test(key))).toEqual([])
  })

  test('names in each batch everyone whom its entries concern', async () => {
    const { service, workspace } = setup
    const recorder = new AuditRecorder(service.deps, quiet)
    recorder.add(workspace, entry('a', { subject_id: OTHER }))
    recorder.add(workspace, entry('b', { user_id: null }))
    await recorder.flush()
    const key = (await service.recordKeys(workspace)).find((one) => one.startsWith('audit:'))
    const batch = (await service.write(workspace, (tx) => tx.get(key!))) as AuditBatch
    expect(new Set(batch.users)).toEqual(new Set([USER, OTHER]))
  })
})
