import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { Metrics } from '../../src/http/metrics.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { altered } from '../support/altered.ts'
import { drivers } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'
import { startProcess, type Running } from '../support/process.ts'

describe.each(drivers)('who watches over processes: $name', (driver) => {
  test('is told that it lives and that it is ready; not ready where storage is not', async () => {
    const place = await driver.open()
    let fails = false
    const store = altered(place.store, { ready: () => (fails ? Promise.reject(new StorageUnavailable('gone')) : place.store.ready()) })
    const app = createApp({ store, blobs: place.blobs, log: quiet })
    const ask = async (path: string) => {
      const response = await app.fetch(new Request(`http://x${path}`))
      return [response.status, await response.json(), response.headers.get('retry-after'), response.headers.get('cache-control')]
    }
    expect(await ask('/healthz')).toEqual([200, { status: 'alive' }, null, 'no-store'])
    expect(await ask('/readyz')).toEqual([200, { status: 'ready', storage: driver.name }, null, 'no-store'])
    fails = true
    expect(await ask('/healthz')).toEqual([200, { status: 'alive' }, null, 'no-store'])
    expect(await ask('/readyz')).toEqual([503, { status: 'not ready', storage: driver.name }, '1', 'no-store'])
    await place.store.close()
    await place.blobs.close()
  })
})

describe('figures for Prometheus', () => {
  let service: Running
  let world: any
  let metrics: string
  beforeAll(async () => {
    service = startProcess(['--json', '--metrics', '0'])
    world = JSON.parse(await service.until('\n'))
    metrics = /metrics are at (http:\S+\/metrics)/.exec(service.stderr())![1]!
  })
  afterAll(() => service.stop())

  const figure = async (line: string) =>
    Number(new RegExp(`^${line.replaceAll(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(await (await fetch(metrics)).text())?.[1] ?? 0)
  const ask = (path: string, token: string, method = 'GET') =>
    fetch(`${world.url}/v1${path}`, { method, headers: { authorization: `Bearer ${token}` } })

  test('count requests by operation and status, decisions by stage, row and outcome', async () => {
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
    const cases = [
      ['lanekeeper_requests_total{operation="account.read",status="200"}', () => ask('/account', reader)],
      ['lanekeeper_requests_total{operation="none",status="401"}', () => ask('/account', 'nonsense')],
      ['lanekeeper_requests_total{operation="none",status="404"}', () => ask('/nonsense', reader)],
      [
        'lanekeeper_decisions_total{stage="scope",row="S3",outcome="insufficient_scope"}',
        () => ask(`/boards/${hidden.id}`, reader, 'DELETE'),
      ],
      ['lanekeeper_decisions_total{stage="permission",row="P2",outcome="not_found"}', () => ask(`/boards/${hidden.id}`, outsider)],
    ] as const
    for (const [line, act] of cases) {
      const before = await figure(line)
      await act()
      expect([line, (await figure(line)) - before]).toEqual([line, 1])
    }
    expect(await figure('lanekeeper_storage_seconds_count{step="read",outcome="done"}')).toBeGreaterThan(0)
    expect(await figure('lanekeeper_storage_seconds_count{step="commit",outcome="done"}')).toBeGreaterThan(0)
    expect(await (await fetch(metrics)).text()).not.toMatch(/lk_pat_|usr_|brd_|wsp_/)
  })

  test('are not on the public port, and nothing else is on theirs', async () => {
    expect((await fetch(`${world.url}/metrics`)).status).toBe(404)
    expect((await fetch(metrics.replace('/metrics', '/v1/account'))).status).toBe(404)
    expect((await fetch(metrics, { method: 'POST' })).status).toBe(404)
  })

  test('tell of commits that found something changed', async () => {
    const measured = new Metrics()
    const place = await drivers[0]!.open()
    const store = measured.measure(place.store)
    const expected = { records: new Map([['user:a', 'not this']]), indexes: new Map(), capacity: new Map() }
    const change = { revision: 'r', expect: expected, put: new Map(), remove: new Set<string>(), indexes: new Map() }
    expect(await store.commit('global', change)).toBe('conflict')
    expect(await measured.registry.metrics()).toMatch(/^lanekeeper_commit_conflicts_total 1$/m)
    await store.close()
  })
})

test('an address for figures that is taken, or none, is said', async () => {
  const service = startProcess(['--metrics', '127.0.0.1:many'])
  await new Promise((resolve) => service.child.on('close', resolve))
  expect(service.stderr()).toBe('metrics: "many" is no port, which is a whole number from 0 to 65535\n')
  const taken = startProcess(['--metrics', '1.2.3.4:9'])
  expect(await new Promise((resolve) => taken.child.on('close', resolve))).toBe(2)
  expect(taken.stderr()).toMatch(/^cannot serve metrics on 1\.2\.3\.4, port 9: /)
})
