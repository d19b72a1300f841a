import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { systemClock } from '../../src/model/time.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import { decorateStore, NO_EXPECTATION, type Store } from '../../src/store/port.ts'
import type { Deps } from '../../src/store/transact.ts'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { drivers } from '../support/drivers.ts'
import { effort } from '../support/effort.ts'
import { quiet } from '../support/log.ts'
import { interpret, sendTo, startProcesses, type Processes } from '../support/processes.ts'
import { TcpProxy } from '../support/proxy.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'
import { engine } from '../support/service.ts'
import { createWriter, Writers } from '../support/writers.ts'
import { isLinearizable, type Event } from './linearizability/checker.ts'
import { runHistory, violation, type Send } from './linearizability/history.ts'

const depsOn = (store: Store): Deps => ({ store, clock: systemClock, random: systemRandom, batch: 1 })

/** Runs histories, several of them concurrently. @returns the first violation, or undefined */
async function findViolation(
  histories: number,
  deps: Deps,
  send: Send,
  { concurrency = 4, sendSetup = send } = {},
): Promise<string | undefined> {
  let remaining = histories
  let found: string | undefined
  let events = 0
  const worker = async (): Promise<void> => {
    while (found === undefined && remaining-- > 0) {
      const history = await runHistory(deps, send, sendSetup)
      events += history.events.length
      found ??= violation(history)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  if (found === undefined) console.log(`${histories} histories with ${events} actions are linearizable`)
  return found
}

/** Sends requests to a service in this process. */
function sendToApp(store: Store): Send {
  const app = createApp({ store, log: quiet, engine })
  return async ({ token, method, path, body, match }) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(match === undefined ? {} : { 'if-match': match }),
    }
    const request = new Request(`http://localhost/v1${path}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) })
    const response = await app.fetch(request)
    return interpret(response, await response.json())
  }
}

describe('four processes on one Redis', () => {
  let server: RedisServer
  let processes: Processes
  let store: Store
  beforeAll(async () => {
    server = await startRedis()
    store = await openRedisStore(server.url, { log: quiet, derived: createDerivations() })
    processes = await startProcesses(4, server.url)
  })
  afterAll(async () => {
    await processes.stop()
    await store.close()
    await server.stop()
  })

  test('concurrent requests to several processes are linearizable', { timeout: 3_600_000 }, async () => {
    expect(await findViolation(effort(40), depsOn(store), sendTo(processes.urls))).toBeUndefined()
  })

  test('concurrent requests are linearizable when clients lose responses', { timeout: 3_600_000 }, async () => {
    expect(await findViolation(effort(20), depsOn(store), sendTo(processes.urls, { abortRate: 0.2 }))).toBeUndefined()
  })

  test('of requests to several processes that give one external_ref to different cards, one succeeds', { timeout: 3_600_000 }, async () => {
    const token = await createWriter(depsOn(store))
    const send = async (i: number, method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
      const url = `${processes.urls[i % processes.urls.length]}/v1${path}`
      const response = await fetch(url, { method, headers, body: body === undefined ? null : JSON.stringify(body) })
      return { status: response.status, body: (await response.json()) as any }
    }
    const board = (await send(0, 'POST', '/boards', { name: 'Board' })).body.data.id
    const column_id = (await send(0, 'POST', `/boards/${board}/columns`, { name: 'Column' })).body.data.id
    const plain = (await send(0, 'POST', `/boards/${board}/cards`, { column_id, title: 'Plain' })).body.data.id
    for (let round = 0; round < effort(20); round++) {
      const external_ref = `race ${round}`
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          i === 7
            ? send(i, 'PATCH', `/cards/${plain}`, { external_ref })
            : send(i, 'POST', `/boards/${board}/cards`, { column_id, title: `Card ${i}`, external_ref }),
        ),
      )
      const found = (await send(round, 'GET', `/boards/${board}/cards?external_ref=race%20${round}`)).body.data
      const winner = replies.find(({ status }) => status < 300)
      expect(found.map(({ id }: { id: string }) => id)).toEqual([winner!.body.data.id])
      const refused = replies.filter((reply) => reply !== winner)
      expect(refused.map(({ status, body }) => [status, body.error?.card_id])).toEqual(refused.map(() => [409, winner!.body.data.id]))
    }
    const all = (await send(0, 'GET', `/boards/${board}/cards?limit=100`)).body.data.map((card: any) => card.external_ref)
    expect(all.filter((ref: unknown) => ref !== null).length).toBe(new Set(all.filter((ref: unknown) => ref !== null)).size)
  })

  // The last one, because it ends a process.
  test(
    'writes under a key are made exactly once while Redis is stopped, the same key is raced and a process is killed',
    { timeout: 3_600_000 },
    async () => {
      const writers = await Writers.start({ urls: processes.urls, token: await createWriter(depsOn(store)) })
      const running = writers.run(8)
      for (let round = 0; round < effort(1); round++) {
        await writers.more('acknowledged', 50)
        server.process.kill('SIGSTOP')
        await writers.more('failures', 8)
        server.process.kill('SIGCONT')
        await writers.more('acknowledged', 50)
      }
      const raced = Array.from({ length: effort(10) }, (_, i) => `raced ${i}`)
      for (const title of raced) {
        const results = await Promise.all(Array.from({ length: 8 }, () => writers.create(title)))
        expect(new Set(results.map(({ data }) => data.id)).size).toBe(1)
        // A first response can be lost too.
        expect(results.filter(({ replayed }) => !replayed).length).toBeLessThanOrEqual(1)
      }
      await processes.running[3]!.stop('SIGKILL')
      await writers.more('acknowledged', 50)
      writers.stop()
      await running
      expect(await writers.titles()).toEqual([...writers.acknowledged, ...raced].toSorted())
      console.log(`${raced.length} races: ${writers.summary()}`)
    },
  )
})

describe.each(drivers)('one process on $name', (driver) => {
  test('concurrent requests to one process are linearizable', { timeout: 3_600_000 }, async () => {
    const { store } = await driver.open()
    expect(await findViolation(effort(40), depsOn(store), sendToApp(store))).toBeUndefined()
    await store.close()
  })
})

test('concurrent requests are linearizable when connections to Redis are cut', { timeout: 3_600_000 }, async () => {
  const server = await startRedis()
  const proxy = await TcpProxy.open(server.port)
  const direct = await openRedisStore(server.url, { log: quiet, derived: createDerivations() })
  const proxied = await openRedisStore(proxy.url, { log: quiet, derived: createDerivations(), connections: 4 })
  // Enough for the beginning of a connection and a few requests.
  proxy.bytes = () => Math.floor(7_000 + Math.random() * 60_000)
  proxy.cut()
  expect(await findViolation(effort(40), depsOn(direct), sendToApp(proxied), { sendSetup: sendToApp(direct) })).toBeUndefined()
  console.log(`${proxy.cuts} connections cut`)
  await Promise.all([direct.close(), proxied.close()])
  await proxy.close()
  await server.stop()
})

// Seeded bugs: they show that the search can find what it is meant to find.
describe('seeded bugs that the linearizability search finds', () => {
  const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
  const violationWith = async (overrides: (store: Store) => Partial<Store>): Promise<string | undefined> => {
    const { store } = await drivers[0]!.open()
    const found = await findViolation(2000, depsOn(store), sendToApp(decorateStore(store, overrides(store))), { concurrency: 1 })
    await store.close()
    return found
  }

  test('the search finds a store that ignores the expectation of a commit', async () => {
    const found = await violationWith((store) => ({
      commit: async (partition, change) => (await nextTurn(), store.commit(partition, { ...change, expect: NO_EXPECTATION })),
    }))
    expect(found).toMatch('no sequential order explains this history')
  })

  test('the search finds a store that ignores the expectation of a read', async () => {
    const found = await violationWith((store) => ({
      // Some reads are slow, so that other clients can perform several actions in between.
      read: async (partition, request) => {
        if (request.expect.records.size > 0 && Math.random() < 0.3) await delay(Math.random() * 20)
        return store.read(partition, { ...request, expect: NO_EXPECTATION })
      },
    }))
    expect(found).toMatch('no sequential order explains this history')
  })
})

test('the linearizability checker decides histories of a register correctly', () => {
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
  // During the write, both values may be read, but not the old one after the new one.
  expect(isLinearizable(0, [write(1, 0, 5), read(0, 1, 2), read(1, 3, 4)])).toBe(true)
  expect(isLinearizable(0, [write(1, 0, 5), read(1, 1, 2), read(0, 3, 4)])).toBe(false)
  // An unanswered write may take effect at any time after its start, or never.
  expect(isLinearizable(0, [write(1, 0, Infinity, true), read(0, 2, 3), read(1, 4, 5)])).toBe(true)
  expect(isLinearizable(0, [write(1, 0, Infinity, true), read(0, 2, 3)])).toBe(true)
  expect(isLinearizable(0, [write(1, 4, Infinity, true), read(1, 2, 3)])).toBe(false)
})
