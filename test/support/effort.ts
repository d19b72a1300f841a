/**
 * The number of runs of a randomised or repeated test: its default times LANEKEEPER_EFFORT (1 by default). The
 * default suits CI. A long run may use 100.
 */
export function effort(runs: number): number {
  const factor = Number(process.env['LANEKEEPER_EFFORT'] ?? 1)
  if (!Number.isFinite(factor) || factor <= 0) throw new Error('LANEKEEPER_EFFORT must be a positive number')
  return Math.max(1, Math.round(runs * factor))
}

/** A time limit, in milliseconds: more effort takes longer. Less effort leaves it as it is. */
export function timeLimit(milliseconds: number): number {
  return Math.max(milliseconds, effort(milliseconds))
}

/**
 * The fast-check parameters of a property. A failure ends the run and prints its seed. With LANEKEEPER_SHRINK=1 the
 * failing example is shrunk first, which can take long.
 */
export function runs(defaultRuns: number): { numRuns: number; endOnFailure: boolean } {
  return { numRuns: effort(defaultRuns), endOnFailure: process.env['LANEKEEPER_SHRINK'] !== '1' }
}
