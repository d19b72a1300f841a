import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Redis } from 'ioredis'
import { createRedisDriver } from '../../src/store/redis/client.ts'

/** The path of a fixture of an earlier version, with `/` at its end. Its README says what it has. */
export const fixtureRoot = (name: 'format-1' | 'format-2'): string => fileURLToPath(new URL(`../../fixtures/${name}/`, import.meta.url))

/** A copy of the folder of a fixture. */
export async function copyFolder(root: string): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'lanekeeper-'))
  await cp(`${root}folder`, path, { recursive: true })
  return { path, remove: () => rm(path, { recursive: true }) }
}

/** Writes a fixture to an empty database of Redis. */
export async function loadRedis(root: string, url: string): Promise<void> {
  const client = createRedisDriver(url).getInstance() as Redis
  await client.connect()
  for (const line of (await readFile(`${root}redis.jsonl`, 'utf8')).trimEnd().split('\n')) {
    const [command, ...rest] = JSON.parse(line) as [string, ...string[]]
    await client.call(command, ...rest)
  }
  client.disconnect()
}
