import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Metrics } from '../src/metrics.ts'
import { createDerivations } from '../src/resources/derived.ts'
import { decorateStore, type Store, type StoreMetrics } from '../src/store/port.ts'
import { createMemoryStore } from '../src/store/memory.ts'
import { TestBoard } from './support/board.ts'
import { change } from './support/changes.ts'
import { drivers } from './support/drivers.ts'
import { memory } from './support/memory.ts'
import { Service } from './support/service.ts'

/** What `/metrics` exposes for a store, and the names of the metrics. */
async function scrape(store: Store): Promise<{ text: string; names: string[] }> {
  const metrics = new Metrics()
  metrics.measure(store)
  metrics.watchLog(
    () => ({ written: 1, dropped: 2, refused: 3 }),
    async () => ({ free: 1, total: 2 }),
  )
  metrics.watchAudit(() => ({ written: 4, dropped: 5 }))
  metrics.watchDeliveries(() => ({ delivered: 21, failed: 22, waiting: 1.5 }))
  // The second time, each metric exists already.
  await metrics.read()
  const text = await metrics.read()
  return { text, names: [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!).toSorted() }
}

/** The rows of the table of the page. */
function documented(): string[] {
  const page = readFileSync(new URL('../src/metrics.md', import.meta.url), 'utf8')
  return [...page.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell]) => [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!))
}
const isDocumented = (name: string) => documented().some((row) => (row.endsWith('*') ? name.startsWith(row.slice(0, -1)) : name === row))

/** A store in memory that reports something else about its state. */
const storeWith = (metrics: () => Promise<StoreMetrics>): Store => decorateStore(createMemoryStore(createDerivations()), { metrics })

/** A state with all metrics. */
const all: StoreMetrics = {
  databaseBytes: 1,
  logBytes: 2,
  transactions: 11,
  rowsWritten: 12,
  checkpoints: 13,
  checkpointFailures: 3,
  checkpointSeconds: 2.5,
  freeBytes: 4,
  connections: { open: 5, closed: 6 },
  loadedPartitions: 7,
  loadedBytes: 8,
  partitionLoads: 9,
  partitionReleases: 10,
}

