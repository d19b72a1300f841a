import { collectGarbage } from '../../../src/admin/garbage-collection.ts'
import { DAY } from '../../../src/model/time.ts'
import type { Key } from '../../../src/store/keys.ts'
import type { Service } from '../../support/service.ts'
import { expectEqual } from '../../support/expect-equal.ts'
import { findDamage } from '../../support/findings.ts'

/**
 * Invariants of the records and bytes of a workspace after any history and a garbage collection. They are read without the
 * API. The collections are more than a day after the history, so every tombstone is due.
 */
export async function checkInvariants(service: Service, workspaceId: string): Promise<void> {
  // The check of the command line finds nothing, neither before nor after the collection: no reference that leads nowhere, no index that
  // differs from the records, and no bytes without a file.
  expectEqual((await findDamage(service.adminDeps)).findings, [])
  // Two collections: the first one removes the attachments of deleted cards, and their files are kept for another day.
  for (let day = 0; day < 2; day++) {
    service.now += DAY + 1
    await collectGarbage(service.adminDeps, workspaceId)
  }
  expectEqual((await findDamage(service.adminDeps)).findings, [])
  const keys = await service.recordKeys(workspaceId)
  const values = (await service.write(workspaceId, (tx) => tx.read(keys as Key<any>[]))) as any[]
  const records = new Map(keys.map((key, i) => [key, values[i]]))
  const allOf = (kind: string): any[] => values.filter((_value, i) => keys[i]!.startsWith(`${kind}:`))
  const hasLeft = (id: string) => records.get(`membership:${id}`).ended_at !== null
  // What the check of the command line accepts for a while, because it may be about to be collected.
  for (const { user_id } of allOf('board_member')) expectEqual([user_id, hasLeft(user_id)], [user_id, false])
  for (const { board_id, assignee_ids, label_ids } of allOf('card')) {
    const board = records.get(`board:${board_id}`)
    for (const id of assignee_ids) {
      const canSee = board.visibility === 'workspace' || board.creator_id === id || records.has(`board_member:${board_id}:${id}`)
      expectEqual([id, hasLeft(id), canSee], [id, false, true])
    }
    for (const ids of [assignee_ids, label_ids]) expectEqual(new Set(ids).size, ids.length)
  }
  const attachedFiles = new Set(allOf('attachment').map(({ file_id }) => file_id))
  for (const { id } of allOf('file')) expectEqual([id, attachedFiles.has(id)], [id, true])
  // Tombstones of the change feeds and of notices are due later. A deleted board has no feed any more.
  expectEqual(
    allOf('tombstone').filter(({ kind }) => kind !== 'changes' && kind !== 'notices'),
    [],
  )
  for (const key of keys) if (key.startsWith('change:')) expectEqual([key, records.has(`board:${key.split(':')[1]}`)], [key, true])
}
