import { setTimeout as after } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { systemClock } from '../../src/model/time.ts'
import type { Deps } from '../../src/admin/deps.ts'
import type { Expectation, Store } from '../../src/store/port.ts'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { isLinearizable, type Event } from './linearizability/checker.ts'
import { live, violation, type Send } from './linearizability/history.ts'
import { altered } from '../support/altered.ts'
import { drivers } from '../support/drivers.ts'
import { effort } from '../support/effort.ts'
import { quiet } from '../support/log.ts'
import { Proxy } from '../support/proxy.ts'
import { heard, sendTo, startProcesses, type Processes } from '../support/processes.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

const toolsOn = (store: Store): Deps => ({ store, clock: systemClock, random: systemRandom })

/** Lives through so many histories, some at once; gives the first that no order explains. */
async function search(histories: number, tools: Deps, send: Send, { atOnce = 4, begin = send } = {}): Promise<string | undefined> {
  let left = histories
  let found: string | undefined
  let events = 0
  const worker = async (): Promise<void> => {
    while (found === undefined && left-- > 0) {
      const history = await live(tools, send, begin)
      events += history.events.length
      found ??= violation(history)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  if (found === undefined) console.log(`${histories} histories, ${events} deeds: each has an order that explains it`)
  return found
}

/** A service in this process. */
function sendToApp(store: Store): Send {
  const app = createApp({ store, log: quiet })
  return async ({ token, method, path, body, match }) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(match === undefined ? {} : { 'if-match': match }),
    }
    const request = new Request(`http://localhost/v1${path}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) })
    const response = await app.fetch(request)
    return heard(response, await response.json())
  }
}

describe('four processes on one Redis', () => {
  let server: RedisServer
  let processes: Processes
  let store: Store
  beforeAll(async () => {
    server = await startRedis()
    store = await openRedisStore(server.url, { log: quiet })
    processes = await startProcesses(4, server.url)
  })
  afterAll(async () => {
    await processes.stop()
    await store.close()
    await server.stop()
  })

  test('whatever many do at once has an order that explains every answer', { timeout: 3_600_000 }, async () => {
    expect(await search(effort(40), toolsOn(store), sendTo(processes.urls))).toBeUndefined()
  })

  test('and so it has where connections are lost before the answer', { timeout: 3_600_000 }, async () => {
    expect(await search(effort(20), toolsOn(store), sendTo(processes.urls, { lose: 0.2 }))).toBeUndefined()
  })
})

describe.each(drivers)('one process, on $name', (driver) => {
  test('whatever many do at once has an order that explains every answer', { timeout: 3_600_000 }, async () => {
    const { store } = await driver.open()
    expect(await search(effort(40), toolsOn(store), sendToApp(store))).toBeUndefined()
    await store.close()
  })
})

test('one process whose connections to Redis are cut at any byte: the same', { timeout: 3_600_000 }, async () => {
  const server = await startRedis()
  const proxy = await Proxy.open(server.port)
  const near = await openRedisStore(server.url, { log: quiet })
  const far = await openRedisStore(proxy.url, { log: quiet, connections: 4 })
  // After a connection began, a few requests' worth.
  proxy.bytes = () => Math.floor(7_000 + Math.random() * 60_000)
  proxy.cut()
  expect(await search(effort(40), toolsOn(near), sendToApp(far), { begin: sendToApp(near) })).toBeUndefined()
  console.log(`${proxy.cuts} connections cut`)
  await Promise.all([near.close(), far.close()])
  await proxy.close()
  await server.stop()
})

// The planted bugs: what the search is there to find. If it does not find these, it proves nothing.
describe('the search finds', () => {
  const nothing: Expectation = { records: new Map(), indexes: new Map(), capacity: new Map() }
  const others = () => new Promise<void>((resolve) => setImmediate(resolve))
  const planted = async (change: (store: Store) => Partial<Store>): Promise<string | undefined> => {
    const { store } = await drivers[0]!.open()
    const found = await search(2000, toolsOn(store), sendToApp(altered(store, change(store))), { atOnce: 1 })
    await store.close()
    return found
  }

  test('a store that drops what a commit expects', async () => {
    const found = await planted((store) => ({
      commit: async (partition, change) => (await others(), store.commit(partition, { ...change, expect: nothing })),
    }))
    expect(found).toMatch('no order explains this')
  })

  test('a store that does not validate what was read before', async () => {
    const found = await planted((store) => ({
      // Some take long: so others can do several things in between.
      read: async (partition, request) => {
        if (request.expect.records.size > 0 && Math.random() < 0.3) await after(Math.random() * 20)
        return store.read(partition, { ...request, expect: nothing })
      },
    }))
    expect(found).toMatch('no order explains this')
  })
})

test('the checker knows a register', () => {
  const write = (value: number, start: number, end: number, optional = false): Event<number> => ({
    start,
    end,
    optional,
    apply: () => value,
  })
  const read = (value: number, start: number, end: number): Event<number> => ({
    start,
    end,
    optional: false,
    apply: (state) => (state === value ? state : undefined),
  })
  expect(isLinearizable(0, [write(1, 0, 1), read(1, 2, 3)])).toBe(true)
  expect(isLinearizable(0, [write(1, 0, 1), read(0, 2, 3)])).toBe(false)
  // While it is written, either may be read; but not the old one after the new one.
  expect(isLinearizable(0, [write(1, 0, 5), read(0, 1, 2), read(1, 3, 4)])).toBe(true)
  expect(isLinearizable(0, [write(1, 0, 5), read(1, 1, 2), read(0, 3, 4)])).toBe(false)
  // What nobody heard of may have been done at any time, or never.
  expect(isLinearizable(0, [write(1, 0, Infinity, true), read(0, 2, 3), read(1, 4, 5)])).toBe(true)
  expect(isLinearizable(0, [write(1, 0, Infinity, true), read(0, 2, 3)])).toBe(true)
  expect(isLinearizable(0, [write(1, 4, Infinity, true), read(1, 2, 3)])).toBe(false)
})
