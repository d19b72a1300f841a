import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Suites that take longest, on two processors from about a minute down to a few seconds. Suites that mostly wait, for a Redis that is
 * stopped or for processes, are between those that compute, so that they run at the same time.
 */
const LONG = [
  'http/matrix',
  'stress/histories/histories',
  'store/redis-network',
  'stress/redis-faults',
  'stress/fs-crash',
  'web/browser/',
  'store/redis-cluster',
  'stress/concurrency',
  'store/redis-commit',
  'admin/command-line',
  'admin/transfer',
  'http/order',
  'stress/histories/',
  'store/open',
  'http/changed-facts',
  'setup/interrupted/',
  'start/main',
  'stress/',
  'admin/bytes',
  'start/canary',
  'policy/mutants',
  'store/fs-lock',
  'http/not-found',
  'start/',
  'http/observability',
  'admin/',
  'store/redis-',
  'web/',
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
