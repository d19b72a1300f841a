import type { Logger } from 'pino'
import type { Driver } from 'unstorage'
import { StorageUnavailable } from '../port.ts'
import { createRedisDriver, type Connection } from './client.ts'
import { CommandFailed, connect, dropIfUnresponsive, toUnavailable } from './pool.ts'

/**
 * Opens unstorage's redis driver for blobs. Its methods throw {@link StorageUnavailable} when a command fails.
 * @throws {StorageUnavailable} when Redis cannot be reached
 * @throws {BadRedisUrl}
 */
export async function openRedisBlobDriver(url: string, log: Logger): Promise<Driver> {
  const driver = createRedisDriver(url, 'lk:bytes')
  const client = driver.getInstance() as Connection
  try {
    await connect([client], url, log)
  } catch (error) {
    const { refused, message } = error as CommandFailed
    throw new StorageUnavailable(`${refused ? 'Redis refused' : 'Redis cannot be reached'}: ${message}`, { cause: error })
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
