import { Cluster, Redis } from 'ioredis'
import { afterEach, describe, expect, test } from 'vitest'
import { createRedisDriver, databaseOf, replicationOf } from '../../src/store/redis/client.ts'

/** Clients that this suite created. None of them connects. */
const clients: (Redis | Cluster)[] = []
function clientOf(url: string, base?: string): Redis | Cluster {
  clients.push(createRedisDriver(url, base).getInstance())
  return clients.at(-1)!
}
const optionsOf = (url: string) => (clientOf(url) as Redis).options
const clusterOptionsOf = (url: string, base?: string) => (clientOf(url, base) as Cluster).options
const startupNodesOf = (url: string) => (clientOf(url) as unknown as { startupNodes: unknown }).startupNodes

/** Each attempt is limited to two seconds, and nothing is queued or resent behind the back of the store. */
const EVERY_CONNECTION = {
  commandTimeout: 2000,
  connectTimeout: 2000,
  sentinelCommandTimeout: 2000,
  disconnectTimeout: 200,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  lazyConnect: true,
}
/** The time before each attempt to reconnect, in milliseconds. */
const RETRY_TIMES = [100, 200, 400, 800, 1000, 1000]
const attempts = RETRY_TIMES.map((_, i) => i + 1)

afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect()
})

describe('the client for a Redis', () => {
  test.each(['redis://127.0.0.1:7000', 'redis-sentinel://127.0.0.1:7000/main'])('%s has a limit for everything', (url) => {
    const options = optionsOf(url)
    expect(options).toMatchObject({ ...EVERY_CONNECTION, enableAutoPipelining: true })
    expect(attempts.map((attempt) => options.retryStrategy!(attempt))).toEqual(RETRY_TIMES)
  })

  test('at the nodes of a cluster has the same limits, and does not pipeline', () => {
    const { redisOptions, clusterRetryStrategy, ...options } = clusterOptionsOf('redis-cluster://127.0.0.1:7000')
    expect(redisOptions).toMatchObject({ ...EVERY_CONNECTION, enableAutoPipelining: false })
    expect(options).toMatchObject({ enableOfflineQueue: false, enableAutoPipelining: false, lazyConnect: true, retryDelayOnFailover: 0 })
    expect(attempts.map((attempt) => clusterRetryStrategy!(attempt))).toEqual(RETRY_TIMES)
  })

  test.each(['redis://127.0.0.1', 'redis-sentinel://127.0.0.1/main', 'redis-cluster://127.0.0.1'])(
    '%s is not connected before it is used',
    (url) => {
      expect(clientOf(url).status).toBe('wait')
    },
  )

  test('reconnects when the server has become a replica', () => {
    const { reconnectOnError } = optionsOf('redis://127.0.0.1')
    expect(reconnectOnError!(new Error("READONLY You can't write against a read only replica."))).toBe(true)
    expect(reconnectOnError!(new Error('OOM command not allowed'))).toBe(false)
  })

  test('follows redirections of a cluster for bytes, and not for scripts', () => {
    expect(clusterOptionsOf('redis-cluster://127.0.0.1').maxRedirections).toBe(0)
    expect(clusterOptionsOf('redis-cluster://127.0.0.1', 'lk:bytes').maxRedirections).toBeGreaterThan(1)
  })

  test.each(['redis://127.0.0.1', 'rediss://127.0.0.1', 'redis-sentinel://127.0.0.1/main', 'redis-cluster://127.0.0.1'])(
    '%s puts its prefix before the keys',
    (url) => {
      expect(createRedisDriver(url, 'lk:bytes').options).toMatchObject({ base: 'lk:bytes' })
    },
  )
})

