const NAMES = ['memory', 'fs', 'redis'] as const
export type DriverName = (typeof NAMES)[number]

/**
 * The drivers that the storage suites run on: all, or those that LANEKEEPER_DRIVERS names, separated by commas.
 * @throws {Error} when it names an unknown driver
 */
export function selectDrivers({ LANEKEEPER_DRIVERS: selection }: NodeJS.ProcessEnv = process.env): readonly DriverName[] {
  if (selection === undefined) return NAMES
  const selected = selection.split(',')
  const unknown = selected.find((name) => !NAMES.includes(name as DriverName))
  if (unknown !== undefined) throw new Error(`LANEKEEPER_DRIVERS: there is no driver "${unknown}", only ${NAMES.join(', ')}`)
  return NAMES.filter((name) => selected.includes(name))
}

/** @throws {Error} when LANEKEEPER_DRIVERS is invalid, or set in CI, which must test every driver */
export function checkDriverSelection(env: NodeJS.ProcessEnv = process.env): void {
  selectDrivers(env)
  const { CI = 'false', LANEKEEPER_DRIVERS } = env
  if (LANEKEEPER_DRIVERS !== undefined && !['', '0', 'false'].includes(CI))
    throw new Error('LANEKEEPER_DRIVERS is set, but CI must test every driver')
}
