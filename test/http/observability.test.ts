import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { Metrics } from '../../src/metrics.ts'
import { decorateStore, StorageUnavailable } from '../../src/store/port.ts'
import { drivers } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'
import { startProcess, type RunningProcess } from '../support/process.ts'
import { engine } from '../support/service.ts'

test.each(drivers)('/healthz answers while the process runs, and /readyz only while storage is reachable, on $name', async (driver) => {
  const opened = await driver.open()
  let fails = false
  const store = decorateStore(opened.store, {
    ready: () => (fails ? Promise.reject(new StorageUnavailable('gone')) : opened.store.ready()),
  })
  const app = createApp({ store, blobs: opened.blobs, log: quiet, engine })
  const get = async (path: string) => {
    const response = await app.fetch(new Request(`http://x${path}`))
    return [response.status, await response.json(), response.headers.get('retry-after'), response.headers.get('cache-control')]
  }
  expect(await get('/healthz')).toEqual([200, { status: 'alive' }, null, 'no-store'])
  expect(await get('/readyz')).toEqual([200, { status: 'ready', storage: driver.name, policy: engine.hash }, null, 'no-store'])
  fails = true
  expect(await get('/healthz')).toEqual([200, { status: 'alive' }, null, 'no-store'])
  expect(await get('/readyz')).toEqual([503, { status: 'not ready', storage: driver.name }, '1', 'no-store'])
  await opened.store.close()
  await opened.blobs.close()
})

describe('metrics for Prometheus', () => {
  let service: RunningProcess
  let world: any
  let metricsUrl: string
  beforeAll(async () => {
    service = startProcess(['--json', '--metrics', '0'], { LANEKEEPER_ACCESS_LOG: 'on' })
    world = JSON.parse(await service.until('\n'))
    metricsUrl = /metrics are served at (http:\S+\/metrics)/.exec(service.stderr())![1]!
  })
  afterAll(() => service.stop())

  const readMetrics = async () => (await fetch(metricsUrl)).text()
  /** The value of a metric with these labels; 0 if it was not counted yet. */
  const valueOf = async (metric: string) =>
    Number(new RegExp(`^${metric.replaceAll(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(await readMetrics())?.[1] ?? 0)
  const send = (path: string, token: string, method = 'GET') =>
    fetch(`${world.url}/v1${path}`, { method, headers: { authorization: `Bearer ${token}` } })

  test('requests are counted by operation and status, and decisions by stage, row and outcome', async () => {
    const reader = world.tokens.find(({ scopes }: any) => scopes[0] === 'kanban:read').token
    const hidden = world.boards.find(({ visibility }: any) => visibility === 'private')
    const outsider = world.tokens.find(
      ({ user_id, workspace_id, state, scopes }: any) =>
        state === 'active' &&
        scopes[0] === 'kanban:read' &&
        workspace_id === hidden.workspace_id &&
        user_id !== hidden.creator_id &&
        !hidden.member_ids.includes(user_id),
    ).token
    for (const [metric, request] of [
      ['lanekeeper_requests_total{operation="account.read",status="200"}', () => send('/account', reader)],
      ['lanekeeper_requests_total{operation="none",status="401"}', () => send('/account', 'nonsense')],
      ['lanekeeper_requests_total{operation="none",status="404"}', () => send('/nonsense', reader)],
      [
        'lanekeeper_decisions_total{stage="scope",row="S3",outcome="insufficient_scope"}',
        () => send(`/boards/${hidden.id}`, reader, 'DELETE'),
      ],
      [
        'lanekeeper_decisions_total{stage="permission",row="board.access",outcome="not_found"}',
        () => send(`/boards/${hidden.id}`, outsider),
      ],
    ] as const) {
      const before = await valueOf(metric)
      await request()
      expect([metric, (await valueOf(metric)) - before]).toEqual([metric, 1])
    }
  })

  test('the duration of each request is measured by operation and status', async () => {
    const metric = 'lanekeeper_request_seconds_count{operation="account.read",status="200"}'
    const before = await valueOf(metric)
    await send('/account', world.tokens[0].token)
    expect((await valueOf(metric)) - before).toBe(1)
    expect(await valueOf(metric.replace('_count', '_sum'))).toBeGreaterThan(0)
  })

  test('the process itself is measured', async () => {
    for (const metric of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds'])
      expect([metric, await valueOf(metric)]).toEqual([metric, expect.any(Number)])
    expect(await valueOf('process_resident_memory_bytes')).toBeGreaterThan(0)
  })

  test('the access log has one line for each request, with ids and without what users wrote', async () => {
    const { token } = world.tokens.find(({ state, scopes }: any) => state === 'active' && scopes[0] === 'kanban:write')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`${world.url}/v1/boards?x=secret-query`, { method: 'POST', headers, body: '{"name":"secret-name"}' })
    const requestId = response.headers.get('x-request-id')!
    await expect.poll(() => service.stderr()).toContain(requestId)
    const lines = service
      .stderr()
      .split('\n')
      .filter((line) => line.includes(requestId))
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        pid: service.child.pid,
        hostname: expect.any(String),
        event: 'request',
        request_id: requestId,
        method: 'POST',
        operation: 'boards.create',
        status: 422,
        code: 'validation_failed',
        ms: expect.any(Number),
        token_id: expect.stringMatching(/^tok_/),
        workspace_id: expect.stringMatching(/^wsp_/),
        attempts: 1,
        msg: 'request',
      },
    ])
  })

  test('the duration of storage calls is measured by step and outcome', async () => {
    for (const step of ['read', 'commit'])
      expect(await valueOf(`lanekeeper_storage_seconds_count{step="${step}",outcome="done"}`)).toBeGreaterThan(0)
  })

  test('metrics contain neither tokens nor ids', async () => {
    expect(await readMetrics()).not.toMatch(/lk_pat_|usr_|brd_|wsp_/)
  })

  test('metrics are not served on the public port, and their port serves nothing else', async () => {
    expect((await fetch(`${world.url}/metrics`)).status).toBe(404)
    expect((await fetch(metricsUrl.replace('/metrics', '/v1/account'))).status).toBe(404)
    expect((await fetch(metricsUrl, { method: 'POST' })).status).toBe(404)
  })

  test('commits that fail because of a concurrent commit are counted', async () => {
    const metrics = new Metrics()
    const opened = await drivers[0]!.open()
    const store = metrics.measure(opened.store)
    const expected = { records: new Map([['user:a', 'another revision']]), indexes: new Map(), capacity: new Map() }
    const change = { revision: 'r', expect: expected, put: new Map(), remove: new Set<string>(), indexes: new Map() }
    expect(await store.commit('global', change)).toBe('conflict')
    expect(await metrics.registry.metrics()).toMatch(/^lanekeeper_commit_conflicts_total 1$/m)
    await store.close()
  })
})

test('the service does not start if the address for metrics is invalid or cannot be used', async () => {
  const invalid = startProcess(['--metrics', '127.0.0.1:many'])
  await new Promise((resolve) => invalid.child.on('close', resolve))
  expect(invalid.stderr()).toBe('metrics: "many" is not a port number from 0 to 65535\n')
  const unusable = startProcess(['--metrics', '1.2.3.4:9'])
  expect(await new Promise((resolve) => unusable.child.on('close', resolve))).toBe(2)
  expect(unusable.stderr()).toMatch(/^cannot serve metrics on 1\.2\.3\.4, port 9: /)
})
