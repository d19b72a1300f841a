import { beforeEach, describe, expect, test } from 'vitest'
import type { Caller } from '../../src/authz/context.ts'
import { Cost } from '../../src/governor/cost.ts'
import { Quota, RateLimits, type RateLimitOptions } from '../../src/governor/quotas.ts'
import { ApiError } from '../../src/model/errors.ts'
import { limits as sizes } from '../../src/model/limits.ts'
import type { SharedCounters } from '../../src/store/counters.ts'
import { errorOf } from '../support/error-of.ts'

const MINUTE = 60_000
let now: number
beforeEach(() => {
  now = 1_000_000 * MINUTE
})
const callerOf = (id: string) => ({ workspaceId: 'w', token: { id } }) as Caller
const caller = callerOf('t')

describe('the limits', () => {
  const create = (options: Partial<RateLimitOptions> = {}) =>
    new RateLimits({ quotas: { token: 3, workspace: 100, address: 10 }, ...options }, () => now)

  test('let a person open four pages for each request of a token, and say when the next one can be opened', () => {
    now += 20_100
    const one = create()
    const open = (person: string) => one.countPage(person)
    expect([...Array(13)].map(() => open('u'))).toEqual([...Array(12).fill(undefined), 40])
    expect(open('other')).toBeUndefined()
    now += 39_900
    expect(open('u')).toBeUndefined()
  })

  test('let a session take access away three times a minute, whatever its person does in another session', () => {
    const one = create()
    one.countPage('s', 100)
    expect([1, 2, 3, 4].map(() => one.countEnd('s'))).toEqual([undefined, undefined, undefined, 60])
    expect(one.countEnd('other')).toBeUndefined()
  })

  test('let a stream go on until it has used the last unit of its token', () => {
    const one = create()
    expect([2, 1, 1].map((units) => one.countStream(caller, units))).toEqual([undefined, undefined, 60])
    expect(one.countStream(callerOf('other'), 1)).toBeUndefined()
  })

  test('remember a count until its window has ended', () => {
    const one = create()
    one.countDone(caller, 1)
    now += MINUTE - 1
    one.countDone(callerOf('other'), 1)
    expect(one.countDone(caller, 1)).toEqual([
      { name: 'token', remaining: 1 },
      { name: 'workspace', remaining: 97 },
    ])
  })

  test('let 64 requests of a token be in progress, and each end makes room for one', () => {
    const one = create()
    const [end] = Array.from({ length: 64 }, () => one.enter('t')!)
    expect([one.enter('t'), typeof one.enter('other')]).toEqual([undefined, 'function'])
    end!()
    expect([typeof one.enter('t'), one.enter('t')]).toEqual(['function', undefined])
  })
})

