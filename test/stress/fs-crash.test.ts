import { describe, expect, test } from 'vitest'
import { crashBugs, failureBugs } from '../support/broken-disks.ts'
import { findCrashes, findFalseAnswers, type Bug } from '../support/crash.ts'
import { effort } from '../support/effort.ts'

/** A long run has many seeds. */
const LONG = 3_600_000
const seeds = Array.from({ length: effort(2) }, (_, i) => i + 1)

/** Whether a bug is found, in one story or another. */
async function finds(search: typeof findCrashes, bug: Bug): Promise<boolean> {
  for (const seed of [1, 2, 3, 4]) if ((await search({ bug, seed, first: true })).violations.length > 0) return true
  return false
}

describe('a folder whose process is killed, or whose machine loses power', () => {
  test(
    'after any operation, all that was acknowledged is there, whole and in order',
    async () => {
      for (const seed of seeds) {
        const { violations, operations, points, images } = await findCrashes({ seed })
        expect(violations).toEqual([])
        expect(points).toBe(operations + 1)
        console.log(`crashes, seed ${seed}: ${points} points, ${images} images`)
      }
    },
    LONG,
  )

  test.each(Object.entries(crashBugs))('the search finds a planted bug: %s', async (_name, bug) => {
    expect(await finds(findCrashes, bug)).toBe(true)
  })
})

describe('a folder whose disk is full, or fails', () => {
  test(
    'at any operation, once or for good, nothing is said that is not so',
    async () => {
      for (const seed of seeds) {
        const { violations, points, images } = await findFalseAnswers({ seed })
        expect(violations).toEqual([])
        console.log(`failures, seed ${seed}: ${points} points, ${images} images`)
      }
    },
    LONG,
  )

  test.each(Object.entries(failureBugs))('the search finds a planted bug: %s', async (_name, bug) => {
    expect(await finds(findFalseAnswers, bug)).toBe(true)
  })
})
