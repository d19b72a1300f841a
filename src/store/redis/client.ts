import type { Cluster, Redis, RedisOptions } from 'ioredis'
import redisDriver from 'unstorage/drivers/redis'
import type { Driver } from 'unstorage'

/** A connection that knows the scripts. */
export type Connection = (Redis | Cluster) & {
  lkRead(key: string, request: string): Promise<unknown>
  lkCommit(key: string, request: string, remember: number, again: string): Promise<unknown>
  lkDump(key: string, after: string, limit: number): Promise<unknown>
}

/** How long one command may take, in milliseconds. */
export const COMMAND_TIMEOUT = 2000

/**
 * Every command has an end, nothing waits for a connection that is not there, and nothing is sent again without
 * our asking: a commit that was not heard of is looked for first.
 */
const options: RedisOptions = {
  commandTimeout: COMMAND_TIMEOUT,
  connectTimeout: COMMAND_TIMEOUT,
  sentinelCommandTimeout: COMMAND_TIMEOUT,
  // One that is left because nothing comes from it will not say goodbye either.
  disconnectTimeout: 200,
  // A master that became a replica: where its address leads to another one now, only a new connection gets there.
  reconnectOnError: (error) => /READONLY/.test(error.message),
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableAutoPipelining: true,
  retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000),
  lazyConnect: true,
}

/** The address of a Redis cannot be read. */
export class BadRedisUrl extends Error {
  override readonly name = 'BadRedisUrl'
}

/**
 * Makes a driver of unstorage for an address:
 * `redis://[user:password@]host[:port][/db]`, `rediss://…` (TLS),
 * `redis-cluster://host:port,host:port`, `redis-sentinel://host:port,host:port/name`.
 * @throws {BadRedisUrl}
 */
export function driverFor(url: string, base?: string): Driver & { getInstance(): Redis | Cluster } {
  const match = /^(redis|rediss|redis-cluster|redis-sentinel):\/\/(?:([^@]*)@)?([^/]*)(?:\/(.*))?$/.exec(url)
  if (match === null) throw new BadRedisUrl('it is no address of a Redis: redis://, rediss://, redis-cluster:// or redis-sentinel://')
  const [, scheme, credentials, hosts, name] = match
  const shared = { ...options, ...login(credentials), ...(base === undefined ? {} : { base }) }
  if (scheme === 'redis' || scheme === 'rediss') checkUrl(url, name)
  if (scheme === 'redis' || scheme === 'rediss') return redisDriver({ ...shared, url }) as never
  if (scheme === 'redis-sentinel') {
    if (name === undefined || name === '')
      throw new BadRedisUrl('the name of the group that the sentinels watch is missing: redis-sentinel://host:port,host:port/NAME')
    return redisDriver({ ...shared, sentinels: nodes(hosts!, 26_379), name } as never) as never
  }
  const clusterOptions = {
    redisOptions: { ...shared, enableAutoPipelining: false },
    enableOfflineQueue: false,
    // Of commands that are sent together, a redirection that is not followed makes the client throw where nobody
    // can catch it (ioredis 5.11).
    enableAutoPipelining: false,
    lazyConnect: true,
    clusterRetryStrategy: options.retryStrategy,
    // Else what was sent over a connection that was lost would be sent again unasked.
    retryDelayOnFailover: 0,
    // Where a slot is on its way to another node, its workspace is neither here nor there: see the scripts.
    ...(base === undefined ? { maxRedirections: 0 } : {}),
  }
  return redisDriver({ base, cluster: nodes(hosts!, 6379), clusterOptions } as never) as never
}

/** The number of the database that an address names, if it names one. */
export function databaseOf(url: string): number | undefined {
  const database = /^rediss?:\/\/[^/]*\/(\d+)$/.exec(url)?.[1]
  return database === undefined ? undefined : Number(database)
}

/** What the client would take for something else, or throw at us with the password in it. */
function checkUrl(url: string, path: string | undefined): void {
  if (!URL.canParse(url)) throw new BadRedisUrl('host and port cannot be read: redis://[user:password@]host[:port][/db]')
  if (path !== undefined && !/^\d{0,4}$/.test(path)) throw new BadRedisUrl('what follows the host is no number of a database')
}

function login(credentials: string | undefined): { username?: string; password?: string } {
  if (credentials === undefined) return {}
  const [username, ...password] = credentials.split(':').map(decoded)
  return { ...(username === '' ? {} : { username: username! }), password: password.join(':') }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new BadRedisUrl('user and password must be percent-encoded')
  }
}

function nodes(hosts: string, defaultPort: number): { host: string; port: number }[] {
  return hosts.split(',').map((host) => {
    const [, literal, name = literal, port] = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(.*))?$/.exec(host) ?? []
    if (name === undefined || name === '') throw new BadRedisUrl('a host is missing')
    if (port !== undefined && !/^\d{1,5}$/.test(port)) throw new BadRedisUrl('a host is followed by ":" and no port')
    return { host: name, port: port === undefined ? defaultPort : Number(port) }
  })
}
