/**
 * The tiers of the tests. `quick` is `npm test`. `drivers` runs the same suites on the drivers that `quick` leaves out, and `full` has
 * all other suites, and all of what `quick` has only a sample of. See test/README.md.
 */
export const TIERS = ['quick', 'drivers', 'full'] as const
export type Tier = (typeof TIERS)[number]

/** The tier of this run. Without one, everything is tested. */
export const tier: Tier = TIERS.find((one) => one === process.env['LANEKEEPER_TIER']) ?? 'full'
