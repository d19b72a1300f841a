import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { runFolder } from '../support/run.ts'

/** Builds the service of a commit, in a folder of this run. @returns the folder @throws {Error} if there is no such commit */
export function buildCommit(commit: string): string {
  const folder = join(runFolder()!, 'commit')
  const run = (program: string, args: readonly string[], cwd = '.') =>
    execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  run('git', ['clone', '--quiet', '--shared', '--no-checkout', '.', folder])
  run('git', ['checkout', '--quiet', '--detach', commit], folder)
  run('npm', ['ci', '--silent'], folder)
  run('npm', ['run', '--silent', 'build'], folder)
  return folder
}
