/**
 * How many runs a randomised or repeated test makes: its default, times LANEKEEPER_EFFORT (1 where it is not
 * set). The default fits CI; a long run may take 100.
 */
export function effort(runs: number): number {
  const factor = Number(process.env['LANEKEEPER_EFFORT'] ?? 1)
  if (!Number.isFinite(factor) || factor <= 0) throw new Error('LANEKEEPER_EFFORT is a positive number')
  return Math.max(1, Math.round(runs * factor))
}
