import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDerivations } from '../../src/resources/derived.ts'
import { openStorage } from '../../src/store/open.ts'
import { BadRedisUrl } from '../../src/store/redis/client.ts'
import { change, readRequest } from '../support/changes.ts'
import { captureLog, quiet } from '../support/log.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

describe('a password in the address of a Redis', () => {
  const PASSWORD = 's3cr%t:/@pässword'
  const address = ({ port }: RedisServer, password: string, user = '') =>
    `redis://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}`
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis(['--requirepass', PASSWORD])
    const client = new Redis({ port: server.port, host: '127.0.0.1', password: PASSWORD })
    await client.call('ACL', 'SETUSER', 'lane', 'on', `>${PASSWORD}`, '~*', '+@all')
    await client.call('ACL', 'SETUSER', 'narrow', 'on', `>${PASSWORD}`, '~lk:*', '+@all', '-@admin', '-info')
    await client.call('ACL', 'SETUSER', 'silent', 'on', `>${PASSWORD}`, '~lk:*', '+@all', '-publish', '-subscribe')
    client.disconnect()
  })
  afterAll(() => server.stop())

  test.each(['', 'lane', 'default', 'narrow'])('user "%s" can connect with the password of the address', async (user) => {
    const captured = captureLog()
    const storage = await openStorage(address(server, PASSWORD, user), { log: captured.log, derived: createDerivations() })
    await storage.store.ready()
    await storage.close()
    expect(captured.lines).toEqual([])
  })

  test('a user who may neither publish nor subscribe commits what others wait for', async () => {
    const { store, close } = await openStorage(address(server, PASSWORD, 'silent'), { log: quiet, derived: createDerivations() })
    const end = store.watch('w1', 'log', () => undefined)
    const append = { log: { fetch: 'log:', values: [{ n: 1 }] } }
    expect(await store.commit('w1', change({ append }))).toBe('done')
    const { records } = (await store.read('w1', readRequest({ ranges: [{ index: 'log', limit: 9, fetch: 'log:' }] })))!.ranges[0]!
    expect(records.map((stored) => stored?.value)).toEqual([{ n: 1 }])
    end()
    await close()
  })

  test.each([
    ['a wrong password', (url: string) => url.replace('s3cr', 'wr0ng'), /WRONGPASS/],
    ['a missing password', (url: string) => url.replace(/\/\/.*@/, '//'), /NOAUTH/],
    ['an unreachable server', (url: string) => url.replace(/:\d+$/, ':1'), /ECONNREFUSED/],
  ])('the error for %s gives the reason and does not contain the password', async (_what, changeUrl, reason) => {
    const lines: string[] = []
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    const url = changeUrl(address(server, PASSWORD))
    const error = (await openStorage(url, { log, derived: createDerivations() }).catch((thrown: unknown) => thrown)) as Error
    expect({ name: error.name, message: error.message }).toEqual({ name: 'StorageUnavailable', message: expect.stringMatching(reason) })
    log.error({ err: error }, error.stack)
    expect(lines.join('')).not.toMatch(/s3cr|wr0ng|pässword|p%C3%A4ssword/)
  })

  test.each([
    'redis://:%zz-s3cret@127.0.0.1:6379',
    'redis-cluster://:%zz-s3cret@127.0.0.1:6379',
    'redis-cluster://:s3cret@127.0.0.1:port',
    'redis://admin:s3cret@127.0.0.1:99999',
    'redis://admin:s3cret@[::1',
    'redis://admin:s3cret@127.0.0.1/production',
  ])('the error for the invalid address %s does not contain the password', async (url) => {
    const error = (await openStorage(url, { log: quiet, derived: createDerivations() }).catch((thrown: unknown) => thrown)) as Error
    expect(error).toBeInstanceOf(BadRedisUrl)
    expect(inspect(error)).not.toContain('s3cret')
  })
})
