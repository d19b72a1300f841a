import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A program that some suites need and that no package of npm contains. */
export type Program = 'redis-server' | 'chromium-headless-shell' | 'python3' | 'sqlite3' | 'nginx' | 'caddy' | 'apache2'

/** Where a browser of the Chromium family is: options of Playwright's `launch`. */
export type BrowserLocation = { readonly executablePath: string } | { readonly channel: string }

/** Chromium without windows, as a Debian package. It takes much less CPU time than the whole browser. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell'
const CHROMIUM = '/usr/bin/chromium'
/** Playwright's names of browsers that it finds by itself on every platform. Windows always has Edge. */
const CHANNELS = ['chrome', 'msedge']

/** The arguments of apt-get that install a program. Its Debian package has the same name. */
const installArguments = (program: Program) => ['install', '-y', '--no-install-recommends', program]

/** The line that installs a program on Debian. Other systems have packages of the same name, or of Chrome. */
export function installLine(program: Program): string {
  return `sudo apt-get ${installArguments(program).join(' ')}`
}

/** The error of a test that needs a missing program. */
export function missingProgram(program: Program): Error {
  const alternative = program === 'chromium-headless-shell' ? '  Or set CHROMIUM_PATH to the path of a browser of the Chromium family.' : ''
  return new Error(`${program} is not installed. Install it:  ${installLine(program)}${alternative}`)
}

/** Whether programs can be installed without a password: on Debian as root. */
export function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
}

/** Installs a Debian package. @throws {Error} when apt-get fails; its messages are on stderr */
export function install(program: Program): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // Without a network, it is soon given up.
  const options = ['-q', '-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=20']
  for (const args of [['update'], installArguments(program)])
    execFileSync('apt-get', [...options, ...args], { stdio: ['ignore', 'ignore', 'inherit'], env })
}

/** The program that suites start as Redis: REDIS_SERVER_PATH, or `redis-server` on the PATH. */
export function redisProgram(): string {
  return chosenRedis() ?? 'redis-server'
}

/**
 * Which Redis suites start, such as "Redis server v=7.0.15" or "Valkey server v=8.1.1"; undefined when there is none.
 * @throws {Error} when REDIS_SERVER_PATH does not name a program
 */
export function findRedis(): string | undefined {
  try {
    const version = execFileSync(redisProgram(), ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return /^.* v=\S+/.exec(version)?.[0]
  } catch {
    if (chosenRedis() !== undefined) throw new Error(`REDIS_SERVER_PATH: ${chosenRedis()} cannot be run`)
    return undefined
  }
}

function chosenRedis(): string | undefined {
  const path = process.env['REDIS_SERVER_PATH'] ?? ''
  return path === '' ? undefined : path
}

/** Whether a program is on the PATH, or where Debian has programs of the administrator. */
export function hasProgram(program: Program): boolean {
  return [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'].some((folder) => isExecutable(join(folder, program)))
}

/** Whether no better browser needs to be installed: there is a headless shell, or somebody has chosen one. */
export function hasFastBrowser(): boolean {
  return (process.env['CHROMIUM_PATH'] ?? '') !== '' || isExecutable(HEADLESS_SHELL)
}

/**
 * Finds a browser: CHROMIUM_PATH, then Debian's headless shell, then its Chromium, then Chrome and Edge.
 * @throws {Error} when CHROMIUM_PATH does not name a program
 */
export async function findBrowser(): Promise<BrowserLocation | undefined> {
  const path = process.env['CHROMIUM_PATH'] ?? ''
  if (path !== '') {
    if (!isExecutable(path)) throw new Error(`CHROMIUM_PATH: ${path} is not an executable file`)
    return { executablePath: path }
  }
  const debian = [HEADLESS_SHELL, CHROMIUM].find(isExecutable)
  if (debian !== undefined) return { executablePath: debian }
  // Only a start shows whether Playwright finds a browser: it does not export the paths.
  const { chromium } = await import('playwright-core')
  for (const channel of CHANNELS) {
    const browser = await chromium.launch({ channel, args: sandboxArguments() }).catch(() => undefined)
    await browser?.close()
    if (browser !== undefined) return { channel }
  }
  return undefined
}

/** Chromium's sandbox does not work for root. */
export function sandboxArguments(): string[] {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : []
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
