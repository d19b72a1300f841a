import { setTimeout as after } from 'node:timers/promises'
import { Cluster, ReplyError, type Redis } from 'ioredis'
import type { Logger } from 'pino'
import { StorageUnavailable } from '../port.ts'
import { COMMAND_TIMEOUT, databaseOf, driverFor, type Connection } from './client.ts'
import { COMMIT, DUMP, READ } from './scripts.ts'

/** How the client says that it does not follow what a node of a cluster answered. */
const REDIRECTED = /^Too many Cluster redirections/
const MOVED = /\bMOVED\b/

/**
 * Why a command has no answer. It says nothing of the command itself, as the client's own errors do: what people
 * store, and the password that a connection begins with, are no matter of a log.
 */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
  /** Redis answered that it will not, so it did nothing */
  readonly refused: boolean
  /** it never left this process */
  readonly unsent: boolean

  constructor(error: Error) {
    super(error.message)
    this.refused = error instanceof ReplyError || REDIRECTED.test(error.message)
    this.unsent = /Stream isn't writeable|Cluster isn't ready/.test(error.message)
  }
}

/** A sentinel that leads nowhere would be asked for ever. In milliseconds. */
export const OPEN_WITHIN = 5 * COMMAND_TIMEOUT

/** @throws {Error} where it takes longer */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const waiting = new AbortController()
  const late = after(milliseconds, undefined, { signal: waiting.signal }).then(() => {
    throw new Error(`no connection within ${milliseconds / 1000} seconds`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    late.catch(() => undefined)
    waiting.abort()
    work.catch(() => undefined)
  }
}

/** Connections that share the work. They come back by themselves, however they were lost. */
export class Pool {
  readonly #clients: readonly Connection[]
  #turn = 0

  constructor(clients: readonly Connection[]) {
    this.#clients = clients
  }

  /** @throws {BadRedisUrl} {@link CommandFailed} */
  static async open(url: string, connections: number, log: Logger): Promise<Pool> {
    const clients = Array.from({ length: connections }, () => driverFor(url).getInstance() as Connection)
    let last: Error | undefined
    for (const client of clients) {
      // Otherwise an error that comes while nobody waits would end the process. Commands hear of it themselves.
      client.on('error', (error: Error) => {
        last = error
        log.debug({ err: new CommandFailed(error) }, 'redis connection')
      })
      client.defineCommand('lkRead', { numberOfKeys: 1, lua: READ })
      client.defineCommand('lkCommit', { numberOfKeys: 1, lua: COMMIT })
      client.defineCommand('lkDump', { numberOfKeys: 1, lua: DUMP })
    }
    const pool = new Pool(clients)
    try {
      await within(OPEN_WITHIN, Promise.all(clients.map((client) => client.connect())))
      // The client itself would go on in database 0 where there is no such one.
      const database = databaseOf(url)
      if (database !== undefined) await Promise.all(clients.map((client) => (client as Redis).select(database)))
    } catch (error) {
      pool.close()
      // What is thrown says only that there is no connection; why is said by the way.
      throw new CommandFailed(last ?? (error as Error))
    }
    return pool
  }

  /**
   * Asks over one of the connections that are there.
   * @throws {CommandFailed}
   */
  async ask<T>(command: (client: Connection) => Promise<T>, again = 2): Promise<T> {
    const client = this.#next()
    try {
      return await command(client)
    } catch (error) {
      // It was not done: another node has that part of the cluster now.
      if (again > 0 && client instanceof Cluster && MOVED.test((error as Error).message)) {
        await new Promise((resolve) => client.refreshSlotsCache(resolve))
        return this.ask(command, again - 1)
      }
      // The others lead to the same place: what is sent again should not find itself on the next silent one.
      for (const each of this.#clients) leaveIfSilent(each, error as Error)
      throw new CommandFailed(error as Error)
    }
  }

  /**
   * Makes sure that Redis takes writes, and of a cluster that every part of it answers.
   * @throws {CommandFailed}
   */
  async probe(key: string): Promise<void> {
    await this.ask(async (client) => {
      await client.set(key, '', 'PX', 1000)
      if (client instanceof Cluster) await Promise.all(client.nodes('master').map((node) => node.ping()))
    })
  }

  close(): void {
    for (const client of this.#clients) client.disconnect()
  }

  #next(): Connection {
    for (let i = 0; i < this.#clients.length; i++) {
      this.#turn = (this.#turn + 1) % this.#clients.length
      if (this.#clients[this.#turn]!.status === 'ready') break
    }
    return this.#clients[this.#turn]!
  }
}

/**
 * Leaves a connection over which no answer came, so that another one is made: where the other side vanished
 * without a word, the operating system would go on trying for a quarter of an hour.
 */
export function leaveIfSilent(client: Connection, error: Error): void {
  if (!isSilence(error) || client.status !== 'ready') return
  if (!(client instanceof Cluster)) return client.disconnect(true)
  for (const node of client.nodes())
    node.ping().catch((silent: Error) => {
      if (isSilence(silent)) node.disconnect()
    })
}

function isSilence(error: Error): boolean {
  return error.message === 'Command timed out'
}

/** What an error of a client is to whoever uses the storage. */
export function unavailable(error: unknown): StorageUnavailable {
  if (!(error instanceof CommandFailed)) throw error
  return new StorageUnavailable(error.refused ? `Redis refused: ${error.message}` : 'Redis did not answer', { cause: error })
}
