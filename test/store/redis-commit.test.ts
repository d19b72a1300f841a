import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StorageUnavailable, type Change, type Expectation, type Store } from '../../src/store/port.ts'
import { Pool } from '../../src/store/redis/pool.ts'
import { openRedisStore, RedisStore } from '../../src/store/redis/store.ts'
import { altered } from '../support/altered.ts'
import { CountingStore } from '../support/counting-store.ts'
import { Ledger } from '../support/operation-log.ts'
import { quiet } from '../support/log.ts'
import { Proxy } from '../support/proxy.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

const nothing: Expectation = { records: new Map(), indexes: new Map(), capacity: new Map() }
const put = (revision: string, key: string, value: object, expected?: string | null): Change => ({
  revision,
  expect: expected === undefined ? nothing : { ...nothing, records: new Map([[key, expected]]) },
  put: new Map([[key, value as never]]),
  remove: new Set(),
  indexes: new Map(),
})

let server: RedisServer
let proxy: Proxy
/** over the proxy */
let far: Store
/** beside it */
let near: Store

beforeEach(async () => {
  server = await startRedis()
  proxy = await Proxy.open(server.port)
  far = await openRedisStore(proxy.url, { log: quiet })
  near = await openRedisStore(server.url, { log: quiet })
})
afterEach(async () => {
  await Promise.all([far.close(), near.close()])
  await proxy.close()
  await server.stop()
})

async function read(key: string): Promise<unknown> {
  return (await near.read('w', { records: [key], ranges: [], counts: [], expect: nothing }))!.records[0]!.stored?.value
}
describe('a commit that was not heard of', () => {
  test.each(['to', 'from'] as const)('is found out about, where the way %s the server is silent', async (direction) => {
    const ledger = new Ledger(far)
    await ledger.increment('before')
    const counting = new CountingStore(far)
    counting.beforeCommit = async () => proxy.hold(direction)
    const doubtful = new Ledger(counting)
    expect(await doubtful.increment('doubtful')).toBe('done')
    await proxy.release()
    for (const [id, told] of doubtful.told) ledger.told.set(id, told)
    expect(await ledger.problems(near)).toEqual([])
  })

  test('is not done later, once it was answered that it conflicts', async () => {
    proxy.hold('to')
    const late = far.commit('w', put('r1', 'a', { by: 'far' }, null))
    await near.commit('w', put('r2', 'a', { by: 'near' }))
    expect(await late).toBe('conflict')
    // Now what it expected is so again, and its first try comes out of some buffer on the way.
    await near.commit('w', { ...put('r3', 'b', {}), remove: new Set(['a']) })
    await proxy.release()
    expect(await read('a')).toBeUndefined()
  })

  test('is not done twice, though what it made was removed meanwhile', async () => {
    proxy.hold('to')
    expect(await far.commit('w', put('r1', 'a', { by: 'far' }, null))).toBe('done')
    await near.commit('w', { ...put('r2', 'b', {}), remove: new Set(['a']) })
    const client = new Redis(server.port, '127.0.0.1')
    // An ordinary commit is remembered for a minute; one that may be under way longer for as long as it may.
    expect(await client.pttl('lk:{w}:c:r1')).toBeGreaterThan(60_000)
    expect(await client.pttl('lk:{w}:c:r2')).toBeLessThanOrEqual(60_000)
    client.disconnect()
    await proxy.release()
    expect(await read('a')).toBeUndefined()
  })

  test('is unknown where nobody answers, and certainly not done where nobody was reached', async () => {
    const counting = new CountingStore(far)
    counting.beforeCommit = async () => {
      proxy.hold('from')
      proxy.refuses = true
    }
    expect(await new Ledger(counting).increment('sent')).toBe('unknown')
    proxy.cut()
    await expect(far.commit('w', put('r9', 'a', {}))).rejects.toMatchObject({ name: 'Unavailable', certain: true })
  })
})

test('what Redis refuses says why, and nothing of what was to be stored', async () => {
  const lines: string[] = []
  const client = new Redis(server.port, '127.0.0.1')
  await client.config('SET', 'maxmemory', '1')
  client.disconnect()
  const error = (await far.commit('w', put('r1', 'a', { title: 'secret plans' })).catch((thrown: unknown) => thrown)) as StorageUnavailable
  expect([error.name, error.outcomeKnown, /OOM/.test(error.message)]).toEqual(['Unavailable', true, true])
  pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }).warn(
    { err: error, cause: error.cause },
    'as the service logs it',
  )
  expect(lines.join('')).toContain('OOM')
  expect(lines.join('')).not.toContain('secret plans')
})

test('a Redis that evicts is warned of', async () => {
  const client = new Redis(server.port, '127.0.0.1')
  await client.config('SET', 'maxmemory-policy', 'allkeys-lru')
  client.disconnect()
  const lines: string[] = []
  await (await openRedisStore(server.url, { log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }) })).close()
  expect(lines.join('')).toContain('allkeys-lru')
})

// The planted bugs: what the ledger is there to find. If these are not found, it proves nothing.
describe('the ledger finds', () => {
  const found = async (store: Store, work: (ledger: Ledger) => Promise<unknown>): Promise<string> => {
    const ledger = new Ledger(store)
    await work(ledger)
    return (await ledger.problems(near)).join('\n')
  }
  const crowd = async (ledger: Ledger): Promise<void> => {
    ledger.start()
    await ledger.more(60, 'done')
    await ledger.stop()
  }
  const instead = (commit: Store['commit']): Store => altered(near, { commit })

  test('a store that drops what is expected', async () => {
    const store = instead((partition, change) => near.commit(partition, { ...change, expect: nothing }))
    expect(await found(store, crowd)).toMatch('lost or done twice')
  })

  test('a store that commits by plain writes, one after the other', async () => {
    let writes = 0
    const store = instead(async (partition, change) => {
      for (const [key, value] of change.put) {
        await near.commit(partition, put(`${change.revision}${key}`, key, value))
        if (writes++ === 0) throw new StorageUnavailable('the connection is cut after the first', { certain: false })
      }
      return 'done'
    })
    expect(await found(store, (ledger) => ledger.increment('torn'))).toMatch('torn')
    expect(await found(store, crowd)).toMatch('lost or done twice')
  })

  test('a store that sends a commit again under another revision', async () => {
    const pool = await Pool.open(proxy.url, 2, quiet)
    let sent = 0
    const forgetful = {
      ask: (command: Parameters<Pool['ask']>[0]) =>
        pool.ask((client) =>
          command(
            Object.assign(Object.create(client), {
              lkRead: client.lkRead.bind(client),
              lkCommit: (base: string, request: string, ...more: [number, string]) =>
                client.lkCommit(base, JSON.stringify({ ...JSON.parse(request), revision: `again${sent++}` }), ...more),
            }),
          ),
        ),
    } as Pool
    const counting = new CountingStore(new RedisStore(forgetful, 'lk'))
    counting.beforeCommit = async () => proxy.hold('from')
    expect(await found(counting, (ledger) => ledger.increment('once'))).toMatch('lost or done twice')
    pool.close()
  })
})
