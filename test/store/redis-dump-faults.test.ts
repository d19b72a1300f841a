import { ReplyError } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Value } from '../../src/store/port.ts'
import { dumpPartition } from '../../src/store/redis/dump.ts'
import { CommandFailed } from '../../src/store/redis/pool.ts'
import type { RedisStore } from '../../src/store/redis/store.ts'
import { change } from '../support/changes.ts'
import { answeringPool, LONG, LOST } from '../support/redis-clients.ts'
import { RedisPlace, startReplica, type Replica } from '../support/redis-place.ts'

type Batch = (readonly [string, Value])[]
/** More than two batches. */
const MANY = 1200
const numbered = (n: number) => Object.fromEntries(Array.from({ length: MANY }, (_, i) => [`k:${String(i).padStart(5, '0')}`, { n }]))
const FORGOTTEN = { name: 'StorageUnavailable', message: expect.stringContaining('forgotten the dump') }

describe('a dump of a Redis with faults', () => {
  const redis = RedisPlace.forEach('--repl-diskless-sync-delay', '0')
  /** connects through the proxy, and repeats reads for as long as it takes */
  let store: RedisStore
  beforeEach(async () => {
    store = await redis.open(redis.proxy.url, { repeatReadsFor: LONG })
    await store.commit('w1', change({ put: numbered(1) }))
  })

  const commit = (part: Parameters<typeof change>[0], onlyRemoves = false) => store.commit('w1', { ...change(part), onlyRemoves })
  const rest = async (dump: AsyncIterable<Batch>) => {
    const records: Batch = []
    for await (const batch of dump) records.push(...batch)
    return records
  }
  /** A dump with one batch read. */
  const begun = async (from = store) => {
    const dump = from.dump('w1')
    return { dump, first: (await dump.next()).value as Batch }
  }
  const expectSnapshot = async ({ dump, first }: Awaited<ReturnType<typeof begun>>) =>
    expect([...first, ...(await rest(dump))]).toEqual(Object.entries(numbered(1)))

  test('is a snapshot although Redis is out of memory, and records are removed', async () => {
    await redis.operator.config('SET', 'maxmemory', '1')
    const dump = await begun()
    await commit({ remove: ['k:00000', 'k:00700', 'k:01199'] }, true)
    await expectSnapshot(dump)
    expect(await rest(store.dump('w1'))).toHaveLength(MANY - 3)
  })

  test('is a snapshot although Redis runs out of memory in the middle', async () => {
    const dump = await begun()
    await commit({ put: numbered(2) })
    await redis.operator.config('SET', 'maxmemory', '1')
    await expectSnapshot(dump)
  })

  test('succeeds while Redis refuses writes, as long as no record changes', async () => {
    await redis.operator.replicaof('127.0.0.1', '1')
    await expectSnapshot(await begun())
    const dump = await begun()
    await redis.operator.replicaof('NO', 'ONE')
    await commit({ put: { 'k:00000': { n: 2 } } })
    await expect(rest(dump.dump)).rejects.toMatchObject({ name: 'StorageUnavailable', message: expect.stringContaining('refuses writes') })
  })

  test('is a snapshot although connections are lost again and again', async () => {
    // Every second connection ends in the middle of a batch.
    let connections = 0
    redis.proxy.bytes = () => (connections++ % 2 === 0 ? 15_000 : Infinity)
    redis.proxy.cut()
    const dump = await begun()
    await commit({ put: numbered(2) })
    redis.proxy.cut()
    await expectSnapshot(dump)
    expect(redis.proxy.cuts).toBeGreaterThan(0)
  })

  describe('that fails over to a replica', () => {
    let replica: Replica
    beforeEach(async () => {
      replica = await startReplica(redis)
    })
    afterEach(() => replica.stop())
    const promote = async () => {
      await redis.server.kill()
      await replica.operator.replicaof('NO', 'ONE')
      redis.proxy.target = replica.server.port
      redis.proxy.cut()
    }

    test('is a snapshot when the replica has its mark', async () => {
      const dump = await begun()
      await commit({ put: numbered(2) })
      await replica.caughtUp()
      await promote()
      await commit({ put: numbered(3) })
      await expectSnapshot(dump)
    })

    test('fails when the replica does not have its mark', async () => {
      replica.link.hold('from')
      const { dump } = await begun()
      await promote()
      await commit({ put: numbered(3) })
      await expect(dump.next()).rejects.toMatchObject(FORGOTTEN)
    })
  })
})

describe('a dump whose reader is slow', () => {
  /** @param replies to what a dump sends: entries of a batch, or an error */
  const poolWith = (replies: Record<string, unknown[]>) => answeringPool((name) => replies[name]?.shift())
  const batch = (key: string, done: 0 | 1) => ['r1', key, done, [key, 'r1 {}']]
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
  afterEach(() => void vi.useRealTimers())

  test('is renewed three times as often as Redis would forget it, until its end', async () => {
    const { pool, commands } = poolWith({ lkDump: [batch('a', 0), batch('b', 1)], pexpire: [new CommandFailed(LOST)] })
    const dump = dumpPartition(pool, 'lk:{w1}:n')
    expect((await dump.next()).value).toEqual([['a', {}]])
    const id = commands[0]![2]
    expect(commands.splice(0)).toEqual([
      ['lkBeginDump', 'lk:{w1}:n', expect.any(String), 60_000],
      ['lkDump', 'lk:{w1}:n', id, '', 60_000, 500, 1_048_576],
    ])
    await vi.advanceTimersByTimeAsync(40_000)
    const renewal = [
      ['pexpire', 'lk:{w1}:d', 60_000],
      ['pexpire', `lk:{w1}:d:${String(id)}`, 60_000],
    ]
    expect(commands.splice(0)).toEqual([...renewal, ...renewal])
    expect({ value: (await dump.next()).value, done: (await dump.next()).done }).toEqual({ value: [['b', {}]], done: true })
    expect(commands.splice(0)).toEqual([
      ['lkDump', 'lk:{w1}:n', id, 'a', 60_000, 500, 1_048_576],
      ['lkEndDump', 'lk:{w1}:n', id],
    ])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(commands).toEqual([])
  })

  test('has nothing to renew or to end when Redis refuses to write', async () => {
    const { pool, commands } = poolWith({
      lkBeginDump: [new CommandFailed(new ReplyError('READONLY'))],
      lkDump: [batch('a', 0), batch('b', 1)],
    })
    const dump = dumpPartition(pool, 'lk:{w1}:n')
    await dump.next()
    await vi.advanceTimersByTimeAsync(60_000)
    expect({ value: (await dump.next()).value, done: (await dump.next()).done }).toEqual({ value: [['b', {}]], done: true })
    expect(commands.map(([name, , id]) => [name, id]).slice(1)).toEqual([
      ['lkDump', ''],
      ['lkDump', ''],
    ])
  })

  test.each(['lkBeginDump', 'lkDump'])('fails when %s has no answer', async (name) => {
    const { pool } = poolWith({ [name]: [new CommandFailed(LOST)] })
    await expect(dumpPartition(pool, 'lk:{w1}:n').next()).rejects.toMatchObject({
      name: 'StorageUnavailable',
      message: 'Redis did not answer',
    })
  })

  test('has no batch without records', async () => {
    const { pool } = poolWith({ lkDump: [['r1', 'a', 0, []], batch('b', 0), ['r1', 'b', 1, []]] })
    const batches: Batch[] = []
    for await (const one of dumpPartition(pool, 'lk:{w1}:n')) batches.push(one)
    expect(batches).toEqual([[['b', {}]]])
  })
})
