import type { AdminDeps } from '../../src/admin/deps.ts'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { DAY } from '../../src/model/time.ts'

/** Collects the garbage of a workspace now, and again when files without attachments are due. @returns the number of steps */
export async function collectAll(deps: AdminDeps, workspaceId: string): Promise<number> {
  const now = await collectGarbage(deps, workspaceId)
  return now + (await collectGarbage({ ...deps, clock: () => deps.clock() + DAY }, workspaceId))
}