describe('the metrics', () => {
  test.each(drivers)('each metric is in the table of the page, on $name', async (driver) => {
    const { store } = await driver.open()
    const { names } = await scrape(store)
    expect(names.filter((name) => !isDocumented(name))).toEqual([])
    await store.close()
  })

  test('each row of the table of the page is a metric', async () => {
    const { names } = await scrape(storeWith(async () => all))
    const exposed = (row: string) => names.some((name) => (row.endsWith('*') ? name.startsWith(row.slice(0, -1)) : name === row))
    expect(documented().length).toBeGreaterThan(10)
    expect(documented().filter((row) => !exposed(row))).toEqual([])
  })

  test('the state of a store is exposed', async () => {
    const { text } = await scrape(storeWith(async () => all))
    const lines = [
      'lanekeeper_webhook_deliveries_total 21',
      'lanekeeper_webhook_failures_total 22',
      'lanekeeper_webhook_waiting_seconds 1.5',
      'lanekeeper_database_bytes 1',
      'lanekeeper_database_log_bytes 2',
      'lanekeeper_database_transactions_total 11',
      'lanekeeper_database_rows_total 12',
      'lanekeeper_checkpoints_total 13',
      'lanekeeper_checkpoint_failures_total 3',
      'lanekeeper_checkpoint_seconds 2.5',
      'lanekeeper_disk_free_bytes 4',
      'lanekeeper_loaded_workspaces 7',
      'lanekeeper_loaded_bytes 8',
      'lanekeeper_workspace_loads_total 9',
      'lanekeeper_workspace_releases_total 10',
      'lanekeeper_redis_connections{state="open"} 5',
      'lanekeeper_redis_connections{state="closed"} 6',
    ]
    expect(text.split('\n')).toEqual(expect.arrayContaining(lines))
  })

  test('metrics that do not apply to a driver are not exposed', async () => {
    const { names } = await scrape(createMemoryStore(createDerivations()))
    expect(names.filter((name) => /database|checkpoint|disk|loaded|_loads_|_releases_|redis/.test(name))).toEqual([])
  })

  test('a store whose state cannot be read does not hide the other metrics', async () => {
    const { names } = await scrape(storeWith(() => Promise.reject(new Error('no disk'))))
    expect(names).toContain('lanekeeper_requests_total')
  })

  test('the events of a store are counted', async () => {
    const metrics = new Metrics()
    const store = metrics.measure(createMemoryStore(createDerivations()))
    const lease = await store.takeLease('p')
    lease.end()
    const expected = { records: new Map([['user:a', 'another revision']]), indexes: new Map(), capacity: new Map() }
    expect(await store.commit('global', { ...change({}), expect: expected })).toBe('conflict')
    const text = await metrics.read()
    for (const line of ['commit_leases_total 1', 'commit_conflicts_total 1', 'storage_seconds_count{step="commit",outcome="conflict"} 1'])
      expect(text).toContain(`\nlanekeeper_${line}\n`)
  })

  test('requests are counted by operation and status, decisions by stage, row and outcome, refusals by limit', async () => {
    const rateLimits = { quotas: { token: 3, workspace: 100, address: 2 } }
    const service = await Service.start(memory, { rateLimits })
    const workspaceId = await service.workspace()
    const [ann, bob] = [await service.person(workspaceId), await service.person(workspaceId)]
    const hidden = await TestBoard.create(service, ann, 'private')
    service.records.length = 0
    await service.send(bob.read, 'GET', `/boards/${hidden.id}`)
    await service.send(bob.read, 'DELETE', `/boards/${hidden.id}`)
    for (const path of ['/boards', '/nonsense']) await service.send(bob.read, 'GET', path)
    for (let i = 0; i < 3; i++) await service.send(null, 'GET', '/account')
    const metrics = new Metrics()
    for (const record of service.records) metrics.observe(record)
    const lines = (await metrics.read()).split('\n').filter((line) => /^lanekeeper_(requests|decisions|rate_limited)_total\{/.test(line))
    expect(lines.toSorted()).toEqual(
      [
        'requests_total{operation="boards.read",status="404"} 1',
        'requests_total{operation="boards.delete",status="403"} 1',
        'requests_total{operation="boards.list",status="200"} 1',
        'requests_total{operation="none",status="429"} 2',
        'requests_total{operation="none",status="401"} 2',
        'decisions_total{stage="scope",row="S1",outcome="allowed"} 2',
        'decisions_total{stage="scope",row="S3",outcome="insufficient_scope"} 1',
        'decisions_total{stage="permission",row="board.access",outcome="not_found"} 1',
        'decisions_total{stage="list",row="read Board",outcome="allowed"} 0',
        'decisions_total{stage="list",row="read Board",outcome="not_found"} 0',
        'rate_limited_total{limit="token"} 1',
        'rate_limited_total{limit="address"} 1',
      ]
        .map((line) => `lanekeeper_${line}`)
        .toSorted(),
    )
    await service.stop()
  })

  test('work on cards is counted when it is done, also in a batch, and how long questions waited', async () => {
    const service = await Service.start(memory)
    const ann = await service.person(await service.workspace())
    const board = await TestBoard.create(service, ann)
    const column = await board.column()
    const cards = [await board.card(column), await board.card(column)]
    const [path, other] = cards.map((id) => `/cards/${id}`) as [string, string]
    await service.send(ann.admin, 'PATCH', `/columns/${column}`, { max_attempts: 2 })
    const send = (to: string, body?: object, headers = {}) => service.send(ann.write, 'POST', to, body, headers)
    const take = async (card: string): Promise<number> => (await service.send(ann.write, 'PUT', `${card}/claim`, {})).body.data.epoch
    const fail = (epoch: number | undefined, headers = {}, query = '') =>
      send(`${path}/claim/failure${query}`, { reason: 'No seed.' }, { ...(epoch && { 'if-claim': String(epoch) }), ...headers })
    const batch = (query: string, ...operations: object[]) => send(`/boards/${board.id}/batch${query}`, { operations })
    service.records.length = 0
    const epoch = await take(path)
    const failed = [
      await fail(epoch + 1),
      await fail(undefined),
      await fail(epoch, {}, '?dry_run=true'),
      await fail(epoch, { 'idempotency-key': 'k' }),
      // A repetition.
      await fail(epoch, { 'idempotency-key': 'k' }),
      await fail(await take(path)),
      // After the first one, there is nothing to forget any more. What writes nothing is not counted, so these are in one commit.
      await batch('', ...[1, 2, 3].map(() => ({ operation: 'cards.retry', params: { card_id: cards[0] } }))),
      await send(`${path}/retry`),
    ]
    expect(failed.map(({ status }) => status)).toEqual([412, 428, 200, 200, 200, 200, 200, 200])
    await send(`${path}/claim/question`, { question: 'Which?' }, { 'if-claim': String(await take(path)) })
    service.now += 600_000
    const asks = { operation: 'claims.ask', params: { card_id: cards[1] }, body: { question: 'Which?' }, if_claim: await take(other) }
    const answers = cards.map((card_id) => ({ operation: 'cards.answer', params: { card_id }, body: { body: 'This.' } }))
    // The second card has no question yet: nothing is done.
    const batches = [await batch('', ...answers), await batch('?dry_run=true', asks, ...answers), await batch('', asks, ...answers)]
    expect(batches.map(({ status }) => status)).toEqual([409, 200, 200])
    const metrics = new Metrics()
    for (const record of service.records) metrics.observe(record)
    const text = await metrics.read()
    const counted = [...text.matchAll(/^lanekeeper_work_total\{event="(\w+)"\} (\d+)$/gm)].map(([, event, count]) => [event, Number(count)])
    expect(Object.fromEntries(counted)).toEqual({ failed: 2, stuck: 1, retried: 1, asked: 2, answered: 2 })
    const valueOf = (name: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`lanekeeper_question_seconds${name} `))!
          .split(' ')[1],
      )
    expect({ count: valueOf('_count'), upTo300: valueOf('_bucket{le="300"}'), upTo900: valueOf('_bucket{le="900"}') }).toEqual({
      count: 2,
      upTo300: 1,
      upTo900: 2,
    })
    expect(valueOf('_sum')).toBeCloseTo(600, 0)
    await service.stop()
  })
})
