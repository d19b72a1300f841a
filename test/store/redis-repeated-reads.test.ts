import { setImmediate as nextRound } from 'node:timers/promises'
import { ReplyError } from 'ioredis'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Pool } from '../../src/store/redis/pool.ts'
import { recordDelays } from '../support/delays.ts'
import { sharedRedis } from '../support/redis-driver.ts'
import { quiet } from '../support/log.ts'
import { FakeClient, LOST, poolOf, TIMEOUT } from '../support/redis-clients.ts'

/** A command that fails while no client is open. It counts its attempts. */
function readOver(clients: readonly FakeClient[]) {
  const read = Object.assign(
    async (): Promise<string> => {
      read.attempts++
      if (clients.every(({ status }) => status !== 'ready')) throw LOST
      return 'value'
    },
    { attempts: 0 },
  )
  return read
}

const listenersOf = (client: FakeClient) => client.listenerCount('ready')
/** Polls until something is true. */
const until = (condition: () => boolean) => vi.waitFor(() => expect(condition()).toBe(true), { timeout: 60_000, interval: 1 })

/** Sets the time, which otherwise stands still. */
function stopTime(): { now: number } {
  const clock = { now: 1000 }
  vi.spyOn(performance, 'now').mockImplementation(() => clock.now)
  return clock
}

afterEach(() => vi.restoreAllMocks())

describe('a read whose connection is lost', () => {
  test('is sent again when a connection is open, and all reads share the wait', async () => {
    const clients = [new FakeClient('reconnecting'), new FakeClient('reconnecting')]
    const pool = poolOf(clients)
    const read = readOver(clients)
    const reads = [pool.runRead(read), pool.runRead(read)]
    await until(() => listenersOf(clients[0]!) > 0)
    // Both reads have waited the same time by then.
    await nextRound()
    expect([clients.map(listenersOf), read.attempts]).toEqual([[1, 1], 2])
    clients[1]!.status = 'ready'
    clients[1]!.emit('ready')
    expect(await Promise.all(reads)).toEqual(['value', 'value'])
    expect([clients.map(listenersOf), read.attempts]).toEqual([[0, 0], 4])
  })

  test('waits again in the next outage', async () => {
    const client = new FakeClient()
    const pool = poolOf([client])
    const read = readOver([client])
    for (let outage = 1; outage <= 2; outage++) {
      client.status = 'reconnecting'
      const reading = pool.runRead(read)
      await until(() => listenersOf(client) === 1)
      expect(read.attempts).toBe(2 * outage - 1)
      client.status = 'ready'
      client.emit('ready')
      expect(await reading).toBe('value')
    }
  })

  test('does not wait while another connection is open', async () => {
    const clients = [new FakeClient('reconnecting'), new FakeClient()]
    const once = clients.map((client) => vi.spyOn(client, 'once'))
    let attempts = 0
    const read = async (): Promise<number> => {
      if (attempts++ === 0) throw LOST
      return attempts
    }
    expect(await poolOf(clients).runRead(read)).toBe(2)
    for (const spy of once) expect(spy).not.toHaveBeenCalled()
  })

  test('is not repeated without a break: this process may not know yet that the other connections are lost', async () => {
    const clock = stopTime()
    let isKnown = false
    setImmediate(() => (isKnown = true))
    const read = async (): Promise<string> => {
      clock.now++
      if (!isKnown) throw LOST
      return 'value'
    }
    expect(await poolOf([new FakeClient()], 1000).runRead(read)).toBe('value')
  })

  test('is repeated every 5 milliseconds while connections are open', async () => {
    const delays = recordDelays()
    let attempts = 0
    const read = async (): Promise<number> => {
      if (attempts++ < 3) throw LOST
      return attempts
    }
    expect(await poolOf([new FakeClient()]).runRead(read)).toBe(4)
    expect(delays.times).toEqual([5, 5, 5])
    delays.restore()
  })

  test('fails when no connection is opened in time', async () => {
    const clock = stopTime()
    let attempts = 0
    const read = async (): Promise<string> => {
      clock.now += 15
      if (attempts++ < 5) throw LOST
      return 'value'
    }
    await expect(poolOf([new FakeClient('reconnecting')], 20).runRead(read)).rejects.toMatchObject({ name: 'CommandFailed' })
    expect(attempts).toBe(2)
  })

  test('is repeated for 250 milliseconds, unless another time is given', async () => {
    const clock = stopTime()
    const pool = await Pool.open(sharedRedis(), 1, quiet)
    /** Fails at each of these times, and succeeds afterwards. */
    const failingAt = (times: number[]) => async (): Promise<string> => {
      if (times.length === 0) return 'value'
      clock.now = times.shift()!
      throw LOST
    }
    clock.now = 1000
    expect(await pool.runRead(failingAt([1249, 1250]))).toBe('value')
    clock.now = 1000
    await expect(pool.runRead(failingAt([1249, 1250.5]))).rejects.toThrow(LOST.message)
    pool.close()
  })

  test('leaves no timer behind, for which the process would wait', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
    const client = new FakeClient('reconnecting')
    const reading = poolOf([client]).runRead(readOver([client]))
    await until(() => listenersOf(client) === 1)
    const waiting = timers()
    client.status = 'ready'
    client.emit('ready')
    await reading
    expect(timers()).toBe(waiting - 1)
  })
})

test.each([new ReplyError('LOADING'), TIMEOUT])('a read is not repeated after the error "$message"', async (error) => {
  let attempts = 0
  const read = async (): Promise<string> => {
    if (attempts++ < 5) throw error
    return 'value'
  }
  await expect(poolOf([new FakeClient()]).runRead(read)).rejects.toMatchObject({ message: error.message })
  expect(attempts).toBe(1)
})
