import { describe, expect, test } from 'vitest'
import { effort } from '../support/effort.ts'
import { OperationLog } from '../support/operation-log.ts'
import { RedisPlace } from '../support/redis-place.ts'

const redis = RedisPlace.forEach()

describe('a network to Redis that fails while clients write', () => {
  test('no outcome is wrong when connections are cut after a random number of bytes', async () => {
    const { proxy } = redis
    const operations = new OperationLog(await redis.open(proxy.url, { connections: 6 }))
    operations.start()
    await operations.more(20, 'done')
    let remainingCuts = effort(100)
    await new Promise<void>((resolve) => {
      // Mostly more than the few thousand bytes at the beginning of each connection.
      proxy.bytes = () => Math.floor(1 + Math.random() * (Math.random() < 0.1 ? 6_000 : 40_000))
      proxy.onCut = () => void (remainingCuts-- === 0 && resolve())
      proxy.cut()
    })
    proxy.bytes = () => Infinity
    await operations.more(50, 'done')
    await operations.stop()
    console.log(`${JSON.stringify(operations.summary())}, ${proxy.cuts} connections cut`)
    expect(await operations.findViolations(await redis.open())).toEqual([])
  })
})
