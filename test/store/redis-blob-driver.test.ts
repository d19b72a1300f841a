import { afterEach, describe, expect, test } from 'vitest'
import type { Driver } from 'unstorage'
import { openRedisBlobDriver } from '../../src/store/redis/blob-driver.ts'
import { errorOf } from '../support/error-of.ts'
import { captureLog, quiet } from '../support/log.ts'
import { RedisPlace } from '../support/redis-place.ts'

const redis = RedisPlace.forEach()
let driver: Driver | undefined

afterEach(() => {
  driver?.dispose?.()
  driver = undefined
})

const open = async (url: string, log = quiet): Promise<Driver> => (driver = await openRedisBlobDriver(url, log))

const methods: readonly [name: string, call: (of: Driver) => Promise<unknown>][] = [
  ['hasItem', async (of) => of.hasItem('a', {})],
  ['getItem', async (of) => of.getItem('a')],
  ['setItem', async (of) => of.setItem!('a', 'x', {})],
  ['removeItem', async (of) => of.removeItem!('a', {})],
  ['getKeys', async (of) => of.getKeys('', {})],
]

describe('bytes in Redis', () => {
  test('are written, found, read and removed, under keys that begin with lk:bytes', async () => {
    const bytes = await open(redis.server.url)
    expect(bytes.name).toBe('redis')
    expect({ hasItem: await bytes.hasItem('a', {}), item: await bytes.getItem('a') }).toEqual({ hasItem: false, item: null })
    await bytes.setItem!('a', 'one', {})
    await bytes.setItem!('b', 'two', {})
    expect({ hasItem: await bytes.hasItem('a', {}), item: await bytes.getItem('a') }).toEqual({ hasItem: true, item: 'one' })
    expect((await bytes.getKeys('', {})).toSorted()).toEqual(['a', 'b'])
    await bytes.removeItem!('a', {})
    expect(await redis.operator.keys('*')).toEqual(['lk:bytes:b'])
  })

  test('are in the database that the address names', async () => {
    await (
      await open(`${redis.server.url}/3`)
    ).setItem!('a', 'one', {})
    expect(await redis.operator.keys('*')).toEqual([])
    await redis.operator.select(3)
    expect(await redis.operator.keys('*')).toEqual(['lk:bytes:a'])
  })
})

describe('the bytes of a Redis that cannot be opened', () => {
  test('a database that does not exist is refused, and the connection is closed', async () => {
    const error = await errorOf(open(`${redis.server.url}/99`))
    expect(error).toMatchObject({ name: 'StorageUnavailable', message: expect.stringMatching(/^Redis refused: .*out of range/) })
    expect(error.cause).toMatchObject({ name: 'CommandFailed' })
    await redis.untilDisconnected()
  })

  test('the error of a server that refuses connections names the reason', async () => {
    redis.operator.disconnect()
    await redis.server.kill()
    const { log, text } = captureLog()
    const error = await errorOf(open(redis.server.url, log))
    expect(error).toMatchObject({ name: 'StorageUnavailable', message: expect.stringMatching(/^Redis cannot be reached: .*ECONNREFUSED/) })
    expect(error.cause).toMatchObject({ name: 'CommandFailed' })
    expect(text()).toMatch(/ECONNREFUSED.*redis connection/)
  })
})

describe('bytes in Redis whose connection fails', () => {
  test.each(methods)('%s throws that the storage is unavailable when the connection is lost', async (_name, call) => {
    const bytes = await open(redis.proxy.url)
    await call(bytes)
    redis.proxy.refuses = true
    redis.proxy.hold('from')
    const calling = errorOf(call(bytes))
    redis.proxy.cut()
    const error = await calling
    expect(error).toMatchObject({ name: 'StorageUnavailable', message: 'Redis did not answer', outcomeKnown: true })
    expect(error.cause).toMatchObject({ name: 'CommandFailed' })
  })

  test('a refusal of Redis is thrown with its reason', async () => {
    const bytes = await open(redis.server.url)
    await redis.operator.config('SET', 'maxmemory', '1')
    expect(await errorOf(bytes.setItem!('a', 'x', {}) as Promise<void>)).toMatchObject({
      message: expect.stringMatching(/^Redis refused: OOM/),
    })
  })

  test('a connection that no longer answers is replaced', async () => {
    const bytes = await open(redis.proxy.url)
    await bytes.setItem!('a', 'one', {})
    redis.proxy.hold('from')
    expect(await errorOf(bytes.getItem('a') as Promise<unknown>)).toMatchObject({ message: 'Redis did not answer' })
    // The proxy still holds back the replies over the first connection, and has to do so until the second one is used.
    let value: unknown
    while (value === undefined) {
      await redis.operator.ping()
      value = await Promise.resolve(bytes.getItem('a')).catch(() => undefined)
    }
    expect(value).toBe('one')
    await redis.proxy.release()
  })
})
