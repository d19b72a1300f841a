import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
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

describe('a service with metrics and an access log', () => {
  let service: RunningProcess
  let world: any
  let metricsUrl: string
  beforeAll(async () => {
    service = startProcess(['--json', '--metrics', '0'], { LANEKEEPER_ACCESS_LOG: 'on' })
    world = JSON.parse(await service.until('\n'))
    metricsUrl = /metrics are served at (http:\S+\/metrics)/.exec(service.stderr())![1]!
  })
  afterAll(() => service.stop())

  test('serves metrics of requests, storage and the process, without tokens and ids', async () => {
    const reader = world.tokens.find(({ scopes }: any) => scopes[0] === 'kanban:read').token
    await (await fetch(`${world.url}/v1/account`, { headers: { authorization: `Bearer ${reader}` } })).text()
    const text = await (await fetch(metricsUrl)).text()
    for (const metric of [
      'lanekeeper_requests_total{operation="account.read",status="200"}',
      'lanekeeper_request_seconds_sum{operation="account.read",status="200"}',
      'lanekeeper_storage_seconds_count{step="read",outcome="done"}',
      'lanekeeper_storage_seconds_count{step="commit",outcome="done"}',
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
    ])
      expect([
        metric,
        Number(
          text
            .split('\n')
            .find((line) => line.startsWith(`${metric} `))
            ?.slice(metric.length),
        ) > 0,
      ]).toEqual([metric, true])
    expect(text).toContain('\nnodejs_eventloop_lag_p99_seconds ')
    expect(text).not.toMatch(/lk_pat_|usr_|brd_|wsp_/)
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

  test('metrics are not served on the public port, and their port serves nothing else', async () => {
    expect((await fetch(`${world.url}/metrics`)).status).toBe(404)
    expect((await fetch(metricsUrl.replace('/metrics', '/v1/account'))).status).toBe(404)
    expect((await fetch(metricsUrl, { method: 'POST' })).status).toBe(404)
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
