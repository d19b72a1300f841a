import { effort, runs } from './effort.ts'
import { tier } from './tier.ts'

/** All items, or in the quick tier only about `count` of them, at equal distances. A suite that imports this file runs in both tiers. */
export function sample<T>(all: readonly T[], count: number): readonly T[] {
  const step = tier === 'quick' ? Math.max(1, Math.floor(all.length / count)) : 1
  return all.filter((_item, i) => i % step === 0)
}

/** The number of runs of a repeated test, as {@link effort} has it, or in the quick tier `quickRuns`. */
export function sampledEffort(runs: number, quickRuns: number): number {
  return tier === 'quick' ? quickRuns : effort(runs)
}

/** The fast-check parameters of a property, as {@link runs} has them, or in the quick tier with `quickRuns`. */
export function sampledRuns(defaultRuns: number, quickRuns: number): ReturnType<typeof runs> {
  return { ...runs(defaultRuns), numRuns: sampledEffort(defaultRuns, quickRuns) }
}