describe('the quota of a call', () => {
  let limits: RateLimits
  beforeEach(() => {
    limits = new RateLimits({ quotas: { token: 10, workspace: 100, address: 1 }, inFlight: 1 }, () => now)
  })
  const create = (part?: 'first' | 'further') => new Quota(limits, { network: '192.0.2.1' }, part)
  /** What remains to the token. */
  const remaining = () => limits.countDone(caller, 0)[0]!.remaining
  /** The headers when this remains to the token and the workspace. */
  const headers = (token: number, workspace: number, retryAfter = {}) => ({
    'ratelimit-policy': '"token";q=10;w=60, "workspace";q=100;w=60',
    ratelimit: `"token";r=${token};t=60, "workspace";r=${workspace};t=60`,
    ...retryAfter,
  })
  const refusalOf = async (charge: () => unknown) => errorOf((async () => charge())())

  test('counts its attempts once, and is in progress until it ends', async () => {
    const [one, two] = [create(), create()]
    one.charge(caller)
    one.charge(caller)
    expect({ headers: one.headers, exceeded: one.exceeded, remaining: remaining() }).toStrictEqual({
      headers: headers(9, 99),
      exceeded: undefined,
      remaining: 9,
    })
    expect(await refusalOf(() => two.charge(caller))).toMatchObject({
      code: 'rate_limited',
      details: {
        message: 'Too many requests of this token are in progress. Wait for their responses.',
        headers: { 'retry-after': '1' },
      },
    })
    expect(two.exceeded).toBe('in_flight')
    expect(two.leave).toBe(undefined)
    one.leave!()
    create().charge(caller)
    expect(remaining()).toBe(7)
  })

  test.each([
    ['first', 10],
    ['further', 8],
  ] as const)('that is the %s part of an exchange leaves %i of 10 units after two, and is not in progress', (part, rest) => {
    for (const quota of [create(part), create(part)]) {
      quota.charge(caller)
      quota.charge(caller)
    }
    expect(remaining()).toBe(rest)
  })

  test('counts the further cost that was not counted yet, and not beyond a limit', async () => {
    const quota = create()
    quota.charge(caller)
    for (const units of [3, 1, 3, 5]) quota.chargeFurther(caller, units)
    expect({ headers: quota.headers, remaining: remaining() }).toEqual({ headers: headers(4, 94), remaining: 4 })
    for (const units of [3, 1, 3]) quota.chargeStored(caller, units * sizes.keptBytes + 1)
    expect(remaining()).toBe(1)
    expect(await refusalOf(() => quota.chargeFurther(caller, 7))).toMatchObject({ code: 'rate_limited' })
    expect({ exceeded: quota.exceeded, headers: quota.headers }).toEqual({
      exceeded: 'token',
      headers: headers(0, 91, { 'retry-after': '60' }),
    })
    // What costs nothing is not refused, although nothing remains.
    quota.chargeFurther(caller, 7)
    quota.chargeStored(caller, 0)
  })

  test('counts the work that was done beyond a limit, without a refusal', () => {
    const quota = create()
    quota.chargeDone(1)
    quota.addLogged(sizes.keptBytes)
    expect(remaining()).toBe(10)
    quota.charge(caller)
    quota.chargeDone(0)
    quota.addLogged(sizes.keptBytes - 1)
    expect(quota.headers).toEqual(headers(9, 99))
    quota.addLogged(2 * sizes.keptBytes)
    expect(remaining()).toBe(7)
    quota.chargeDone(8)
    expect({ headers: quota.headers, exceeded: quota.exceeded, remaining: remaining() }).toStrictEqual({
      headers: headers(0, 89),
      exceeded: undefined,
      remaining: -1,
    })
  })

  test('counts a failed credential of its address, and no other error', () => {
    const [unauthorized, notFound] = [new ApiError('unauthorized'), new ApiError('not_found')]
    const quota = create()
    expect(quota.fail(notFound)).toBe(notFound)
    expect(quota.headers).toEqual({ 'ratelimit-policy': '"address";q=1;w=60', ratelimit: '"address";r=1;t=60' })
    expect(quota.fail(unauthorized)).toBe(unauthorized)
    expect(quota.fail(unauthorized)).toMatchObject({ code: 'rate_limited' })
    expect(quota.fail(notFound)).toBe(notFound)
    expect(quota.exceeded).toBe('address')
    // The decision about a counted call, or about a part of one that was counted.
    const counted = create('first')
    expect({ failure: counted.fail(unauthorized), headers: counted.headers }).toEqual({ failure: unauthorized, headers: {} })
  })

  test('without limits counts and refuses nothing', () => {
    const unlimited = new Quota(undefined, { network: '192.0.2.1' })
    const unauthorized = new ApiError('unauthorized')
    expect(unlimited.fail(unauthorized)).toBe(unauthorized)
    unlimited.charge(caller)
    unlimited.chargeFurther(caller, 100)
    unlimited.chargeDone(100)
    unlimited.addLogged(100 * sizes.keptBytes)
    expect({ headers: unlimited.headers, exceeded: unlimited.exceeded, leave: unlimited.leave }).toStrictEqual({
      headers: {},
      exceeded: undefined,
      leave: undefined,
    })
  })

  test('the bytes of uploads are counted apart from the requests of the token', () => {
    const quota = create()
    quota.chargeUpload(caller, 1)
    quota.chargeFailedUpload(caller, 1)
    expect(remaining()).toBe(10)
    expect(limits.countUpload('t', 1024 * 1024 * 10)).toBe(4)
  })

  test('the first ten MiB of uploads of a token in a minute cost nothing, and each further one four units', () => {
    const MIB = 1024 * 1024
    const used = (bytes: readonly number[]) => {
      const [quota, before] = [create(), remaining()]
      for (const one of bytes) quota.chargeUpload(caller, one)
      return before - remaining()
    }
    expect([used([4 * MIB, 6 * MIB, 5 * MIB]), used([4 * MIB]), used([1]), used([MIB - 1]), used([MIB])]).toEqual([0, 0, 4, 0, 4])
    now += MINUTE
    expect(used([10 * MIB])).toBe(0)
  })
})

