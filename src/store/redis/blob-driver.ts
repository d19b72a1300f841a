import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { Driver } from 'unstorage'
import { StorageUnavailable } from '../port.ts'
import { databaseOf, driverFor, type Connection } from './client.ts'
import { CommandFailed, leaveIfSilent, OPEN_WITHIN, unavailable, within } from './pool.ts'

/**
 * Opens unstorage's redis driver for bytes of files. What fails there is storage that is away, not a fault of ours.
 * @throws {StorageUnavailable} where it cannot be reached
 * @throws {BadRedisUrl}
 */
export async function openRedisBytes(url: string, log: Logger): Promise<Driver> {
  const driver = driverFor(url, 'lk:bytes')
  const client = driver.getInstance() as Connection
  client.on('error', (error: Error) => log.debug({ err: new CommandFailed(error) }, 'redis connection'))
  try {
    await within(OPEN_WITHIN, client.connect() as Promise<void>)
    const database = databaseOf(url)
    if (database !== undefined) await (client as Redis).select(database)
  } catch (error) {
    client.disconnect()
    throw new StorageUnavailable(`Redis cannot be reached: ${(error as Error).message}`, { cause: new CommandFailed(error as Error) })
  }
  const tell = (error: Error): never => {
    leaveIfSilent(client, error)
    throw unavailable(new CommandFailed(error))
  }
  return {
    name: driver.name!,
    hasItem: async (key, options) => Promise.resolve(driver.hasItem(key, options)).catch(tell),
    getItem: async (key, options) => Promise.resolve(driver.getItem(key, options)).catch(tell),
    setItem: async (key, value, options) => Promise.resolve(driver.setItem!(key, value, options)).catch(tell),
    removeItem: async (key, options) => Promise.resolve(driver.removeItem!(key, options)).catch(tell),
    getKeys: async (base, options) => Promise.resolve(driver.getKeys(base, options)).catch(tell),
    dispose: () => driver.dispose!(),
  }
}
