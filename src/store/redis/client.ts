import type { Cluster, Redis, RedisOptions } from 'ioredis'
import redisDriver from 'unstorage/drivers/redis'
import type { Driver } from 'unstorage'

/** A client with the scripts as commands (see `scripts.ts`). */
export type Connection = (Redis | Cluster) & {
  lkRead(key: string, request: string): Promise<unknown>
  lkCommit(key: string, revision: string, ttl: number, resent: '0' | '1', ...rest: readonly string[]): Promise<unknown>
  lkBeginDump(key: string, id: string, ttl: number): Promise<unknown>
  lkDump(key: string, id: string, after: string, ttl: number, keys: number, bytes: number): Promise<unknown>
  lkEndDump(key: string, id: string): Promise<unknown>
  lkEndLease(key: string, id: string): Promise<unknown>
}

/** How many replicas must have a write before it is acknowledged, and how long that may take in milliseconds. */
export interface Replication {
  readonly replicas: number
  readonly timeout: number
}

/** How long one command may take, in milliseconds. */
export const COMMAND_TIMEOUT = 2000
/** How long a write may wait for replicas, in milliseconds: less than a command may take. */
const MAX_WAIT = 1500

/**
 * Every command has a timeout. The client neither queues commands while it is disconnected nor resends them: after
 * an unanswered commit, the store itself decides whether to resend it.
 */
const options: RedisOptions = {
  commandTimeout: COMMAND_TIMEOUT,
  connectTimeout: COMMAND_TIMEOUT,
  sentinelCommandTimeout: COMMAND_TIMEOUT,
  // An unresponsive connection that is dropped does not answer the disconnect either.
  disconnectTimeout: 200,
  // The master became a replica. When the address leads to the new master, only a new connection reaches it.
  reconnectOnError: (error) => /READONLY/.test(error.message),
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableAutoPipelining: true,
  retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000),
  lazyConnect: true,
}

/** The address of a Unix socket. */
const SOCKET = /^(?:redis\+)?unix:\/\/(?:([^@/]*)@)?(\/[^/].*)$/

/** The address of a Redis is invalid. The message contains neither user nor password. */
export class BadRedisUrl extends Error {
  override readonly name = 'BadRedisUrl'
}

/**
 * Creates an unstorage driver for an address:
 * `redis://[user:password@]host[:port][/db]`, `rediss://…` (TLS),
 * `redis-cluster://host:port,host:port`, `redis-sentinel://host:port,host:port/name`, `unix://[user:password@]/path/of/the.sock[?db=N]`
 * (or `redis+unix://…`). Each may end with `?wait=N`. `valkey` in place of `redis` means the same.
 * @param base key prefix for blobs; without it, the driver's client is used for records only
 * @throws {BadRedisUrl}
 */
export function createRedisDriver(address: string, base?: string): Driver & { getInstance(): Redis | Cluster } {
  replicationOf(address)
  const [url] = splitAddress(address)
  const socket = SOCKET.exec(url)
  if (socket !== null) {
    const [, ofSocket, path] = socket
    return redisDriver({
      ...options,
      ...parseCredentials(ofSocket),
      base,
      path: percentDecode(path!),
      db: databaseOf(address) ?? 0,
    } as never) as never
  }
  const match = /^(redis|rediss|redis-cluster|redis-sentinel):\/\/(?:([^@]*)@)?([^/]*)(?:\/(.*))?$/.exec(url)
  if (match === null)
    throw new BadRedisUrl('invalid Redis address; expected redis://, rediss://, unix:///PATH, redis-cluster:// or redis-sentinel://')
  const [, scheme, credentials, hosts, path] = match
  const shared = { ...options, ...parseCredentials(credentials), base }
  if (scheme === 'redis' || scheme === 'rediss') {
    checkUrl(url, path)
    return redisDriver({ ...shared, url } as never) as never
  }
  if (scheme === 'redis-sentinel') {
    if (path === undefined || path === '')
      throw new BadRedisUrl('the name of the monitored master is missing: redis-sentinel://host:port,host:port/NAME')
    return redisDriver({ ...shared, sentinels: parseNodes(hosts!, 26_379), name: path } as never) as never
  }
  const clusterOptions = {
    redisOptions: { ...shared, enableAutoPipelining: false },
    enableOfflineQueue: false,
    // With pipelining, a redirection that is not followed makes the client throw outside of any promise (ioredis 5.11).
    enableAutoPipelining: false,
    lazyConnect: true,
    clusterRetryStrategy: options.retryStrategy,
    // Otherwise the client would resend commands of a lost connection.
    retryDelayOnFailover: 0,
    // Scripts need an error while a slot migrates to another node (see `scripts.ts`).
    ...(base === undefined ? { maxRedirections: 0 } : {}),
  }
  return redisDriver({ base, cluster: parseNodes(hosts!, 6379), clusterOptions } as never) as never
}

