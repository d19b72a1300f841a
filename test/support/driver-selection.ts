import { tier, type Tier } from './tier.ts'

const NAMES = ['memory', 'fs', 'redis'] as const
export type DriverName = (typeof NAMES)[number]

/** What suites test: the service, or the contract that each driver fulfills. */
type Suites = 'service' | 'contract'

/** The drivers of each tier. Each suite runs on each driver in one tier. */
const OF_TIER: Readonly<Record<Tier, Readonly<Record<Suites, readonly DriverName[]>>>> = {
  quick: { service: ['memory'], contract: ['memory', 'fs'] },
  drivers: { service: ['fs', 'redis'], contract: ['redis'] },
  full: { service: NAMES, contract: NAMES },
}

/**
 * The drivers that suites run on in a tier: all of it, or those that LANEKEEPER_DRIVERS names, separated by commas.
 * @throws {Error} when it names an unknown driver
 */
export function driversOf(
  suites: Suites,
  ofTier: Tier = tier,
  { LANEKEEPER_DRIVERS: selection }: NodeJS.ProcessEnv = process.env,
): readonly DriverName[] {
  const ofSuites = OF_TIER[ofTier][suites]
  if (selection === undefined) return ofSuites
  const selected = selection.split(',')
  const unknown = selected.find((name) => !NAMES.includes(name as DriverName))
  if (unknown !== undefined) throw new Error(`LANEKEEPER_DRIVERS: there is no driver "${unknown}", only ${NAMES.join(', ')}`)
  return ofSuites.filter((name) => selected.includes(name))
}

/** @throws {Error} when LANEKEEPER_DRIVERS is invalid, or set in CI, which must test every driver */
export function checkDriverSelection(env: NodeJS.ProcessEnv = process.env): void {
  driversOf('service', 'full', env)
  const { CI = 'false', LANEKEEPER_DRIVERS } = env
  if (LANEKEEPER_DRIVERS !== undefined && !['', '0', 'false'].includes(CI))
    throw new Error('LANEKEEPER_DRIVERS is set, but CI must test every driver')
}
