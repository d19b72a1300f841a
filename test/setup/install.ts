import {
  canInstall,
  findBrowser,
  findRedis,
  hasFastBrowser,
  hasProgram,
  install,
  installLine,
  type BrowserLocation,
  type Program,
} from '../support/programs.ts'
import type { Needs } from './needs.ts'

const thisMachine = { hasProgram, findRedis, hasFastBrowser, findBrowser, canInstall, install }
/** What a machine has, and how programs are installed on it. */
export type Machine = typeof thisMachine

const PROXIES = ['nginx', 'caddy'] as const
type Proxy = (typeof PROXIES)[number]

/** The programs that a run prepares. */
type Prepared = Extract<Program, 'redis-server' | 'chromium-headless-shell' | Proxy>

/** What was found or installed. */
export interface Installed {
  /** which Redis is there, as it says itself; undefined when there is none, or no suite needs it */
  readonly redis: string | undefined
  /** undefined when there is no browser, or no suite needs one */
  readonly browser: BrowserLocation | undefined
  /** the programs that suites need and that could not be installed */
  readonly missing: readonly Prepared[]
}

/**
 * Finds the programs that suites need, and installs a missing one where that needs no password. It prints one line for each that it
 * installs, and for each that stays missing: why it is needed, and what to do.
 */
export async function installNeeds(
  needs: Needs,
  machine: Machine = thisMachine,
  print: (line: string) => void = console.log,
): Promise<Installed> {
  const users: Readonly<Record<Prepared, readonly string[]>> = {
    'redis-server': [...new Set([...needs['redis-server'], ...needs['shared Redis']])],
    'chromium-headless-shell': needs.chromium,
    nginx: needs.proxies,
    caddy: needs.proxies,
  }
  const reasonOf = (program: Prepared): string => {
    const [first, ...others] = users[program]
    return `setup: ${program} is missing; needed by ${first}${others.length > 0 ? ` and ${others.length} more` : ''}.`
  }
  const provide = (program: Prepared, isThere: () => boolean): void => {
    if (users[program].length === 0 || !machine.canInstall() || isThere()) return
    print(`${reasonOf(program)} Installing the Debian package ${program}.`)
    try {
      machine.install(program)
    } catch {
      print(`setup: apt-get could not install ${program}.`)
    }
  }
  provide('redis-server', () => machine.findRedis() !== undefined)
  provide('chromium-headless-shell', machine.hasFastBrowser)
  for (const proxy of PROXIES) provide(proxy, () => machine.hasProgram(proxy))

  const redis = users['redis-server'].length > 0 ? machine.findRedis() : undefined
  const browser = needs.chromium.length > 0 ? await machine.findBrowser() : undefined
  const found: Readonly<Record<Prepared, boolean>> = {
    'redis-server': redis !== undefined,
    'chromium-headless-shell': browser !== undefined,
    nginx: machine.hasProgram('nginx'),
    caddy: machine.hasProgram('caddy'),
  }
  const missing = (Object.keys(users) as Prepared[]).filter((program) => users[program].length > 0 && !found[program])
  for (const program of missing) print(`${reasonOf(program)} Tests that use it fail. Install it:  ${installLine(program)}`)
  return { redis, browser, missing }
}
