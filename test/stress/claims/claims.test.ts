import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { effort } from '../../support/effort.ts'
import { startRedis, type RedisServer } from '../../support/redis.ts'
import { runDrill } from './drill.ts'
import { violationsOf } from './oracle.ts'
import { runWorkDrill } from './work-drill.ts'
import { countsOf, workViolationsOf } from './work-oracle.ts'

/** How far the clocks of two processes of the service are apart, in milliseconds. */
const APART = 2000
/** A number of cards that can fail: each story in each column, twice. */
const WORKED = 72

let redis: RedisServer
beforeAll(async () => void (redis = await startRedis()))
afterAll(() => redis.stop())

const storages = [
  { name: 'memory', address: () => 'memory', cardCount: 400, restarts: false },
  { name: 'fs, killed and started again', address: () => 'fs', cardCount: 400, restarts: true },
  { name: 'two processes on Redis with clocks 2 s apart', address: () => redis.url, cardCount: 400, restarts: true, skews: [0, APART] },
]

describe.each(storages)('eight workers, on $name', ({ name, address, cardCount, ...options }) => {
  test('do every card once', async () => {
    const happened = await runDrill({ ...options, address: address(), cardCount: effort(cardCount) })
    expect(violationsOf(happened)).toEqual([])
    const { restarts, kills, ofStopped, blockers } = happened
    expect(ofStopped.length).toBeGreaterThan(0)
    expect(kills).toBeGreaterThan(0)
    expect(blockers.size).toBeGreaterThan(0)
    expect(restarts > 0).toEqual(options.restarts)
    // Nothing of a holder whose claim had run out while it was stopped.
    expect(new Set(ofStopped.flat())).toEqual(new Set([412]))
    console.log(
      `${name}: ${happened.cards.length} cards, ${kills} workers killed, ${ofStopped.length} stopped beyond their claims, ${restarts} restarts`,
    )
  })

  test('that fail, hang, die and ask do every card once, or it is stuck or waits', async () => {
    const happened = await runWorkDrill({ ...options, address: address(), cardCount: effort(WORKED) })
    expect(workViolationsOf(happened)).toEqual([])
    const { restarts, kills, ofHung, works } = happened
    const counts = countsOf(happened)
    expect(new Set([...works.values()].map(({ state }) => state))).toEqual(new Set(['done', 'stuck', 'waiting']))
    expect(Object.keys(counts).toSorted()).toEqual(['answered', 'asked', 'failed', 'lost', 'retried', 'stuck'])
    expect(kills).toBeGreaterThan(0)
    expect(restarts).toBeGreaterThanOrEqual(options.restarts ? effort(6) : 0)
    // Nothing of a holder whose claim has run out while it hung.
    expect(new Set(ofHung)).toEqual(new Set([412]))
    console.log(`${name}: ${happened.cards.length} cards, ${kills} workers killed, ${restarts} restarts, ${JSON.stringify(counts)}`)
  })
})
