import type { Logger } from 'pino'
import type { SharedCounters } from '../counters.ts'
import { StorageUnavailable } from '../port.ts'
import { createRedisDriver, type Connection } from './client.ts'
import { connect, dropIfUnresponsive } from './pool.ts'

/** Adds points to a key, which expires some seconds after it was made. */
const ADD = `
redis.call('SET', KEYS[1], 0, 'EX', ARGV[2], 'NX')
return redis.call('INCRBY', KEYS[1], ARGV[1])`

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
  return {
    async add(key, points, seconds) {
      try {
        return (await client.eval(ADD, 1, `${prefix}:${key}`, points, seconds)) as number
      } catch (error) {
        dropIfUnresponsive(client, error as Error)
        return undefined
      }
    },
    close: async () => client.disconnect(),
  }
}