/**
 * How many replicas the address asks each write to wait for: `?wait=N`, and `&wait_timeout=MILLISECONDS`, 1000 by default.
 * @returns undefined if it does not
 * @throws {BadRedisUrl}
 */
export function replicationOf(address: string): Replication | undefined {
  const settings = new URLSearchParams(splitAddress(address)[1])
  const known = SOCKET.test(splitAddress(address)[0]) ? ['wait', 'wait_timeout', 'db'] : ['wait', 'wait_timeout']
  for (const name of settings.keys())
    if (!known.includes(name))
      throw new BadRedisUrl('after "?", a Redis address may have wait and wait_timeout, and the address of a Unix socket also db')
  integerOf(settings, 'db', 0, 9999)
  const replicas = integerOf(settings, 'wait', 0, 99)
  const timeout = integerOf(settings, 'wait_timeout', 1000, MAX_WAIT)
  if (timeout === 0) throw new BadRedisUrl('wait_timeout must not be 0')
  return replicas === 0 ? undefined : { replicas, timeout }
}

function integerOf(settings: URLSearchParams, name: string, initial: number, max: number): number {
  const [text = String(initial), ...others] = settings.getAll(name)
  if (others.length > 0 || !/^\d{1,4}$/.test(text) || Number(text) > max) throw new BadRedisUrl(`${name} must be a number up to ${max}`)
  return Number(text)
}

/** Splits an address from its settings after "?". Valkey is a Redis. */
function splitAddress(address: string): [url: string, settings: string] {
  const [, url = address, settings = ''] = /^(.*)\?([^@/?]*)$/s.exec(address) ?? []
  return [url.replace(/^valkey(?=s?:|-)/, 'redis'), settings]
}

/** The database number of an address; undefined when it names none. */
export function databaseOf(address: string): number | undefined {
  const [url, settings] = splitAddress(address)
  const database = SOCKET.test(url) ? new URLSearchParams(settings).get('db') : /^rediss?:\/\/[^/]*\/(\d+)$/.exec(url)?.[1]
  return database == null ? undefined : Number(database)
}

/** Rejects what the client would misread, or report in an error that contains the password. */
function checkUrl(url: string, path: string | undefined): void {
  if (!URL.canParse(url)) throw new BadRedisUrl('invalid host or port: redis://[user:password@]host[:port][/db]')
  if (path !== undefined && !/^\d{0,4}$/.test(path)) throw new BadRedisUrl('the path after the host must be the number of a database')
}

function parseCredentials(credentials: string | undefined): { username?: string; password?: string } {
  if (credentials === undefined) return {}
  const [username, ...password] = credentials.split(':').map(percentDecode)
  return { ...(username === '' ? {} : { username: username! }), password: password.join(':') }
}

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new BadRedisUrl('user and password must be percent-encoded')
  }
}

function parseNodes(hosts: string, defaultPort: number): { host: string; port: number }[] {
  return hosts.split(',').map((node) => {
    const [, literal, host = literal, port] = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(.*))?$/.exec(node) ?? []
    if (host === undefined || host === '') throw new BadRedisUrl('a host is missing')
    if (port !== undefined && !/^\d{1,5}$/.test(port)) throw new BadRedisUrl('the ":" after a host must be followed by a port')
    return { host, port: port === undefined ? defaultPort : Number(port) }
  })
}

/**
 * Sends a command with one key, and behind it, over the same connection, the question how many replicas have it. (WAIT asks for
 * everything that was written before it on its connection, and on any other one.) A script must be sent as EVAL: if EVALSHA
 * failed and the script was sent again, it would come after the question.
 * @returns the reply, and the number of replicas that had it in time
 */
export async function sendAndWait(
  client: Connection,
  command: readonly [name: string, ...values: (string | number | Buffer)[]],
  { replicas, timeout }: Replication,
): Promise<[reply: unknown, replicas: number]> {
  const results = (await client.pipeline([[...command], ['wait', replicas, timeout]]).exec())!
  const [[error, reply], [waitError, count]] = results as [[Error | null, unknown], [Error | null, number]]
  if (error !== null) throw error
  // Not as a refusal: the command itself is done.
  if (waitError !== null) throw new Error(waitError.message)
  return [reply, count]
}
