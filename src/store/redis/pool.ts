import type { Socket } from 'node:net'
import { setImmediate as nextRound, setTimeout as delay } from 'node:timers/promises'
import { Cluster, type Redis } from 'ioredis'
import type { Logger } from 'pino'
import { StorageUnavailable } from '../port.ts'
import { COMMAND_TIMEOUT, createRedisDriver, databaseOf, type Connection, type Replication, sendAndWait } from './client.ts'
import { BEGIN_DUMP, DUMP, END_DUMP } from './dump-scripts.ts'
import { guardReplies } from './replies.ts'
import { COMMIT, END_TURN, READ } from './scripts.ts'
import { slotOf, tagsOfMasters, type SlotTable } from './slots.ts'

/** How long it may take to connect, in milliseconds. Without it, the client would ask unreachable sentinels forever. */
const CONNECT_TIMEOUT = 5 * COMMAND_TIMEOUT
/**
 * A client that follows no redirections wraps every error in this message, also timeouts and errors of the connection
 * (ioredis 5.11).
 */
const WRAPPED = /^Too many Cluster redirections\. Last error: (\w+): (.*)/s
const MOVED = /\bMOVED\b/
/** How long a read is repeated after its connection was lost, in milliseconds: a client reconnects after about 100. */
const REPEAT_READS_FOR = 250
/** How often it is repeated: every so many milliseconds. */
const REPEAT_INTERVAL = 5

/** The commands that each client gets (see {@link Connection}). */
const SCRIPTS = { lkRead: READ, lkCommit: COMMIT, lkBeginDump: BEGIN_DUMP, lkDump: DUMP, lkEndDump: END_DUMP, lkEndLease: END_TURN }

const NO_REPLICATION: Replication = { replicas: 0, timeout: 0 }

/**
 * A command has no reply, or an error reply. Unlike the client's own errors it does not contain the command: stored
 * data and the password of the connection must not get into logs.
 */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
  /** Redis refused the command, so it has not been executed */
  readonly refused: boolean
  /** the command was not sent */
  readonly unsent: boolean
  /** Redis did not answer in time; in all other cases without a reply, the connection was lost */
  readonly timedOut: boolean

  constructor(error: Error) {
    const [, name, message] = WRAPPED.exec(error.message) ?? [undefined, error.name, error.message]
    super(message)
    this.refused = name === 'ReplyError'
    this.timedOut = message === 'Command timed out'
    this.unsent = /Stream isn't writeable|Cluster isn't ready/.test(error.message)
  }
}

/** Runs a command, and throws {@link StorageUnavailable} when it fails. See {@link Pool.run}. */
export type Run = <T>(command: (client: Connection) => Promise<T>, group?: string) => Promise<T>

/** Connections that share the load. They reconnect automatically. */
export class Pool {
  readonly #clients: readonly Connection[]
  readonly #repeatReadsFor: number
  #turn = 0

  constructor(clients: readonly Connection[], repeatReadsFor: number) {
    this.#clients = clients
    this.#repeatReadsFor = repeatReadsFor
  }

  /**
   * Connects.
   * @param repeatReadsFor how long a read is repeated after its connection was lost, in milliseconds
   * @throws {BadRedisUrl}
   * @throws {CommandFailed} when Redis cannot be reached
   */
  static async open(url: string, connections: number, log: Logger, repeatReadsFor = REPEAT_READS_FOR): Promise<Pool> {
    const clients = Array.from({ length: connections }, () => createRedisDriver(url).getInstance() as Connection)
    for (const client of clients) for (const [name, lua] of Object.entries(SCRIPTS)) client.defineCommand(name, { numberOfKeys: 1, lua })
    await connect(clients, url, log)
    return new Pool(clients, repeatReadsFor)
  }

