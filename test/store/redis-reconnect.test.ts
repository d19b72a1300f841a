import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRedisStore, type RedisStore } from '../../src/store/redis/store.ts'
import { change, readRequest } from '../support/changes.ts'
import { quiet } from '../support/log.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

/** Reads that are in progress all the time. */
const READERS = 8

describe('connections to Redis that are closed by the server', () => {
  let server: RedisServer
  let operator: Redis
  let store: RedisStore
  beforeEach(async () => {
    server = await startRedis()
    operator = new Redis(server.url)
    // Longer than a connection takes on any machine.
    store = await openRedisStore(server.url, { log: quiet, repeatReadsFor: 60_000 })
    await store.commit('w1', change({ put: { 'a:1': { n: 1 } } }))
  })
  afterEach(async () => {
    operator.disconnect()
    await store.close()
    await server.stop()
  })

  const clientCount = async () =>
    String(await operator.client('LIST'))
      .trim()
      .split('\n').length
  const read = async () => (await store.read('w1', readRequest({ records: ['a:1'] })))!.records[0]!.stored!.value

  test('a read whose connection is lost is repeated on a new connection', async () => {
    let isOver = false
    let reads = 0
    const readers = Array.from({ length: READERS }, async () => {
      while (!isOver) {
        expect(await read()).toEqual({ n: 1 })
        reads++
      }
    })
    const connections = await clientCount()
    for (let kills = 0; kills < 5; kills++) {
      const before = reads
      while (reads < before + 2 * READERS || (await clientCount()) < connections) await read()
      await operator.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    }
    await read()
    isOver = true
    await Promise.all(readers)
  })
})
