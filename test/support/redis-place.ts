import { Redis } from 'ioredis'
import { afterEach, beforeEach } from 'vitest'
import { createDerivations } from '../../src/resources/derived.ts'
import type { StorageHandle } from '../../src/store/open.ts'
import { openRedisStore, type RedisStore, type RedisStoreOptions } from '../../src/store/redis/store.ts'
import { quiet } from './log.ts'
import type { Driver } from './memory.ts'
import { TcpProxy } from './proxy.ts'
import { startRedis, type RedisServer } from './redis.ts'

/** The driver of a service on a storage that is open. */
export const driverOf = (storage: StorageHandle): Driver => ({
  name: storage.kind,
  open: async () => ({
    ...storage,
    recordKeys: () => Promise.reject(new Error('not supported by this test')),
    blobKeys: () => Promise.reject(new Error('not supported by this test')),
  }),
})

/** A Redis of its own for each test of a suite, with a client of its operator, and a proxy between it and the clients under test. */
export class RedisPlace {
  server!: RedisServer
  operator!: Redis
  proxy!: TcpProxy
  /** what was opened, and is closed after the test */
  readonly #opened: { close(): Promise<void> }[] = []

  /** @param options of the server */
  static forEach(...options: readonly string[]): RedisPlace {
    const place = new RedisPlace()
    beforeEach(() => place.#start(options))
    afterEach(() => place.#stop())
    return place
  }

  async #start(options: readonly string[]): Promise<void> {
    this.server = await startRedis(options)
    this.operator = new Redis(this.server.port, '127.0.0.1')
    this.operator.on('error', () => undefined)
    this.proxy = await TcpProxy.open(this.server.port)
  }

  async #stop(): Promise<void> {
    for (const one of this.#opened.splice(0).toReversed()) await one.close()
    this.operator.disconnect()
    await this.proxy.close()
    await this.server.stop()
  }

  /** Opens a store, by default directly. */
  async open(url = this.server.url, options: Partial<RedisStoreOptions> = {}): Promise<RedisStore> {
    const store = await openRedisStore(url, { log: quiet, derived: createDerivations(), ...options })
    this.#opened.push(store)
    return store
  }

  /** How many connections there are, without the operator's. */
  async connections(): Promise<number> {
    const clients = String(await this.operator.call('CLIENT', 'LIST', 'TYPE', 'normal'))
    return clients.trim().split('\n').length - 1
  }

  /** Polls until the operator has the only connection. */
  async untilDisconnected(): Promise<void> {
    while ((await this.connections()) > 0);
  }
}

/** A replica of a Redis, whose link to it a test can cut. */
export interface Replica {
  readonly server: RedisServer
  readonly operator: Redis
  /** what it replicates passes it */
  readonly link: TcpProxy
  /** Waits until it has everything. */
  caughtUp(): Promise<void>
  stop(): Promise<void>
}

/** Starts a replica, and waits until it has everything. */
export async function startReplica({ server: master, operator: ofMaster }: RedisPlace): Promise<Replica> {
  const link = await TcpProxy.open(master.port)
  const server = await startRedis(['--replicaof', '127.0.0.1', String(link.port)])
  const operator = new Redis(server.port, '127.0.0.1')
  const caughtUp = async () => {
    await ofMaster.set('x', '1')
    while ((await ofMaster.wait(1, 1000)) === 0);
  }
  await caughtUp()
  const stop = async () => {
    operator.disconnect()
    await server.stop()
    await link.close()
  }
  return { server, operator, link, caughtUp, stop }
}
