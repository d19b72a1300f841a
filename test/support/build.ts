import { execFileSync } from 'node:child_process'
import type { TestProject } from 'vitest/node'
import { artefactFolder, requireChromium } from './chromium.ts'
import { requireRedis, startRedis } from './redis.ts'

/** Builds `dist` once, sees to what the suites need, and starts the Redis that the suites share. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  execFileSync('npx', ['tsc'], { stdio: 'inherit' })
  requireRedis()
  requireChromium()
  const artefacts = artefactFolder()
  console.log(`Screenshots are in ${artefacts}`)
  project.provide('artefacts' as never, artefacts as never)
  const redis = await startRedis()
  project.provide('redisUrl' as never, redis.url as never)
  return () => redis.stop()
}
