import type { Logger } from 'pino'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { SharedCounters } from '../counters.ts'
import { StorageUnavailable } from '../port.ts'
import { createRedisDriver, type Connection } from './client.ts'
import { connect, dropIfUnresponsive } from './pool.ts'

/**
 * Opens counters in Redis, over a separate connection: no request waits behind them.
 * @param prefix the prefix of all keys
 * @throws {StorageUnavailable} when Redis cannot be reached
 * @throws {BadRedisUrl}
 */
export async function openRedisCounters(url: string, log: Logger, prefix = 'lk:rate'): Promise<SharedCounters> {
  const client = createRedisDriver(url, prefix).getInstance() as Connection
  await connect([client], url, log).catch((error: Error) => {
    throw new StorageUnavailable(`Redis cannot be reached: ${error.message}`, { cause: error })
  })
  // The limit is compared elsewhere.
  const limiter = new RateLimiterRedis({ storeClient: client, points: 0, duration: 1, keyPrefix: prefix })
  return {
    async add(key, points, seconds) {
      try {
        return (await limiter.penalty(key, points, { customDuration: seconds })).consumedPoints
      } catch (error) {
        dropIfUnresponsive(client, error as Error)
        return undefined
      }
    },
    close: async () => client.disconnect(),
  }
}
