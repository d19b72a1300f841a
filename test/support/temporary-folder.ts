import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'

/** Gives each test of a suite an empty folder, which is removed after it. @param use gets its path */
export function eachInFolder(use: (path: string) => void): void {
  let path: string
  beforeEach(async () => use((path = await mkdtemp(join(tmpdir(), 'lanekeeper-')))))
  afterEach(() => rm(path, { recursive: true, force: true }))
}
