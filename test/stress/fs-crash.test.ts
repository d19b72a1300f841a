import { describe, expect, test } from 'vitest'
import { crashBugs, failureBugs } from '../support/broken-disks.ts'
import { findCrashViolations, findFailureViolations, type SearchOptions } from '../support/crash.ts'
import { effort } from '../support/effort.ts'

/** A long run has many seeds. In milliseconds. */
const TIMEOUT = 3_600_000
const seeds = Array.from({ length: effort(1) }, (_, i) => i + 1)

/** Whether a search finds a seeded bug with one of several seeds. */
async function finds(search: typeof findCrashViolations, options: SearchOptions): Promise<boolean> {
  for (const seed of [1, 2, 3, 4]) if ((await search({ ...options, seed, stopAtFirst: true })).violations.length > 0) return true
  return false
}

describe('a folder after a crash of the process or a power loss', () => {
  test(
    'after a crash at any operation, all acknowledged commits are present, in whole and in order',
    async () => {
      for (const seed of seeds) {
        const { violations, operations, points, images } = await findCrashViolations({ seed })
        expect(violations).toEqual([])
        expect(points).toBe(operations + 1)
        console.log(`crashes, seed ${seed}: ${points} points, ${images} images`)
      }
    },
    TIMEOUT,
  )

  test.each(Object.entries(crashBugs))('the crash search finds the seeded bug: %s', async (_name, bug) => {
    expect(await finds(findCrashViolations, { bug })).toBe(true)
  })
})

describe('a folder on a failing or full disk', () => {
  test(
    'after a failure of any operation, once or permanently, every reply of the store is true',
    async () => {
      for (const seed of seeds) {
        const { violations, points, images } = await findFailureViolations({ seed })
        expect(violations).toEqual([])
        console.log(`failures, seed ${seed}: ${points} points, ${images} images`)
      }
    },
    TIMEOUT,
  )

  test.each(Object.entries(failureBugs))('the failure search finds the seeded bug: %s', async (_name, options) => {
    expect(await finds(findFailureViolations, options)).toBe(true)
  })
})
