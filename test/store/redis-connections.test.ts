import { describe, expect, test } from 'vitest'
import { CommandFailed, Pool } from '../../src/store/redis/pool.ts'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { captureLog, quiet } from '../support/log.ts'
import { RedisPlace } from '../support/redis-place.ts'

describe('the connections to a Redis', () => {
  const redis = RedisPlace.forEach()

  test('are as many as are asked for, and are closed with the pool', async () => {
    const pool = await Pool.open(redis.server.url, 3, quiet)
    expect(await redis.connections()).toBe(3)
    pool.close()
    await redis.untilDisconnected()
  })

  test('all use the database that the address names', async () => {
    const pool = await Pool.open(`${redis.server.url}/3`, 2, quiet)
    for (const key of ['a', 'b']) await pool.run((client) => client.set(key, '1'))
    await redis.operator.select(3)
    expect((await redis.operator.keys('*')).toSorted()).toEqual(['a', 'b'])
    pool.close()
  })

  describe('of a store', () => {
    const open = (url: string, log = quiet) => openRedisStore(url, { log, derived: [] })

    test('are two, and are closed with it', async () => {
      const store = await open(redis.server.url)
      expect(await redis.connections()).toBe(2)
      await store.close()
      await redis.untilDisconnected()
    })

    test.each(['1', '4'])('are closed when Redis holds data of another format (%s), and nothing is written', async (format) => {
      await redis.operator.set('lk:format', format)
      await expect(open(redis.server.url)).rejects.toMatchObject({
        name: 'StorageUnavailable',
        message: `this Redis holds data of format ${format}, and this version of Lanekeeper reads format 3: use the version of Lanekeeper that wrote it, or another database`,
      })
      await redis.untilDisconnected()
      expect({ keys: await redis.operator.keys('*'), format: await redis.operator.get('lk:format') }).toEqual({
        keys: ['lk:format'],
        format,
      })
    })

    test.each([null, '2'])('write the format when it was %s, so that an earlier version does not start', async (earlier) => {
      if (earlier !== null) await redis.operator.set('lk:format', earlier)
      await (await open(redis.server.url)).close()
      expect(await redis.operator.get('lk:format')).toBe('3')
      await (await open(redis.server.url)).close()
    })

    test('that cannot be opened have an error with the reason', async () => {
      await expect(open(`${redis.server.url}/99`)).rejects.toMatchObject({
        message: expect.stringMatching(/^Redis refused: .*out of range/),
        cause: expect.any(CommandFailed),
      })
      await redis.server.kill()
      await expect(open(redis.server.url)).rejects.toMatchObject({
        message: expect.stringMatching(/^Redis cannot be reached: .*ECONNREFUSED/),
      })
    })

    test('log a warning only if Redis evicts data', async () => {
      const warnings = captureLog()
      await (await open(redis.server.url, warnings.log)).close()
      expect(warnings.lines).toEqual([])
      await redis.operator.config('SET', 'maxmemory-policy', 'allkeys-lru')
      await (await open(redis.server.url, warnings.log)).close()
      expect(warnings.lines).toEqual([expect.objectContaining({ level: 40, msg: expect.stringContaining('maxmemory-policy allkeys-lru') })])
    })
  })
})