describe('the address of a Redis', () => {
  test.each<[string, object]>([
    ['redis://localhost', { host: 'localhost', port: 6379, db: 0 }],
    ['redis://localhost:7000/', { host: 'localhost', port: 7000, db: 0 }],
    ['redis://localhost:7000/12', { host: 'localhost', port: 7000, db: 12 }],
    ['redis://:p%40ss@localhost', { username: '', password: 'p@ss' }],
    ['redis://ann:p%40ss@localhost', { username: 'ann', password: 'p@ss' }],
    ['rediss://localhost:7000', { host: 'localhost', port: 7000, tls: true }],
    ['valkey://:p%40ss@localhost:7000/3', { host: 'localhost', port: 7000, db: 3, password: 'p@ss' }],
    ['valkeys://localhost', { host: 'localhost', port: 6379, tls: true }],
    ['valkey-sentinel://localhost/main', { name: 'main', sentinels: [{ host: 'localhost', port: 26_379 }] }],
    ['unix:///run/redis.sock', { path: '/run/redis.sock', db: 0 }],
    ['redis+unix:///run/redis.sock?wait=1&db=7', { path: '/run/redis.sock', db: 7 }],
    ['unix://ann:p%40ss@/run/my%20redis.sock', { path: '/run/my redis.sock', username: 'ann', password: 'p@ss' }],
    ['unix://:p%40ss@/run/valkey.sock', { path: '/run/valkey.sock', password: 'p@ss' }],
    ['redis-sentinel://localhost/main', { name: 'main', sentinels: [{ host: 'localhost', port: 26_379 }] }],
    [
      'redis-sentinel://ann:p%40ss@localhost:7000,[::1]:7001/main',
      {
        name: 'main',
        username: 'ann',
        password: 'p@ss',
        sentinels: [
          { host: 'localhost', port: 7000 },
          { host: '::1', port: 7001 },
        ],
      },
    ],
  ])('%s is read', (url, expected) => {
    const client = clientOf(url)
    expect(client instanceof Redis).toBe(true)
    expect((client as Redis).options).toMatchObject(expected)
  })

  test('redis://127.0.0.1 has no encryption', () => expect(optionsOf('redis://127.0.0.1').tls).toBeUndefined())

  test.each<[string, { username?: string; password?: string }]>([
    ['redis-cluster://127.0.0.1', {}],
    ['redis-cluster://:p%40ss@127.0.0.1', { password: 'p@ss' }],
    ['redis-cluster://ann:p%40ss@127.0.0.1', { username: 'ann', password: 'p@ss' }],
    ['redis-cluster://ann:one:two@127.0.0.1', { username: 'ann', password: 'one:two' }],
    ['redis-cluster://ann@127.0.0.1', { username: 'ann', password: '' }],
  ])('%s has the credentials of every node', (url, expected) => {
    const { username, password } = clusterOptionsOf(url).redisOptions!
    expect({ username, password }).toEqual(expected)
  })

  test.each<[string, object | undefined]>([
    ['redis://127.0.0.1', undefined],
    ['redis://127.0.0.1?wait=0', undefined],
    ['redis://127.0.0.1?wait=1', { replicas: 1, timeout: 1000 }],
    ['rediss://ann:p%40ss@127.0.0.1:7000/3?wait=2&wait_timeout=1500', { replicas: 2, timeout: 1500 }],
    ['redis-sentinel://127.0.0.1/main?wait_timeout=1&wait=1', { replicas: 1, timeout: 1 }],
    ['redis-cluster://a?b:p@127.0.0.1,127.0.0.2?wait=99', { replicas: 99, timeout: 1000 }],
  ])('%s asks how many replicas a write waits for, and is used without that', (url, expected) => {
    expect(replicationOf(url)).toEqual(expected)
    expect(databaseOf(url)).toBe(url.includes('/3?') ? 3 : undefined)
    const client = clientOf(url)
    expect(JSON.stringify([client.options, (client as unknown as { startupNodes: unknown }).startupNodes])).not.toMatch(/wait[=_"]/)
  })

  test('names cluster nodes by name or IP address, with or without a port', () => {
    expect(clientOf('redis-cluster://127.0.0.1') instanceof Cluster).toBe(true)
    expect(startupNodesOf('redis-cluster://localhost:7000,[::1]:7001,127.0.0.2,[::1]')).toEqual([
      { host: 'localhost', port: 7000 },
      { host: '::1', port: 7001 },
      { host: '127.0.0.2', port: 6379 },
      { host: '::1', port: 6379 },
    ])
  })

  const REFUSED: Readonly<Record<string, readonly string[]>> = {
    'expected redis://': ['http://127.0.0.1', ' redis://127.0.0.1', 'redis://127.0.0.1/1\n'],
    'invalid host or port': ['redis://127.0.0.1:99999'],
    'number of a database': ['redis://127.0.0.1/production', 'redis://127.0.0.1/1x', 'redis://127.0.0.1/12345'],
    'percent-encoded': ['redis://:%zz@127.0.0.1', 'redis-cluster://%zz:p@127.0.0.1'],
    'name of the monitored master': ['redis-sentinel://127.0.0.1', 'redis-sentinel://127.0.0.1/'],
    'host is missing': [
      'redis-sentinel:///main',
      ...['', '127.0.0.1,,127.0.0.2', '::1', '[::1', 'x[::1]:7000', '[::1]x'].map((nodes) => `redis-cluster://${nodes}`),
    ],
    'followed by a port': ['', 'x1', '1x', '123456'].map((port) => `redis-cluster://127.0.0.1:${port}`),
    'wait and wait_timeout': ['redis://127.0.0.1?db=1'],
    'wait must be a number up to 99': ['', '=x1', '=1x', '=100', '=1&wait=1'].map((value) => `redis://127.0.0.1?wait${value}`),
    'wait_timeout must be a number up to 1500': ['redis://127.0.0.1?wait=1&wait_timeout=1501'],
    'wait_timeout must not be 0': ['redis://127.0.0.1?wait=1&wait_timeout=0'],
  }
  test.each(Object.entries(REFUSED).flatMap(([message, urls]) => urls.map((url) => [url, message])))('%j is refused', (url, message) => {
    const refusal = { name: 'BadRedisUrl', message: expect.stringContaining(message!) }
    expect(() => createRedisDriver(url!)).toThrow(expect.objectContaining(refusal))
  })
})

test.each([
  ['redis://127.0.0.1', undefined],
  ['redis://127.0.0.1/', undefined],
  ['redis://127.0.0.1:7000/0', 0],
  ['redis://ann:secret@127.0.0.1:7000/12', 12],
  ['rediss://127.0.0.1/3', 3],
  ['valkeys://127.0.0.1/3', 3],
  ['unix:///run/redis.sock', undefined],
  ['unix:///run/redis.sock/3', undefined],
  ['unix://ann:secret@/run/redis.sock?db=12&wait=1', 12],
  ['redis://127.0.0.1/3x', undefined],
  ['redis-cluster://127.0.0.1:7000', undefined],
  ['redis-sentinel://127.0.0.1:7000/3', undefined],
  ['redis-sentinel://127.0.0.1:7000/redis://127.0.0.1/3', undefined],
])('%s selects the database %s', (url, database) => expect(databaseOf(url)).toBe(database))
