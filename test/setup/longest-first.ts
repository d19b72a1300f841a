import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Suites that take longest, on two processors from about half a minute down to a few seconds. */
const LONG = [
  'stress/histories/',
  'http/matrix',
  'admin/command-line',
  'stress/',
  'admin/transfer',
  'web/browser/',
  'policy/mutants',
  'store/redis-',
  'start/main',
  'http/order',
  'admin/',
  'setup/interrupted/',
]

/** Starts the longest suites first, so that no worker is busy with one at the end while the others have finished. */
export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const path = relative('test', moduleId)
      const rank = LONG.findIndex((prefix) => path.startsWith(prefix))
      return rank === -1 ? LONG.length : rank
    }
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of the sequencer
    const bySize = await super.sort(specifications)
    return bySize.toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}
