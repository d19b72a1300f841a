import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CommandFailed, Pool } from '../../src/store/redis/pool.ts'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { captureLog, quiet } from '../support/log.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

describe('the connections to a Redis', () => {
  let server: RedisServer
  let operator: Redis
  beforeEach(async () => {
    server = await startRedis()
    operator = new Redis(server.url)
    operator.on('error', () => undefined)
  })
  afterEach(async () => {
    operator.disconnect()
    await server.stop()
  })

  /** How many connections there are besides that of the operator. */
  const count = async () =>
    String(await operator.client('LIST'))
      .trim()
      .split('\n').length - 1

  test('are as many as are asked for, and are closed with the pool', async () => {
    const pool = await Pool.open(server.url, 3, quiet)
    expect(await count()).toBe(3)
    pool.close()
    while ((await count()) > 0) await operator.ping()
  })

  test('all use the database that the address names', async () => {
    const pool = await Pool.open(`${server.url}/3`, 2, quiet)
    for (const key of ['a', 'b']) await pool.run((client) => client.set(key, '1'))
    await operator.select(3)
    expect((await operator.keys('*')).toSorted()).toEqual(['a', 'b'])
    pool.close()
  })

  describe('of a store', () => {
    const open = (url: string, log = quiet) => openRedisStore(url, { log })

    test('are two, and are closed with it', async () => {
      const store = await open(server.url)
      expect(await count()).toBe(2)
      await store.close()
      while ((await count()) > 0) await operator.ping()
    })

    test.each(['1', '3'])('are closed when Redis holds data of another format (%s), and nothing is written', async (format) => {
      await operator.set('lk:format', format)
      await expect(open(server.url)).rejects.toMatchObject({
        name: 'StorageUnavailable',
        message: `this Redis holds data of format ${format}, and this version of Lanekeeper reads format 2: use the version of Lanekeeper that wrote it, or another database`,
      })
      while ((await count()) > 0) await operator.ping()
      expect([await operator.keys('*'), await operator.get('lk:format')]).toEqual([['lk:format'], format])
    })

    test('write the format when it is absent', async () => {
      await (await open(server.url)).close()
      expect(await operator.get('lk:format')).toBe('2')
      await (await open(server.url)).close()
    })

    test('that cannot be opened have an error with the reason', async () => {
      await expect(open(`${server.url}/99`)).rejects.toMatchObject({
        message: expect.stringMatching(/^Redis refused: .*out of range/),
        cause: expect.any(CommandFailed),
      })
      await server.kill()
      await expect(open(server.url)).rejects.toMatchObject({ message: expect.stringMatching(/^Redis cannot be reached: .*ECONNREFUSED/) })
    })

    test('log a warning only if Redis evicts data', async () => {
      const warnings = captureLog()
      await (await open(server.url, warnings.log)).close()
      expect(warnings.lines).toEqual([])
      await operator.config('SET', 'maxmemory-policy', 'allkeys-lru')
      await (await open(server.url, warnings.log)).close()
      expect(warnings.lines).toEqual([expect.objectContaining({ level: 40, msg: expect.stringContaining('maxmemory-policy allkeys-lru') })])
    })
  })
})
