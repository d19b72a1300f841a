import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { Driver } from 'unstorage'
import { StorageUnavailable } from '../port.ts'
import { createRedisDriver, databaseOf, type Connection } from './client.ts'
import { CommandFailed, CONNECT_TIMEOUT, dropIfUnresponsive, toUnavailable, withTimeout } from './pool.ts'

/**
 * Opens unstorage's redis driver for blobs. Its methods throw {@link StorageUnavailable} when a command fails.
 * @throws {StorageUnavailable} when Redis cannot be reached
 * @throws {BadRedisUrl}
 */
export async function openRedisBlobDriver(url: string, log: Logger): Promise<Driver> {
  const driver = createRedisDriver(url, 'lk:bytes')
  const client = driver.getInstance() as Connection
  client.on('error', (error: Error) => log.debug({ err: new CommandFailed(error) }, 'redis connection'))
  try {
    await withTimeout(CONNECT_TIMEOUT, client.connect() as Promise<void>)
    const database = databaseOf(url)
    if (database !== undefined) await (client as Redis).select(database)
  } catch (error) {
    client.disconnect()
    throw new StorageUnavailable(`Redis cannot be reached: ${(error as Error).message}`, { cause: new CommandFailed(error as Error) })
  }
  const fail = (error: Error): never => {
    dropIfUnresponsive(client, error)
    throw toUnavailable(new CommandFailed(error))
  }
  return {
    name: driver.name!,
    hasItem: async (key, options) => Promise.resolve(driver.hasItem(key, options)).catch(fail),
    getItem: async (key, options) => Promise.resolve(driver.getItem(key, options)).catch(fail),
    setItem: async (key, value, options) => Promise.resolve(driver.setItem!(key, value, options)).catch(fail),
    removeItem: async (key, options) => Promise.resolve(driver.removeItem!(key, options)).catch(fail),
    getKeys: async (base, options) => Promise.resolve(driver.getKeys(base, options)).catch(fail),
    dispose: () => driver.dispose!(),
  }
}
