import type { TestSpecification } from 'vitest/node'
import { LongestFirst } from '../setup/longest-first.ts'

/** Runs the shortest suites first: a mutant is judged when the first test fails. */
export class ShortestFirst extends LongestFirst {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of the sequencer
    return (await super.sort(specifications)).toReversed()
  }
}
