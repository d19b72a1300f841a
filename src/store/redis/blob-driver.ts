import { Cluster } from 'ioredis'
import type { Logger } from 'pino'
import type { Driver } from 'unstorage'
import { StorageUnavailable } from '../port.ts'
import { createRedisDriver, replicationOf, type Connection, sendAndWait } from './client.ts'
import { CommandFailed, connect, dropIfUnresponsive, Pool, throwUnavailable } from './pool.ts'

/** The prefix of all keys. */
const BASE = 'lk:bytes'

/**
 * Opens unstorage's redis driver for blobs. Its methods throw {@link StorageUnavailable} when a command fails.
 * @throws {StorageUnavailable} when Redis cannot be reached
 * @throws {BadRedisUrl}
 */
export async function openRedisBlobDriver(url: string, log: Logger): Promise<Driver> {
  const driver = createRedisDriver(url, BASE)
  const client = driver.getInstance() as Connection
  const replication = replicationOf(url)
  let writers: Pool | undefined
  try {
    await connect([client], url, log)
    // While a write waits for replicas, its connection does nothing else.
    if (replication !== undefined) writers = await Pool.open(url, 1, log)
  } catch (error) {
    client.disconnect()
    const { refused, message } = error as CommandFailed
    throw new StorageUnavailable(`${refused ? 'Redis refused' : 'Redis cannot be reached'}: ${message}`, { cause: error })
  }
  const fail = (error: Error): never => {
    dropIfUnresponsive(client, error)
    throwUnavailable(new CommandFailed(error))
  }
  const setItem: Driver['setItem'] = async (key, value, options) => {
    if (replication === undefined) return Promise.resolve(driver.setItem!(key, value, options)).catch(fail)
    const write = writers!.run((writer) => sendAndWait(writer, ['set', `${BASE}:${key}`, value], replication))
    const [, replicas] = await write.catch(throwUnavailable)
    if (replicas < replication.replicas) throw new StorageUnavailable(`${replicas} of ${replication.replicas} replicas answered in time`)
  }
  return {
    name: driver.name!,
    hasItem: async (key, options) => Promise.resolve(driver.hasItem(key, options)).catch(fail),
    getItem: async (key, options) => Promise.resolve(driver.getItem(key, options)).catch(fail),
    setItem,
    removeItem: async (key, options) => Promise.resolve(driver.removeItem!(key, options)).catch(fail),
    getKeys: () => listKeys(client).catch(fail),
    dispose() {
      writers?.close()
      driver.dispose!()
    },
  }
}

/** The keys of all chunks, from every master: the driver itself would ask only one node of a cluster. */
async function listKeys(client: Connection): Promise<string[]> {
  const keys = new Set<string>()
  for (const node of client instanceof Cluster ? client.nodes('master') : [client]) {
    for (let cursor = '0'; ;) {
      const [next, found] = await node.scan(cursor, 'MATCH', `${BASE}:*`, 'COUNT', 1000)
      for (const key of found) keys.add(key.slice(BASE.length + 1))
      if (next === '0') break
      cursor = next
    }
  }
  return [...keys]
}