  /**
   * Runs a command over one of the open connections.
   * @param group the commands of a group have one connection as long as it is open, so their replies come in the order in which they were
   * executed, and they are sent together. Other commands take the connections in turn.
   * @param redirections how many redirections of a cluster are followed
   * @throws {CommandFailed}
   */
  async run<T>(command: (client: Connection) => Promise<T>, group?: string, redirections = 2): Promise<T> {
    const client = this.#clientFor(group)
    try {
      return await command(client)
    } catch (error) {
      // MOVED: the slot is on another node, and the command has not been executed.
      if (redirections > 0 && client instanceof Cluster && MOVED.test((error as Error).message)) {
        await new Promise((resolve) => client.refreshSlotsCache(resolve))
        return this.run(command, group, redirections - 1)
      }
      // All connections lead to the same server, so the next attempt should not use another unresponsive one.
      const failed = new CommandFailed(error as Error)
      for (const other of this.#clients) dropIfUnresponsive(other, failed)
      throw failed
    }
  }

  /**
   * Runs a command that changes nothing. If its connection is lost, it is repeated on a new connection, for a while.
   * @param group see {@link Pool.run}
   * @throws {CommandFailed}
   */
  async runRead<T>(command: (client: Connection) => Promise<T>, group?: string): Promise<T> {
    const deadline = performance.now() + this.#repeatReadsFor
    for (;;) {
      try {
        return await this.run(command, group)
      } catch (error) {
        const { refused, timedOut } = error as CommandFailed
        if (refused || timedOut || performance.now() > deadline) throw error
      }
      // The other connections may be lost too, and this process may not know it yet.
      do await delay(REPEAT_INTERVAL)
      while (this.connections.open === 0 && performance.now() <= deadline)
    }
  }

  /** Whether it is connected to a cluster. */
  get isCluster(): boolean {
    return this.#clients[0] instanceof Cluster
  }

  /**
   * Checks that Redis accepts writes, or that every master of a cluster does. It changes nothing else, so it is repeated: when another
   * command has timed out, all connections are replaced, and one whose time is over may only have waited for this process, such as while a
   * policy is proved. The second time-out counts.
   * @param key is written, and expires after a second. In a cluster, hash tags are appended.
   * @returns how many replicas have it, if `replication` asks for that
   * @throws {CommandFailed}
   */
  async probe(key: string, replication: Replication = NO_REPLICATION): Promise<number> {
    const once = () => this.runRead((client) => probeOf(client, key, replication))
    return once().catch((error: unknown) => {
      if (error instanceof CommandFailed && error.timedOut) return once()
      throw error
    })
  }

  /** The number of connections that are open, and of those that are not. */
  get connections(): { readonly open: number; readonly closed: number } {
    const open = this.#clients.filter(({ status }) => status === 'ready').length
    return { open, closed: this.#clients.length - open }
  }

  close(): void {
    for (const client of this.#clients) client.disconnect()
  }

  /** The connection of a group, or the next one, if it is open; otherwise one that is, or any connection when none is. */
  #clientFor(group: string | undefined): Connection {
    const { length } = this.#clients
    const first = group === undefined ? this.#turn++ : slotOf(group)
    for (let i = 0; i < length; i++) {
      const client = this.#clients[(first + i) % length]!
      if (client.status === 'ready') return client
    }
    return this.#clients[first % length]!
  }
}

/**
 * Writes a key that expires after a second.
 * @returns how many replicas have it
 */
async function probeOf(client: Connection, key: string, replication: Replication): Promise<number> {
  const keys = client instanceof Cluster ? tagsOfMasters(client as unknown as SlotTable).map((tag) => `${key}:{${tag}}`) : [key]
  const counts = await Promise.all(
    keys.map(async (one) => {
      if (replication.replicas > 0) return (await sendAndWait(client, ['set', one, '', 'PX', 1000], replication))[1]
      await client.set(one, '', 'PX', 1000)
      return 0
    }),
  )
  return Math.min(...counts)
}

/**
 * Connects a client for subscriptions, which can send no other commands.
 * @throws {CommandFailed}
 */
export async function openClient(url: string, log: Logger): Promise<Connection> {
  const client = createRedisDriver(url).getInstance() as Connection
  await connect([client], url, log)
  return client
}

/**
 * Connects clients, and selects the database of the address.
 * @throws {CommandFailed} when Redis cannot be reached; the clients are then closed
 */
export async function connect(clients: readonly Connection[], url: string, log: Logger): Promise<void> {
  let lastError: Error | undefined
  for (const client of clients) guardReplies(client)
  for (const client of clients)
    // Without a listener, the client would print the errors of its connection. Commands report their own errors.
    client.on('error', (error: Error) => {
      lastError = error
      ignoreFurtherErrors(client)
      log.debug({ err: new CommandFailed(error) }, 'redis connection')
    })
  try {
    const timeout = new Error(`no connection within ${CONNECT_TIMEOUT / 1000} seconds`)
    await withTimeout(CONNECT_TIMEOUT, Promise.all(clients.map(connectAll)), timeout)
    // When the database does not exist, the client itself would silently use database 0.
    const database = databaseOf(url)
    if (database !== undefined) await Promise.all(clients.map((client) => (client as Redis).select(database)))
  } catch (error) {
    for (const client of clients) {
      ignoreFurtherErrors(client)
      client.disconnect()
    }
    // The thrown error says only that there is no connection. The last error event has the reason.
    const reason = new CommandFailed(lastError ?? (error as Error))
    const advice = adviceFor(reason.message, url)
    if (advice !== undefined) reason.message += ` (${advice})`
    throw reason
  }
}

/** A connection with TLS can fail twice, and the client (ioredis 5.11) listens for one error only: a second one would end the process. */
function ignoreFurtherErrors(client: Connection): void {
  const { stream } = client as unknown as { readonly stream?: Socket }
  stream?.on('error', () => undefined)
}

/** What may be wrong if no connection is made, as an operator understands it. */
function adviceFor(reason: string, url: string): string | undefined {
  const hasTls = /^(?:rediss|valkeys):/.test(url)
  if (!hasTls && /max retries per request limit|ECONNRESET|Connection is closed|Protocol error/.test(reason))
    return 'if it expects TLS, its address begins with rediss://'
  if (hasTls && /ETIMEDOUT|wrong version number/.test(reason)) return 'if it has no TLS, its address begins with redis://'
  if (/self-signed certificate|unable to (?:get|verify)/.test(reason))
    return 'if a CA of your own has signed its certificate, NODE_EXTRA_CA_CERTS must name the file of the CA'
  return undefined
}

/**
 * Connects a client, and a cluster's client to every master: its first commands to a node fail if there are several at once (ioredis 5.11).
 */
async function connectAll(client: Connection): Promise<void> {
  await client.connect()
  if (client instanceof Cluster) await Promise.allSettled(client.nodes('master').map((node) => node.ping()))
}

/**
 * Waits for work. What has arrived counts, also if this process was busy and sees it only when the time is over.
 * @throws {Error} this error, when the work takes longer than the timeout in milliseconds
 */
export async function withTimeout<T>(timeout: number, work: Promise<T>, error: Error): Promise<T> {
  const timer = new AbortController()
  const expired = delay(timeout, undefined, { signal: timer.signal }).then(async () => {
    // Node.js calls timers before it reads what has arrived.
    await nextRound()
    throw error
  })
  try {
    return await Promise.race([work, expired])
  } finally {
    timer.abort()
  }
}

/**
 * Drops a connection after a command on it has timed out, so that the client opens a new one. When the server has
 * vanished without closing the connection, the operating system would keep it for about a quarter of an hour.
 */
export function dropIfUnresponsive(client: Connection, error: Error): void {
  if (!isTimeout(error) || client.status !== 'ready') return
  if (!(client instanceof Cluster)) return client.disconnect(true)
  for (const node of client.nodes())
    node.ping().catch((pingError: Error) => {
      if (isTimeout(pingError)) node.disconnect()
    })
}

function isTimeout(error: Error): boolean {
  return error.message === 'Command timed out'
}

/** Converts a CommandFailed. Throws any other error. */
export function toUnavailable(error: unknown): StorageUnavailable {
  if (!(error instanceof CommandFailed)) throw error
  return new StorageUnavailable(error.refused ? `Redis refused: ${error.message}` : 'Redis did not answer', { cause: error })
}

/** @throws {StorageUnavailable} or what else the error is */
export function throwUnavailable(error: unknown): never {
  throw toUnavailable(error)
}
