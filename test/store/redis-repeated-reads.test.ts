import { setImmediate as nextRound } from 'node:timers/promises'
import { ReplyError } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Pool } from '../../src/store/redis/pool.ts'
import { recordDelays, type RecordedDelays } from '../support/delays.ts'
import { sharedRedis } from '../support/redis-driver.ts'
import { quiet } from '../support/log.ts'
import { FakeClient, LOST, poolOf, TIMEOUT } from '../support/redis-clients.ts'

/** A command that fails some times. It counts its attempts. */
function readFailing(times: number, error = LOST) {
  const read = Object.assign(
    async (): Promise<string> => {
      if (read.attempts++ < times) throw error
      return 'value'
    },
    { attempts: 0 },
  )
  return read
}

let delays: RecordedDelays
/** The time, which otherwise stands still. */
let clock: number
beforeEach(() => {
  delays = recordDelays()
  clock = 1000
  vi.spyOn(performance, 'now').mockImplementation(() => clock)
})
afterEach(() => {
  delays.restore()
  vi.restoreAllMocks()
})

describe('a read whose connection is lost', () => {
  test('is sent again when a connection is open, and not before', async () => {
    const clients = [new FakeClient('reconnecting'), new FakeClient('reconnecting')]
    const read = readFailing(1)
    const reading = poolOf(clients).runRead(read)
    for (let round = 0; round < 20; round++) await nextRound()
    expect(read.attempts).toBe(1)
    expect(delays.times.length).toBeGreaterThan(5)
    expect(new Set(delays.times)).toEqual(new Set([5]))
    clients[1]!.status = 'ready'
    expect({ value: await reading, attempts: read.attempts }).toEqual({ value: 'value', attempts: 2 })
  })

  test('is repeated every 5 milliseconds while a connection is open: this process may not know yet that it is lost too', async () => {
    const read = readFailing(3)
    expect(await poolOf([new FakeClient('reconnecting'), new FakeClient()]).runRead(read)).toBe('value')
    expect(delays.times).toEqual([5, 5, 5])
  })

  test('fails when no connection is opened in time', async () => {
    vi.mocked(performance.now).mockImplementation(() => clock++)
    const read = readFailing(Infinity)
    await expect(poolOf([new FakeClient('reconnecting')], 20).runRead(read)).rejects.toMatchObject({ name: 'CommandFailed' })
    expect(read.attempts).toBe(2)
  })

  test('is repeated for 250 milliseconds, unless another time is given', async () => {
    // Its time limit must not end at once.
    delays.restore()
    const pool = await Pool.open(sharedRedis(), 1, quiet)
    /** Fails at each of these times, and succeeds afterwards. */
    const failingAt = (times: number[]) => async (): Promise<string> => {
      if (times.length === 0) return 'value'
      clock = times.shift()!
      throw LOST
    }
    clock = 1000
    expect(await pool.runRead(failingAt([1249, 1250]))).toBe('value')
    clock = 1000
    await expect(pool.runRead(failingAt([1249, 1250.5]))).rejects.toThrow(LOST.message)
    pool.close()
  })
})

test.each([new ReplyError('LOADING'), TIMEOUT])('a read is not repeated after the error "$message"', async (error) => {
  const read = readFailing(5, error)
  await expect(poolOf([new FakeClient()]).runRead(read)).rejects.toMatchObject({ message: error.message })
  expect(read.attempts).toBe(1)
})
