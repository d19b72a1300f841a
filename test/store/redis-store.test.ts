import { setImmediate as nextRound } from 'node:timers/promises'
import { ReplyError } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CommandFailed, type Pool } from '../../src/store/redis/pool.ts'
import { RedisStore } from '../../src/store/redis/store.ts'
import { change } from '../support/changes.ts'
import { recordDelays, type RecordedDelays } from '../support/delays.ts'
import { answeringPool, LOST } from '../support/redis-clients.ts'

const lost = new CommandFailed(LOST)
const unsent = new CommandFailed(new Error("Stream isn't writeable and enableOfflineQueue options is false"))
const refused = new CommandFailed(new ReplyError('OOM'))
/** The replies to a commit. */
const [CONFLICT, DONE, WAITING] = [0, 1, 2]
const FIRST = [60_000, '0']
const RESENT = [1_800_000, '1']

let delays: RecordedDelays
let clock: number
beforeEach(() => {
  delays = recordDelays()
  clock = 1_000_000
  vi.spyOn(performance, 'now').mockImplementation(() => clock)
})
afterEach(() => {
  delays.restore()
  vi.restoreAllMocks()
})

/**
 * A store whose Redis answers commits with these replies, one after the other.
 * @param duration how long each command takes, in milliseconds
 */
function storeWith(replies: readonly (number | Error)[], duration = 0) {
  const queue = [...replies]
  const { pool, commands } = answeringPool((name) => {
    if (name !== 'lkCommit') return 'OK'
    if (delays.pending > 0) throw new Error('the wait before this command is not over')
    clock += duration
    return queue.shift()
  })
  return { store: new RedisStore(pool, 'lk', { derived: [] }), commands }
}

/** The commits that were sent: the key, the time to live of the outcome, and whether it is resent. */
const sent = ({ commands }: ReturnType<typeof storeWith>) => {
  let resends = 0
  return commands.flatMap(([name, key, revision, ttl, resent, state, line, lists, ...texts]) => {
    if (name !== 'lkCommit') return []
    // The state after a resent commit has a revision of its own.
    expect(state).toBe(resent === '1' ? `${String(revision)}.${++resends}` : revision)
    expect(line).toBe(`\n{"records":["a:1"],"indexes":[]} ${String(state)}`)
    expect(String(lists).split('\0').slice(1)).toEqual(['0', '0', '0', '0', '1', 'a:1', '1', '0', '0', '0', ''])
    expect(texts).toEqual([`${String(revision)} {}`])
    return [[key, ttl, resent]]
  })
}
const commit = ({ store }: ReturnType<typeof storeWith>) => store.commit('w1', change({ put: { 'a:1': {} } }))
const argumentsOf = (redis: ReturnType<typeof storeWith>) => sent(redis).map(([, ...more]) => more)

describe('a commit on Redis', () => {
  test.each([
    [DONE, 'done'],
    [CONFLICT, 'conflict'],
  ])('whose reply is %s is sent once', async (reply, outcome) => {
    const redis = storeWith([reply])
    expect(await commit(redis)).toBe(outcome)
    expect(sent(redis)).toEqual([['lk:{w1}:n', ...FIRST]])
    expect(delays.times).toEqual([])
  })

  test.each([{ put: { 'a:\0': {} } }, { remove: ['a:\0'] }, { index: { i: { add: ['x \0'] } } }, { index: { 'i:\0': { remove: ['x'] } } }])(
    'with a NUL in a key, a name or an entry is not sent: %j',
    async (made) => {
      const redis = storeWith([DONE])
      await expect(redis.store.commit('w1', change(made))).rejects.toThrow(TypeError)
      expect(sent(redis)).toEqual([])
    },
  )

  test('whose reply is lost is resent, later each time, and its outcome is stored for longer', async () => {
    const redis = storeWith([lost, lost, lost, lost, lost, lost, DONE])
    expect(await commit(redis)).toBe('done')
    expect(argumentsOf(redis)).toEqual([FIRST, RESENT, RESENT, RESENT, RESENT, RESENT, RESENT])
    expect(delays.times).toEqual([50, 100, 200, 400, 400, 400])
  })

  test('that was not sent is sent like the first time', async () => {
    const redis = storeWith([unsent, unsent, lost, unsent, DONE])
    expect(await commit(redis)).toBe('done')
    expect(argumentsOf(redis)).toEqual([FIRST, FIRST, FIRST, RESENT, RESENT])
  })

  test('that Redis refuses has changed nothing, and is not resent', async () => {
    const redis = storeWith([unsent, refused])
    await expect(commit(redis)).rejects.toMatchObject({ message: 'Redis refused: OOM', outcomeKnown: true })
    expect(sent(redis)).toHaveLength(2)
  })

  test('is resent when Redis refuses it after a reply was lost, because the first attempt may still arrive', async () => {
    expect(await commit(storeWith([lost, refused, DONE]))).toBe('done')
  })

  test.each([
    ['unknown when a reply was lost', [lost, unsent, unsent, unsent, unsent, unsent], false],
    ['unknown when the last reply was a refusal', [lost, lost, lost, lost, lost, refused], false],
    ['"not done" when it was never sent', Array.from({ length: 6 }, () => unsent), true],
  ])('is given up after four seconds, and then its outcome is %s', async (_what, replies, outcomeKnown) => {
    // The fifth attempt ends exactly after four seconds.
    const redis = storeWith([...replies, DONE], 800)
    await expect(commit(redis)).rejects.toMatchObject({ message: 'Redis did not answer', outcomeKnown, cause: replies.at(-1) })
    expect(sent(redis)).toHaveLength(6)
  })
})

