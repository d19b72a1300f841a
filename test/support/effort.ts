/**
 * How many runs a randomised or repeated test makes: its default, times LANEKEEPER_EFFORT (1 where it is not
 * set). The default fits CI; a long run may take 100.
 */
export function effort(runs: number): number {
  const factor = Number(process.env['LANEKEEPER_EFFORT'] ?? 1)
  if (!Number.isFinite(factor) || factor <= 0) throw new Error('LANEKEEPER_EFFORT is a positive number')
  return Math.max(1, Math.round(runs * factor))
}

/**
 * How fast-check runs a property. A failure ends it at once and tells its seed; with LANEKEEPER_SHRINK=1 it is
 * made small first, which can take long.
 */
export function runs(defaultRuns: number): { numRuns: number; endOnFailure: boolean } {
  return { numRuns: effort(defaultRuns), endOnFailure: process.env['LANEKEEPER_SHRINK'] !== '1' }
}
