import { afterAll, beforeAll, expect, test } from 'vitest'
import { effort } from '../../support/effort.ts'
import { startRedis, type RedisServer } from '../../support/redis.ts'
import { runDrill } from './drill.ts'
import { violationsOf } from './oracle.ts'

/** How far the clocks of two processes of the service are apart, in milliseconds. */
const APART = 2000

let redis: RedisServer
beforeAll(async () => void (redis = await startRedis()))
afterAll(() => redis.stop())

const storages = [
  { name: 'memory', address: () => 'memory', cardCount: 400, restarts: false },
  { name: 'fs, killed and started again', address: () => 'fs', cardCount: 400, restarts: true },
  { name: 'two processes on Redis with clocks 2 s apart', address: () => redis.url, cardCount: 400, restarts: true, skews: [0, APART] },
]

test.each(storages)(
  'eight workers do every card once: $name',
  async ({ name, address, cardCount, ...options }) => {
    const happened = await runDrill({ ...options, address: address(), cardCount: effort(cardCount) })
    expect(violationsOf(happened)).toEqual([])
    const { restarts, kills, ofStopped, blockers } = happened
    expect([ofStopped.length > 0, kills > 0, blockers.size > 0, restarts > 0]).toEqual([true, true, true, options.restarts])
    // Nothing of a holder whose claim had run out while it was stopped.
    expect(new Set(ofStopped.flat())).toEqual(new Set([412]))
    console.log(
      `${name}: ${happened.cards.length} cards, ${kills} workers killed, ${ofStopped.length} stopped beyond their claims, ${restarts} restarts`,
    )
  },
  600_000,
)
