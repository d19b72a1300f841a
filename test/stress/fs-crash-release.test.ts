import { describe, expect, test } from 'vitest'
import { crashBugs } from '../support/broken-disks.ts'
import { findCrashViolations, findFailureViolations } from '../support/crash.ts'
import { effort } from '../support/effort.ts'

/** A long run has many seeds. In milliseconds. */
const TIMEOUT = 3_600_000
const seeds = Array.from({ length: effort(1) }, (_, i) => i + 1)
/** In a short run, every n-th operation is enough: a release has about ten, and a workload about a hundred releases. */
const every = effort(1) > 1 ? 1 : 3

describe('a folder that releases each partition as soon as it is not in use', () => {
  test(
    'after a crash at any operation, all acknowledged commits are present, in whole and in order',
    async () => {
      for (const seed of seeds) {
        const { violations, operations, points, images } = await findCrashViolations({ seed, every, cacheBytes: 0, randomImages: 2 })
        expect(violations).toEqual([])
        console.log(`crashes, seed ${seed}: ${points} points of ${operations} operations, ${images} images`)
      }
    },
    TIMEOUT,
  )

  test(
    'after a failure of any operation, once or permanently, every reply of the store is true',
    async () => {
      for (const seed of seeds) {
        const { violations, operations, points, images } = await findFailureViolations({ seed, every: 2 * every, cacheBytes: 0 })
        expect(violations).toEqual([])
        console.log(`failures, seed ${seed}: ${points} points of ${operations} operations, ${images} images`)
      }
    },
    TIMEOUT,
  )

  test.each(['a checkpoint is renamed before it is synced', 'the folder of checkpoints is not synced', 'a checkpoint is written in place'])(
    'the crash search finds the seeded bug: %s',
    async (name) => {
      const { violations } = await findCrashViolations({ bug: crashBugs[name]!, cacheBytes: 0, stopAtFirst: true })
      expect(violations).not.toEqual([])
    },
  )
})
