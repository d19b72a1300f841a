import { expect } from 'vitest'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { DAY } from '../../src/model/time.ts'
import { findDamage } from './findings.ts'
import type { Service } from './service.ts'

/** Collects the garbage of a workspace now, and again when files without attachments are due. @returns the number of steps */
export async function collectAll(deps: AdminDeps, workspaceId: string): Promise<number> {
  const now = await collectGarbage(deps, workspaceId)
  return now + (await collectGarbage({ ...deps, clock: () => deps.clock() + DAY }, workspaceId))
}

/** Asserts the same before, between and after the steps of the garbage collection, until nothing is due. @returns the number of steps */
export async function betweenSteps({ adminDeps }: Service, workspaceId: string, assertions: () => Promise<void>): Promise<number> {
  for (let steps = 0; ; steps++) {
    await assertions()
    expect((await findDamage(adminDeps)).findings).toEqual([])
    let calls = 0
    if ((await collectGarbage(adminDeps, workspaceId, () => ++calls > 1)) === 0) return steps
  }
}
