import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import type { Tier } from '../support/tier.ts'

/**
 * Suites that take longest, on two processors from about a minute down to a few seconds. Suites that mostly wait, for a Redis that is
 * stopped or for processes, are between those that compute, so that they run at the same time.
 */
const LONG = [
  'http/matrix',
  'admin/command-line',
  'store/redis-network',
  'stress/attacks/',
  'stress/histories/histories',
  'stress/redis-faults',
  'bench/',
  'web/browser/',
  'stress/claims/',
  'stress/concurrency',
  'store/redis-cluster',
  'admin/backup',
  'cli/decision-log',
  'store/redis-commit',
  'admin/board-import',
  'start/workers',
  'start/reload',
  'stress/histories/',
  'store/open',
  'http/changed-facts',
  'resources/work-model',
  'resources/ready',
  'start/secret-keys',
  'setup/interrupted/',
  'start/main',
  'cli/policy-explain',
  'stress/',
  'admin/bytes',
  'start/canary',
  'policy/mutants',
  'store/fs-lock',
  'store/fs-damage',
  'http/not-found',
  'http/bounded-answers',
  'http/limits',
  'web/forms',
  'cli/',
  'start/',
  'http/observability',
  'admin/',
  'store/redis-',
  'web/',
]

/** A worker runs suites of one tier. So the tiers follow one after the other, and the one with the longest suites is the first. */
const TIER_ORDER: readonly string[] = ['full', 'drivers', 'quick'] satisfies readonly Tier[]

/** Starts the longest suites first, so that no worker is busy with one at the end while the others have finished. */
export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const tierOf = ({ project }: TestSpecification): number => TIER_ORDER.indexOf(project.name)
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const path = relative('test', moduleId)
      const rank = LONG.findIndex((prefix) => path.startsWith(prefix))
      return rank === -1 ? LONG.length : rank
    }
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of the sequencer
    const bySize = await super.sort(specifications)
    return bySize.toSorted((a, b) => tierOf(a) - tierOf(b) || rankOf(a) - rankOf(b))
  }
}
