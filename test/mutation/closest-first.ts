import { basename, relative } from 'node:path'
import type { TestSpecification } from 'vitest/node'
import { LongestFirst } from '../setup/longest-first.ts'

/**
 * A sequencer that runs first the suites named like a mutated file, then the suites of the same part, the shortest first: these notice most
 * mutants.
 */
export function closestFirst(files: readonly string[]): typeof LongestFirst {
  const names = files.map((path) => basename(path, '.ts'))
  const parts = files.map((path) => path.split('/')[1]!)
  const distance = (suite: string): number =>
    names.some((name) => basename(suite).startsWith(name)) ? 0 : parts.some((part) => suite.startsWith(`${part}/`)) ? 1 : 2
  return class extends LongestFirst {
    override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
      // oxlint-disable-next-line unicorn/no-array-sort -- a method of the sequencer
      const shortestFirst = (await super.sort(specifications)).toReversed()
      return shortestFirst.toSorted((a, b) => distance(relative('test', a.moduleId)) - distance(relative('test', b.moduleId)))
    }
  }
}