describe('a commit on Redis while another process has a lease', () => {
  test('is sent again until the lease has ended, after a few milliseconds at random', async () => {
    vi.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(0.5).mockReturnValueOnce(1)
    const redis = storeWith([WAITING, WAITING, WAITING, DONE])
    expect(await commit(redis)).toBe('done')
    expect(argumentsOf(redis)).toEqual([FIRST, FIRST, FIRST, FIRST])
    expect(delays.times).toEqual([1, 3, 5])
  })

  test('does not wait longer after a lost reply because it has waited for the lease', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    expect(await commit(storeWith([lost, lost, WAITING, lost, DONE]))).toBe('done')
    expect(delays.times).toEqual([50, 100, 1, 50])
  })

  test('conflicts after four seconds: the caller then takes a lease too', async () => {
    const redis = storeWith([WAITING, WAITING, WAITING, WAITING, WAITING, WAITING, DONE], 800)
    expect(await commit(redis)).toBe('conflict')
    expect(sent(redis)).toHaveLength(6)
  })

  test('has an unknown outcome after four seconds if a reply was lost', async () => {
    const redis = storeWith([lost, WAITING, WAITING, WAITING, WAITING, WAITING, DONE], 800)
    await expect(commit(redis)).rejects.toMatchObject({ message: 'another process kept its lease', outcomeKnown: false })
    expect(sent(redis)).toHaveLength(6)
  })
})

describe('a lease on Redis', () => {
  /**
   * @param leases the replies to requests for the lease
   * @param onLease called for each request
   */
  const storeForLeases = (leases: (string | null | Error)[], onLease = () => {}) => {
    const { pool, commands } = answeringPool((name) => {
      if (name === 'lkEndLease') return lost
      if (delays.pending > 0) throw new Error('the wait before this command is not over')
      onLease()
      return leases.length === 1 ? leases[0] : leases.shift()
    })
    return { store: new RedisStore(pool, 'lk', { derived: [] }), commands }
  }

  test('waits for the lease of another process, and is over when it ends even if Redis does not answer', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const { store, commands } = storeForLeases([null, null, 'OK'])
    const { id, end } = await store.takeLease('w1')
    const lease = ['set', 'lk:{w1}:t', id, 'PX', 250, 'NX']
    expect({ commands, times: delays.times }).toEqual({ commands: [lease, lease, lease], times: [3, 3] })
    end()
    expect(commands.at(-1)).toEqual(['lkEndLease', 'lk:{w1}:t', id])
    const next = await store.takeLease('w1')
    expect(next.id).not.toBe(id)
    next.end()
  })

  test('waits for the lease no longer than the lease lasts in its own process: half a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let requests = 0
    const { store } = storeForLeases([null], () => {
      requests++
      vi.advanceTimersByTime(100)
    })
    await store.takeLease('w1')
    expect(requests).toBe(5)
    vi.useRealTimers()
  })

  test('holds back the commits of others in its own process, which need not ask Redis', async () => {
    const redis = storeWith([DONE, DONE])
    const lease = await redis.store.takeLease('w1')
    const other = commit(redis)
    await nextRound()
    expect(sent(redis)).toEqual([])
    expect(await redis.store.commit('w1', { ...change({ put: { 'a:1': {} } }), lease: lease.id })).toBe('done')
    expect(sent(redis)).toHaveLength(1)
    lease.end()
    await nextRound()
    expect(sent(redis)).toHaveLength(2)
    expect(await other).toBe('done')
  })

  test('cannot be taken when Redis does not answer', async () => {
    const { store } = storeForLeases([lost])
    await expect(store.takeLease('w1')).rejects.toMatchObject({ name: 'StorageUnavailable', message: 'Redis did not answer' })
  })
})

test('a store on Redis is ready when its pool can write', async () => {
  const probe = vi.fn(async () => 0)
  const store = new RedisStore({ probe } as unknown as Pool, 'lk', { derived: [] })
  expect(store.driver).toBe('redis')
  await store.ready()
  expect(probe).toHaveBeenCalledExactlyOnceWith('lk:ready', undefined)
  probe.mockRejectedValue(refused as never)
  await expect(store.ready()).rejects.toMatchObject({ name: 'StorageUnavailable', message: 'Redis refused: OOM' })
})

test('a store on Redis is not ready when that is not known after four seconds', async () => {
  const probe = () => new Promise(() => undefined)
  const store = new RedisStore({ probe } as unknown as Pool, 'lk', { derived: [] })
  await expect(store.ready()).rejects.toMatchObject({ name: 'StorageUnavailable', message: 'Redis did not answer' })
  expect(delays.times).toEqual([4000])
})
