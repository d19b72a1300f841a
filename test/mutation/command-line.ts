import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { criticalFiles, REQUIRED_SCORE } from './critical-files.ts'
import { LUA_BUGS } from './lua-bugs.ts'
import { scoresOf, type Report } from './scores.ts'

const PACKAGES = ['@stryker-mutator/core@9.6.1', '@stryker-mutator/vitest-runner@9.6.1']
const REPORT = 'coverage/mutation.json'

/**
 * `npm run mutate -- [FILE…] [OPTION…]`: changes the files by Stryker, one place at a time, and runs the tests that reach the change.
 * Without files: all critical ones; a folder such as `src/http/` stands for those in it. `lua` in place of files plants the bugs of
 * `lua-bugs.ts`. With `--fresh` each mutant has a thread of its own; all other options are Stryker's.
 * @returns the exit code: 1 if a critical file has less than the required score, or if a bug in a script is not found
 */
export async function main(args: readonly string[]): Promise<number> {
  if (args[0] === 'lua') return plantLuaBugs()
  const named = args.filter((argument) => !argument.startsWith('--'))
  const files = named.length > 0 ? named.flatMap(filesOf) : criticalFiles()
  const drivers = driverOf(files)
  if (drivers === undefined) return (console.error('Files of src/store/fs and src/store/redis need a run of their own.'), 1)
  // Outside of the repository, because some suites read all of its files.
  const folder = mkdtempSync(join(tmpdir(), 'lanekeeper-mutation-'))
  const further = args.filter((argument) => argument.startsWith('--') && argument !== '--fresh')
  const options = ['--mutate', files.join(','), '--tempDirName', folder, ...further]
  const fresh = args.includes('--fresh') ? { LANEKEEPER_FRESH: '1' } : {}
  const command = [...PACKAGES.flatMap((name) => ['--package', name]), '--', 'stryker', 'run', 'test/mutation/stryker.json']
  const { status } = spawnSync('npx', ['--yes', ...command, ...options], {
    stdio: 'inherit',
    env: { ...env, ...fresh, LANEKEEPER_MUTATED: files.join(','), LANEKEEPER_DRIVERS: drivers },
  })
  rmSync(folder, { recursive: true, force: true })
  if (status !== 0) return status ?? 1
  return printScores(JSON.parse(readFileSync(REPORT, 'utf8')) as Report)
}

/** A folder, which ends with a slash, stands for the critical files below it. */
function filesOf(argument: string): string[] {
  return argument.endsWith('/') ? criticalFiles().filter((path) => path.startsWith(argument)) : [argument]
}

/** The driver that the suites run on: the one of the files, or memory. */
function driverOf(files: readonly string[]): string | undefined {
  const drivers = new Set(files.map((path) => /^src\/store\/(fs|redis)\//.exec(path)?.[1] ?? 'memory'))
  return drivers.size === 1 ? [...drivers][0] : undefined
}

function printScores(report: Report): number {
  const critical = new Set(criticalFiles())
  let exitCode = 0
  for (const { path, score, killed, survived, unreached, ignored } of scoresOf(report)) {
    const isTooLow = critical.has(path) && score < REQUIRED_SCORE
    if (isTooLow) exitCode = 1
    const counts = `${killed} killed, ${survived} survived, ${unreached} not reached, ${ignored} not judged`
    console.log(`${score.toFixed(1).padStart(5)} % ${path}: ${counts}${isTooLow ? `. Less than ${REQUIRED_SCORE} %` : ''}`)
  }
  return exitCode
}

function plantLuaBugs(): number {
  const all = [...new Set(LUA_BUGS.flatMap(({ suites }) => suites.split(' ')))]
  // A test that fails anyway would find each bug.
  if (!judge(all).passed) return (console.error('The suites fail without a planted bug.'), 1)
  const missed = LUA_BUGS.filter(({ text, suites }, index) => {
    const { failed } = judge(suites.split(' '), index)
    console.log(`${failed ? 'found' : 'NOT FOUND'}: ${text.trim()}`)
    return !failed
  })
  return missed.length === 0 ? 0 : 1
}

/** Runs suites on Redis. A run that could not start has neither passed nor failed. */
function judge(suites: readonly string[], bug?: number): { readonly passed: boolean; readonly failed: boolean } {
  const { status, stdout } = spawnSync('npx', ['vitest', 'run', '--config', 'test/mutation/vitest.config.ts', '--bail=1', ...suites], {
    env: { ...env, LANEKEEPER_LUA_BUG: String(bug ?? -1), LANEKEEPER_DRIVERS: 'redis', NO_COLOR: '1' },
    encoding: 'utf8',
  })
  return { passed: status === 0, failed: status !== 0 && /^ *Tests .*\b\d+ failed/m.test(stdout) }
}
