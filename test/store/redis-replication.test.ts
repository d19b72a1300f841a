import { ReplyError } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRedisBlobDriver } from '../../src/store/redis/blob-driver.ts'
import { type Connection, sendAndWait } from '../../src/store/redis/client.ts'
import { Pool } from '../../src/store/redis/pool.ts'
import type { RedisStore } from '../../src/store/redis/store.ts'
import { change, readRequest } from '../support/changes.ts'
import { quiet } from '../support/log.ts'
import { LOST } from '../support/redis-clients.ts'
import { RedisPlace, startReplica, type Replica } from '../support/redis-place.ts'
import { untilAcknowledged } from '../support/replication.ts'

const TOO_FEW = { name: 'StorageUnavailable', outcomeKnown: false, message: '0 of 1 replicas answered in time' }

const redis = RedisPlace.forEach('--repl-diskless-sync-delay', '0')
let replica: Replica
beforeEach(async () => {
  replica = await startReplica(redis)
})
afterEach(() => replica.stop())

/** Cuts the replica off. What the master sends it is lost. */
const isolate = () => replica.link.hold('from')

describe('a store that waits for a replica', () => {
  let store: RedisStore
  beforeEach(async () => {
    store = await redis.open(`${redis.proxy.url}?wait=1&wait_timeout=300`)
  })
  const put = (n: number, revision = `r${n}`) => ({ ...change({ put: { 'a:1': { n } } }), revision })
  const acknowledged = async (n: number) => expect(await untilAcknowledged(() => store.commit('w1', put(n)))).toBe('done')
  const value = async () => (await store.read('w1', readRequest({ records: ['a:1'] })))!.records[0]!.stored?.value

  test('acknowledges a commit that the replica has', async () => {
    for (let n = 0; n < 50; n++) {
      await acknowledged(n)
      expect(await replica.operator.get('lk:{w1}:r:a:1')).toBe(`r${n} {"n":${n}}`)
    }
  })

  test('does not acknowledge a commit that no replica has, and its outcome is unknown: the change is there', async () => {
    isolate()
    await expect(async () => store.commit('w1', put(1))).rejects.toMatchObject(TOO_FEW)
    expect(await value()).toEqual({ n: 1 })
  })

  test('answers a conflict although no replica answers: nothing is changed', async () => {
    isolate()
    const conflict = change({ put: { 'a:1': {} }, expect: { records: new Map([['a:1', 'r0']]) } })
    expect(await store.commit('w1', conflict)).toBe('conflict')
  })

  test('waits again when a commit is resent, because its first attempt may not have waited', async () => {
    // The reply is lost, and the replica is cut off between the two attempts.
    redis.proxy.hold('from')
    isolate()
    await expect(async () => store.commit('w1', put(1))).rejects.toMatchObject(TOO_FEW)
    expect(await redis.operator.get('lk:{w1}:r:a:1')).toBe('r1 {"n":1}')
  })

  test('waits also for a commit after Redis has lost its scripts', async () => {
    // On every connection.
    for (let n = 0; n < 16; n++) await acknowledged(n)
    await redis.operator.script('FLUSH')
    // The replica reports everything once a second. A question about what was written before would then be answered with 1.
    const info = () => redis.operator.info('replication')
    while (!/offset=(\d+),[^]*master_repl_offset:\1\r/.test(await info()));
    isolate()
    await expect(async () => store.commit('w1', put(17))).rejects.toMatchObject(TOO_FEW)
  })

  test('reads while commits wait', async () => {
    isolate()
    const order: string[] = []
    const commits = Array.from({ length: 10 }, (_, n) =>
      store
        .commit('w1', put(n))
        .catch(() => undefined)
        .then(() => order.push('commit')),
    )
    for (let i = 0; i < 20; i++) await value()
    order.push('reads')
    await Promise.all(commits)
    expect(order[0]).toBe('reads')
  })

  test('is ready only while the replica answers', async () => {
    await untilAcknowledged(() => store.ready())
    isolate()
    await expect(store.ready()).rejects.toMatchObject({ message: TOO_FEW.message })
  })

  test('closes all its connections', async () => {
    expect(await redis.connections()).toBe(2 + 8)
    await store.close()
    await redis.untilDisconnected()
  })
})

test('bytes are written when the replica has them, and not acknowledged otherwise', async () => {
  const bytes = await openRedisBlobDriver(`${redis.proxy.url}?wait=1&wait_timeout=300`, quiet)
  for (let i = 0; i < 20; i++) {
    await untilAcknowledged(async () => bytes.setItem!(`a:${i}`, `text ${i}`, {}))
    expect(await replica.operator.get(`lk:bytes:a:${i}`)).toBe(`text ${i}`)
  }
  expect(await bytes.getItem('a:7')).toBe('text 7')
  isolate()
  await expect(Promise.resolve(bytes.setItem!('b', 'x', {}))).rejects.toMatchObject({ ...TOO_FEW, outcomeKnown: true })
  await bytes.dispose!()
  await redis.untilDisconnected()
})

describe('a command that waits for replicas', () => {
  const clientWith = (...results: [Error | null, unknown][]) => {
    const sent: unknown[] = []
    const pipeline = (commands: unknown[]) => {
      sent.push(...commands)
      return { exec: async () => results }
    }
    return { client: { pipeline } as unknown as Connection, sent }
  }
  const send = (client: Connection) => sendAndWait(client, ['set', 'a', 'x'], { replicas: 2, timeout: 100 })

  test('is sent with WAIT behind it, and has the reply and the number of replicas', async () => {
    const { client, sent } = clientWith([null, 'OK'], [null, 1])
    expect(await send(client)).toEqual(['OK', 1])
    expect(sent).toEqual([
      ['set', 'a', 'x'],
      ['wait', 2, 100],
    ])
  })

  test('fails with its own error', async () => {
    const refusal = new ReplyError('OOM')
    await expect(send(clientWith([refusal, undefined], [null, 2]).client)).rejects.toBe(refusal)
  })

  test('is not refused when only WAIT is: the command is done', async () => {
    const pool = new Pool([clientWith([null, 'OK'], [new ReplyError('ERR WAIT'), undefined]).client], 0)
    await expect(pool.run(send)).rejects.toMatchObject({ name: 'CommandFailed', message: 'ERR WAIT', refused: false })
    await expect(send(clientWith([null, 'OK'], [LOST, undefined]).client)).rejects.toThrow(LOST.message)
  })
})
