import { pino } from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import { decorateStore, NO_EXPECTATION, StorageUnavailable, type Change, type Store } from '../../src/store/port.ts'
import { change, readRequest } from '../support/changes.ts'
import { CountingStore } from '../support/counting-store.ts'
import { OperationLog } from '../support/operation-log.ts'
import { RedisPlace } from '../support/redis-place.ts'

const put = (revision: string, key: string, value: object, expected?: string | null): Change => ({
  ...change({ put: { [key]: value }, expect: expected === undefined ? {} : { records: new Map([[key, expected]]) } }),
  revision,
})

const redis = RedisPlace.forEach()
/** connects through the proxy */
let proxied: Store
/** connects directly */
let direct: Store

beforeEach(async () => {
  proxied = await redis.open(redis.proxy.url)
  direct = await redis.open()
})

async function read(key: string): Promise<unknown> {
  return (await direct.read('w', readRequest({ records: [key] })))!.records[0]!.stored?.value
}

describe('a commit whose reply is missing', () => {
  test.each(['to', 'from'] as const)('the outcome is found out when all data %s the server is held back', async (direction) => {
    const operations = new OperationLog(proxied)
    await operations.increment('before')
    const interrupted = new CountingStore(proxied)
    interrupted.beforeCommit = async () => redis.proxy.hold(direction)
    const interruptedOperations = new OperationLog(interrupted)
    expect(await interruptedOperations.increment('interrupted')).toBe('done')
    await redis.proxy.release()
    for (const [id, outcome] of interruptedOperations.outcomes) operations.outcomes.set(id, outcome)
    expect(await operations.findViolations(direct)).toEqual([])
  })

  test('a resent commit that was answered with a conflict is not applied later', async () => {
    redis.proxy.hold('to')
    const late = proxied.commit('w', put('r1', 'a', { by: 'proxied' }, null))
    await direct.commit('w', put('r2', 'a', { by: 'direct' }))
    expect(await late).toBe('conflict')
    // Its expectation is met again, and then its first attempt arrives.
    await direct.commit('w', { ...put('r3', 'b', {}), remove: new Set(['a']) })
    await redis.proxy.release()
    expect(await read('a')).toBeUndefined()
  })

  test('a commit that is resent after a failover is another state than the one that was lost', async () => {
    const add = (id: string) => change({ put: { [`a:${id}`]: { id } }, index: { i: { add: [`p ${id}`] } } })
    const page = readRequest({ ranges: [{ index: 'i', limit: 9, fetch: 'a:' }] })
    const entries = async (store: Store) => (await store.read('w', page))!.ranges[0]!.entries
    await direct.commit('w', add('1'))
    const kept = await Promise.all(
      (await redis.operator.keys('lk:{w}:*')).map(async (name) => [name, await redis.operator.dumpBuffer(name)] as const),
    )
    await direct.commit('w', add('2'))
    redis.proxy.hold('from')
    const resent = proxied.commit('w', add('3'))
    while ((await entries(direct)).length < 3);
    // The new master does not have the last two commits.
    await redis.operator.del(...(await redis.operator.keys('lk:{w}:*')))
    for (const [name, dumped] of kept) await redis.operator.restore(name, 0, dumped)
    redis.proxy.cut()
    expect({ outcome: await resent, entries: await entries(direct) }).toEqual({ outcome: 'done', entries: ['p 1', 'p 3'] })
  })

  test('the outcome is unknown when Redis does not answer, and "not done" when the commit was not sent', async () => {
    const interrupted = new CountingStore(proxied)
    interrupted.beforeCommit = async () => {
      redis.proxy.hold('from')
      redis.proxy.refuses = true
    }
    expect(await new OperationLog(interrupted).increment('sent')).toBe('unknown')
    redis.proxy.cut()
    await expect(proxied.commit('w', put('r9', 'a', {}))).rejects.toMatchObject({ name: 'StorageUnavailable', outcomeKnown: true })
  })
})

test('an error of Redis is logged with its reason and without the stored data', async () => {
  const lines: string[] = []
  await redis.operator.config('SET', 'maxmemory', '1')
  const refused = Promise.resolve(proxied.commit('w', put('r1', 'a', { title: 'secret plans' })))
  const error = (await refused.catch((thrown: unknown) => thrown)) as StorageUnavailable
  expect({ name: error.name, outcomeKnown: error.outcomeKnown, message: error.message }).toEqual({
    name: 'StorageUnavailable',
    outcomeKnown: true,
    message: expect.stringMatching(/OOM/),
  })
  pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }).warn(
    { err: error, cause: error.cause },
    'as the service logs it',
  )
  expect(lines.join('')).toContain('OOM')
  expect(lines.join('')).not.toContain('secret plans')
})

// Seeded bugs: they show that the operation log can find what it is meant to find.
describe('seeded bugs that the operation log finds', () => {
  const violationsOf = async (store: Store, work: (operations: OperationLog) => Promise<unknown>): Promise<string> => {
    const operations = new OperationLog(store)
    await work(operations)
    return (await operations.findViolations(direct)).join('\n')
  }
  const concurrentWork = async (operations: OperationLog): Promise<void> => {
    operations.start()
    await operations.more(60, 'done')
    await operations.stop()
  }
  const withCommit = (commit: Store['commit']): Store => decorateStore(direct, { commit })

  test('the operation log finds a store that ignores expectations', async () => {
    const store = withCommit((partition, made) => direct.commit(partition, { ...made, expect: NO_EXPECTATION }))
    expect(await violationsOf(store, concurrentWork)).toMatch('lost or done twice')
  })

  test('the operation log finds a store that writes the records of a commit one by one', async () => {
    let writes = 0
    const store = withCommit(async (partition, made): Promise<'done'> => {
      for (const [key, value] of made.put) {
        await direct.commit(partition, put(`${made.revision}${key}`, key, value))
        if (writes++ === 0) throw new StorageUnavailable('the connection was cut after the first write', { outcomeKnown: false })
      }
      return 'done'
    })
    expect(await violationsOf(store, (operations) => operations.increment('torn'))).toMatch('torn')
    expect(await violationsOf(store, concurrentWork)).toMatch('lost or done twice')
  })
})
