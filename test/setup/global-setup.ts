import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { checkDriverSelection, driversOf } from '../support/driver-selection.ts'
import { TIERS } from '../support/tier.ts'
import type { BrowserLocation } from '../support/programs.ts'
import { DATABASES, startRedis } from '../support/redis.ts'
import { createRunFolder } from '../support/run.ts'
import { build, buildForBrowsers } from './build.ts'
import { installNeeds } from './install.ts'
import { findNeeds } from './needs.ts'

declare module 'vitest' {
  /** What the run gives to its suites. */
  interface ProvidedContext {
    /** the Redis that suites share; undefined when there is none */
    readonly redisUrl: string | undefined
    /** undefined when there is none */
    readonly browser: BrowserLocation | undefined
    /** why the service could not be built */
    readonly buildError: string | undefined
  }
}

/**
 * Prepares a run: it builds, installs and starts what the selected suites need, and nothing else. What is missing then fails only the
 * tests that use it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  checkDriverSelection()
  const folder = createRunFolder()
  const reaper = startReaper(folder, project.tmpDir)
  const { root } = project.config
  const suites = project.vitest.state.getPaths().map((path) => relative(root, path))
  const names = new Set(project.vitest.projects.map(({ name }) => name))
  // A run without tiers, such as for coverage, has all drivers.
  const onRedis = TIERS.filter((tier) => names.has(tier) || names.has('')).some((tier) => driversOf('service', tier).includes('redis'))
  const found = findNeeds(suites)
  // A suite of Redis alone needs it, whatever the drivers are.
  const onlyRedis = found['shared Redis'].filter((path) => found['redis-server'].includes(path))
  const needs = { ...found, 'shared Redis': onRedis ? found['shared Redis'] : onlyRedis }
  const { redis, browser } = await installNeeds(needs)
  if (redis !== undefined) console.log(`setup: the Redis of this run is ${redis}`)
  if (needs.build.length === 0) buildForBrowsers()
  project.provide('buildError', needs.build.length > 0 ? build() : undefined)
  project.provide('browser', browser)
  project.provide(
    'redisUrl',
    redis !== undefined && needs['shared Redis'].length > 0 ? (await startRedis(['--databases', String(DATABASES)])).url : undefined,
  )
  return async () => {
    reaper.stdin!.end()
    await once(reaper, 'exit')
  }
}

/** Starts the process that ends this run's processes and removes its folders, when this process ends in any way. */
export function startReaper(...folders: readonly string[]): ChildProcess {
  const script = fileURLToPath(new URL('reaper.js', import.meta.url))
  const reaper = spawn(process.execPath, [script, ...folders], { detached: true, windowsHide: true, stdio: ['pipe', 'inherit', 'inherit'] })
  reaper.unref()
  return reaper
}
