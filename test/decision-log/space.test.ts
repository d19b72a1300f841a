import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LogSpace, spaceOf, warningOf, type DiskSpace } from '../../src/decision-log/space.ts'
import { Metrics } from '../../src/metrics.ts'
import { HOUR } from '../../src/model/time.ts'
import { openLog, logDisk, recordRequests } from '../support/decision-log.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'

/** Percent that are left; undefined: the disk cannot be examined. */
let left: number | undefined
let now: number
let reads: number
let said: (readonly [string, DiskSpace])[]
const createSpace = () =>
  new LogSpace({
    async read() {
      reads++
      if (left === undefined) throw new Error('no disk')
      return { free: left * 10, total: 1000 }
    },
    now: () => now,
    onWarning: (...warning) => said.push(warning),
  })
beforeEach(() => {
  left = 100
  now = 0
  reads = 0
  said = []
})

test.each([
  [100, undefined],
  [20.1, undefined],
  [20, 'low'],
  [5.1, 'low'],
  [5, 'almost_full'],
  [0, 'almost_full'],
] as const)('of a disk with %d %% left, the warning is %s', (percent, warning) => {
  expect(warningOf({ free: percent * 10, total: 1000 })).toBe(warning)
})

describe('the space of the disk of a log', () => {
  test('is read at most every ten seconds, and each warning is given at most once an hour', async () => {
    const space = createSpace()
    for (const percent of [100, 19, 18, 4, 19, 3, 100]) {
      left = percent
      await Promise.all([space.read(), space.read()])
      now += 10_000
    }
    expect({ reads, said: said.map(([warning, { free }]) => [warning, free]) }).toEqual({
      reads: 7,
      said: [
        ['low', 190],
        ['almost_full', 40],
      ],
    })
    left = 10
    now += HOUR
    expect(await space.read()).toEqual({ free: 100, total: 1000 })
    now += 9_999
    left = 1
    expect(await space.read()).toEqual({ free: 100, total: 1000 })
    expect(said).toHaveLength(3)
  })

  test('is unknown if the disk cannot be examined', async () => {
    left = undefined
    expect({ space: await createSpace().read(), said }).toStrictEqual({ space: undefined, said: [] })
  })

  test('of a real disk is what its file system reports', async () => {
    const { free, total } = await spaceOf('.')
    expect(free).toBeGreaterThanOrEqual(0)
    expect(total).toBeGreaterThan(free)
  })
})

describe('a log whose disk is nearly full', () => {
  let service: Service
  beforeEach(async () => {
    service = await Service.start(memory)
  })
  afterEach(() => service.stop())
  const ready = async () => {
    const response = await service.app.fetch(new Request('http://localhost/readyz'))
    return [response.status, ((await response.json()) as { warnings?: string[] }).warnings]
  }

  test('is noticed when a line is written', async () => {
    left = 4
    const log = await openLog(await logDisk(), { space: createSpace() })
    await log.flush()
    expect(said.map(([warning]) => warning)).toEqual(['almost_full'])
  })

  test('is a warning of /readyz, which stays ready, and a metric', async () => {
    const log = await recordRequests(service, await logDisk(), { space: createSpace() })
    const metrics = new Metrics()
    metrics.watchLog(
      () => log.counts,
      () => log.space(),
    )
    const seen = []
    for (const percent of [100, 20, 5, undefined]) {
      left = percent
      now += 10_000
      seen.push([...(await ready()), /lanekeeper_decision_log_free_bytes (\d+)/.exec(await metrics.read())?.[1]])
    }
    expect(seen).toEqual([
      [200, undefined, '1000'],
      [200, ['decision_log_disk_low'], '200'],
      [200, ['decision_log_disk_almost_full'], '50'],
      // The last value: nothing newer is known.
      [200, undefined, '50'],
    ])
  })
})
