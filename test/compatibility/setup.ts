import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { build } from '../setup/build.ts'
import { startReaper } from '../setup/global-setup.ts'
import { canInstall, hasProgram, install } from '../support/programs.ts'
import { createRunFolder } from '../support/run.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))

/** Builds the service, and installs the proxies and the clients, these from their own lock. Their install scripts do not run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const reaper = startReaper(createRunFolder(), project.tmpDir)
  if (modified('node_modules/.package-lock.json') < modified('package-lock.json')) {
    console.log('setup: installing the clients of test/compatibility.')
    execFileSync('npm', ['ci', '--ignore-scripts', '--loglevel=error'], { cwd: folder, stdio: 'inherit' })
  }
  // Where they cannot be installed, the suites of proxies fail, and say how.
  for (const program of ['nginx', 'caddy', 'apache2'] as const) if (!hasProgram(program) && canInstall()) install(program)
  project.provide('buildError', build())
  project.provide('redisUrl', undefined)
  project.provide('browser', undefined)
  return async () => {
    reaper.stdin!.end()
    await once(reaper, 'exit')
  }
}

/** The time of the last modification, in milliseconds; 0 when there is no such file. */
function modified(path: string): number {
  return statSync(`${folder}${path}`, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
