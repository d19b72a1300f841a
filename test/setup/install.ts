import { canInstall, findBrowser, hasRedis, install, installLine, type BrowserLocation, type Program } from '../support/programs.ts'
import type { Needs } from './needs.ts'

const thisMachine = { hasRedis, findBrowser, canInstall, install }
/** What a machine has, and how programs are installed on it. */
export type Machine = typeof thisMachine

/** What was found or installed. */
export interface Installed {
  /** whether redis-server is there; false when no suite needs it */
  readonly redis: boolean
  /** undefined when there is no browser, or no suite needs one */
  readonly browser: BrowserLocation | undefined
  /** the programs that suites need and that could not be installed */
  readonly missing: readonly Program[]
}

/**
 * Finds the programs that suites need, and installs a missing one where that needs no password. It prints one line for each missing
 * program: why it is needed, and what happens or what to do.
 */
export async function installNeeds(
  needs: Needs,
  machine: Machine = thisMachine,
  print: (line: string) => void = console.log,
): Promise<Installed> {
  const redisSuites = [...new Set([...needs['redis-server'], ...needs['shared Redis']])]
  const find = async <T>(program: Program, suites: readonly string[], search: () => T): Promise<Awaited<T> | undefined> => {
    if (suites.length === 0) return undefined
    const found = (await search()) || (installFor(program, suites, machine, print) && (await search()))
    return found || undefined
  }
  const redis = (await find('redis-server', redisSuites, machine.hasRedis)) === true
  const browser = await find('chromium', needs.chromium, machine.findBrowser)
  const missing: Program[] = []
  if (!redis && redisSuites.length > 0) missing.push('redis-server')
  if (browser === undefined && needs.chromium.length > 0) missing.push('chromium')
  return { redis, browser, missing }
}

/** @returns whether the program was installed */
function installFor(program: Program, suites: readonly string[], machine: Machine, print: (line: string) => void): boolean {
  const others = suites.length > 1 ? ` and ${suites.length - 1} more` : ''
  const reason = `setup: ${program} is missing; needed by ${suites[0]}${others}.`
  if (!machine.canInstall()) {
    print(`${reason} Tests that use it fail. Install it:  ${installLine(program)}`)
    return false
  }
  print(`${reason} Installing the Debian package ${program}.`)
  try {
    machine.install(program)
    return true
  } catch {
    print(`setup: apt-get could not install ${program}. Tests that use it fail. Install it:  ${installLine(program)}`)
    return false
  }
}
