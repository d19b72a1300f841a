import { collectGarbage } from '../../../src/admin/garbage-collection.ts'
import { DAY } from '../../../src/model/time.ts'
import { indexes, lastWord, timedSorts } from '../../../src/store/indexes.ts'
import type { Key } from '../../../src/store/keys.ts'
import type { Service } from '../../support/service.ts'
import { expectEqual } from '../../support/expect-equal.ts'
import { findDamage } from '../../support/findings.ts'
import { findByteDifferences } from '../../support/stored-bytes.ts'

/**
 * Invariants of the records and bytes of a workspace after any history and a garbage collection. They are read without the
 * API. The collections are more than a day after the history, so every tombstone is due.
 */
export async function checkInvariants(service: Service, workspaceId: string): Promise<void> {
  // The check of the command line finds nothing, neither before nor after the collection.
  expectEqual((await findDamage(service.adminDeps)).findings, [])
  // Two collections: the first one removes the attachments of deleted cards, and their files are kept for another day.
  for (let day = 0; day < 2; day++) {
    service.now += DAY + 1
    await collectGarbage(service.adminDeps, workspaceId)
  }
  expectEqual((await findDamage(service.adminDeps)).findings, [])
  const keys = await service.recordKeys(workspaceId)
  const records = await service.write(workspaceId, async (tx) => {
    const values = await tx.read(keys as Key<any>[])
    return new Map(keys.map((key, i) => [key, values[i] as any]))
  })
  const allOf = (kind: string): any[] => [...records].filter(([key]) => key.startsWith(`${kind}:`)).map(([, value]) => value)
  const expectRecord = (kind: string, id: string) => expectEqual([kind, id, records.has(`${kind}:${id}`)], [kind, id, true])
  const list = (index: { name: string; fetch: string }) => service.write(workspaceId, (tx) => tx.all(index))

  // No record is orphaned.
  for (const { board_id, user_id } of allOf('board_member')) {
    expectRecord('board', board_id)
    expectEqual(records.get(`membership:${user_id}`).ended_at, null)
  }
  for (const { board_id } of [...allOf('column'), ...allOf('label')]) expectRecord('board', board_id)
  for (const card of allOf('card')) {
    expectRecord('board', card.board_id)
    expectEqual(records.get(`column:${card.column_id}`)?.board_id, card.board_id)
    for (const id of card.label_ids) expectEqual(records.get(`label:${id}`)?.board_id, card.board_id)
    if (card.cover_attachment_id !== null) expectEqual(records.get(`attachment:${card.cover_attachment_id}`)?.card_id, card.id)
    const board = records.get(`board:${card.board_id}`)
    for (const id of card.assignee_ids) {
      const canSee = board.visibility === 'workspace' || board.creator_id === id || records.has(`board_member:${board.id}:${id}`)
      expectEqual([id, records.get(`membership:${id}`)?.ended_at, canSee], [id, null, true])
    }
    for (const ids of [card.assignee_ids, card.label_ids]) expectEqual(new Set(ids).size, ids.length)
  }
  for (const { card_id } of [...allOf('subtask'), ...allOf('comment'), ...allOf('attachment')]) expectRecord('card', card_id)
  for (const { file_id } of allOf('attachment')) expectRecord('file', file_id)
  const attachedFiles = new Set(allOf('attachment').map(({ file_id }) => file_id))
  for (const { id } of allOf('file')) expectEqual([id, attachedFiles.has(id)], [id, true])
  const lists = new Set(['board', 'column', 'card'].flatMap((kind) => allOf(kind).map(({ id }) => id)))
  expectEqual(
    keys.filter((key) => key.startsWith('order:') && !lists.has(key.slice('order:'.length))),
    [],
  )
  // Those of the change feeds are due later. A deleted board has no feed any more.
  expectEqual(
    allOf('tombstone').filter(({ kind }) => kind !== 'changes'),
    [],
  )
  for (const key of keys) if (key.startsWith('change:')) expectRecord('board', key.split(':')[1]!)

  // Every index contains exactly the entries of its records, in order.
  for (const board of allOf('board')) {
    const cards = allOf('card').filter((card) => card.board_id === board.id)
    const columns = allOf('column').filter((column) => column.board_id === board.id)
    expectEqual((await list(indexes.boardCards(board.id))).values.length, cards.length)
    expectEqual((await list(indexes.columns(board.id))).values.length, columns.length)
    const completed = cards.filter((card) => card.completed_at !== null)
    for (const sort of timedSorts) {
      const { length } = (await list(indexes.sortedCards(sort, board.id))).values
      expectEqual([sort, length], [sort, (sort === 'completed_at' ? completed : cards).length])
    }
    for (const user of new Set<string>(completed.map((card) => card.completed_by_id))) {
      const ids = (await list(indexes.cardsCompletedBy(board.id, user))).entries.map(lastWord)
      expectEqual(
        ids.toSorted(),
        completed
          .filter((card) => card.completed_by_id === user)
          .map(({ id }) => id)
          .toSorted(),
      )
    }
    expectEqual((await list(indexes.boardAssignments(board.id))).values.length, cards.flatMap((card) => card.assignee_ids).length)
    for (const column of columns) {
      for (const state of ['active', 'archived'] as const) {
        const inState = cards.filter((card) => card.column_id === column.id && (card.archived_at === null) === (state === 'active'))
        const listed = (await list(indexes.cards(state, column.id))).entries
        expectEqual(listed, inState.map((card) => `${card.position} ${card.id}`).toSorted())
        const done = await Promise.all([true, false].map((value) => list(indexes.cardsDone(state, column.id, value))))
        expectEqual(done.flatMap(({ entries }) => entries).toSorted(), listed)
      }
    }
  }
  for (const card of allOf('card')) {
    for (const [kind, index] of [
      ['subtask', indexes.subtasks(card.id)],
      ['comment', indexes.comments(card.id)],
      ['attachment', indexes.attachments(card.id)],
    ] as const) {
      expectEqual((await list(index)).values.length, allOf(kind).filter((record) => record.card_id === card.id).length)
    }
  }
  // Every file has its bytes, and no other bytes are stored.
  expectEqual(await findByteDifferences(service), [])
}
