import { execFileSync } from 'node:child_process'
import type { TestProject } from 'vitest/node'
import { artefactFolder, requireChromium } from './chromium.ts'
import { requireRedis, startRedis } from './redis.ts'

/** Builds `dist`, installs Redis and Chromium if they are missing, and starts the Redis server that the suites share. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  execFileSync('npx', ['tsc'], { stdio: 'inherit' })
  requireRedis()
  requireChromium()
  project.provide('artefacts' as never, artefactFolder() as never)
  const redis = await startRedis()
  project.provide('redisUrl' as never, redis.url as never)
  return () => redis.stop()
}
