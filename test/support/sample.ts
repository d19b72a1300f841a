import { effort, runs } from './effort.ts'
import { tier } from './tier.ts'

/** All items, or in the quick tier only about `count` of them, at equal distances. A suite that imports this file runs in both tiers. */
export function sample<T>(all: readonly T[], count: number): readonly T[] {
  const step = stride(Math.max(1, Math.floor(all.length / count)))
  return all.filter((_item, i) => i % step === 0)
}

/** The distance of the cases of a long row that are tried: each of them, or in the quick tier one of `quickStride`. */
export function stride(quickStride: number): number {
  return tier === 'quick' ? quickStride : 1
}

/** The number of runs of a repeated test, as {@link effort} has it, or in the quick tier `quickRuns`. */
export function sampledEffort(runs: number, quickRuns: number): number {
  return tier === 'quick' ? quickRuns : effort(runs)
}

/** The fast-check parameters of a property, as {@link runs} has them, or in the quick tier with `quickRuns`. */
export function sampledRuns(defaultRuns: number, quickRuns: number): ReturnType<typeof runs> {
  return { ...runs(defaultRuns), numRuns: sampledEffort(defaultRuns, quickRuns) }
}