describe('processes that share counters', () => {
  /** Counters in memory, in place of Redis. Each test has new ones, because exchanges of the previous one may follow. */
  const createCounters = (sums: Map<string, number>): SharedCounters => ({
    async add(key, points, seconds) {
      if (!reachable) return undefined
      // Longer than its window.
      expect(seconds).toBe(120)
      sums.set(key, (sums.get(key) ?? 0) + points)
      return sums.get(key)
    },
    close: async () => undefined,
  })
  let sums: Map<string, number>
  let shared: SharedCounters
  let reachable = true
  const createLimits = (token = 10, workspace = 1000) => new RateLimits({ quotas: { token, workspace, address: 10 }, shared }, () => now)
  /** What remains of the quota of the token after one more request. */
  const count = async (limits: RateLimits, by = 1) => (await limits.countRequest(caller, by))[0]!.remaining

  beforeEach(() => {
    sums = new Map()
    shared = createCounters(sums)
    reachable = true
  })

  test('two processes count together after each exchange', async () => {
    const [one, two] = [createLimits(1000), createLimits(1000)]
    expect([await count(one), await count(one), await count(two)]).toEqual([999, 998, 999])
    await one.settle()
    await two.settle()
    expect(await count(two)).toBe(996)
    // What was counted after the exchange is not lost by the next one.
    expect(await count(one)).toBe(997)
    await Promise.all([one.settle(), two.settle()])
    await count(one)
    await one.settle()
    expect([...sums.values()]).toEqual([6, 6])
    expect(await count(one)).toBe(993)
  })

  test('a request that is counted during an exchange is not lost', async () => {
    const one = createLimits(1000)
    await count(one)
    const exchanged = one.settle()
    expect(await count(one)).toBe(998)
    await exchanged
    expect(await count(one)).toBe(997)
  })

  test('the last units are counted together with the other processes at once: each is given to one request', async () => {
    const processes = [createLimits(), createLimits(), createLimits()]
    const rests = await Promise.all(Array.from({ length: 15 }, (_, i) => count(processes[i % 3]!)))
    expect(rests.filter((rest) => rest >= 0).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test.each([1, 25, 100])(
    'requests of %i units to four processes have one limit, exceeded by a hundredth of each other one at most',
    async (units) => {
      const LIMIT = 1200
      const processes = Array.from({ length: 4 }, () => createLimits(LIMIT, 12_000))
      // What one process does not know of the others grows as long as it is not asked.
      let admitted = 0
      const send = async (process: number) => {
        if ((await count(processes[process]!, units)) >= 0) admitted += units
      }
      for (const process of [0, 1, 2, 3]) for (let i = 0; i < 12; i++) await send(process)
      await Promise.all(Array.from({ length: 4 * LIMIT }, (_, i) => send(i % 4)))
      expect(admitted).toBeLessThanOrEqual(LIMIT + (3 * LIMIT) / 100)
      expect(admitted).toBeGreaterThan(LIMIT - units)
    },
  )

  test('while the shared counters cannot be reached, each process counts alone', async () => {
    const one = createLimits()
    await count(one)
    reachable = false
    await one.settle()
    expect(await count(one)).toBe(8)
  })

  test('a count of the previous minute does not count in this one', async () => {
    const [one, two] = [createLimits(1000), createLimits(1000)]
    await count(one)
    now += MINUTE
    await one.settle()
    expect(await count(two)).toBe(999)
    await two.settle()
    expect(await count(two)).toBe(998)
    expect(await count(one)).toBe(999)
  })

  test('counts are exchanged without being asked to', async () => {
    const one = createLimits(1000)
    await count(one)
    one.countFailure('192.0.2.1')
    one.countPage('u')
    await expect
      .poll(() => Object.fromEntries(sums))
      .toEqual({
        '1000000:token:t': 1,
        '1000000:workspace:w': 1,
        '1000000:address:192.0.2.1': 1,
        '1000000:person:u': 1,
      })
  })
})

test('a JSON body costs its weight, unless the known cost of its work is higher', () => {
  const unitsOf = (known: Partial<Cost>) => Object.assign(new Cost(), known).units
  expect(
    [
      { received: 65_535, values: 999 },
      { received: 65_536 },
      { values: 10_000 },
      { received: 524_288, values: 10_000 },
      { pieces: 255 },
      { pieces: 512 },
    ].map(unitsOf),
  ).toEqual([1, 2, 11, 19, 1, 3])
  expect(
    [
      { operations: 5, values: 3000 },
      { operations: 4, values: 9000, bytes: 65_536 },
    ].map(unitsOf),
  ).toEqual([5, 11])
})
