import { isStuck } from '../../model/claim.ts'
import { changedKinds, type ChangedKind, type ChangeRecord } from '../../model/change.ts'
import { timestamp } from '../../model/time.ts'
import type { AttachmentRecord, FileRecord } from '../../model/file.ts'
import type { CommittingTransaction, Derivation } from '../../store/derivation.ts'
import { indexes } from '../../store/indexes.ts'
import { keys, type Key } from '../../store/keys.ts'
import { toAttachment } from '../attachments/attachment.ts'
import { DailyTombstones } from '../daily-tombstones.ts'
import { differenceOf, lastOf } from './difference.ts'

const kinds: ReadonlySet<string> = new Set(changedKinds)

/**
 * Creates the derivation of the change feed: what a commit changes on boards. The entries are a part of the commit, so no change is
 * without one, in the order of the commits.
 *
 * A board is recognised by its record: a change of what is on it must have read it. Changes of what belongs to a deleted board or
 * card are not added.
 */
export function createChangeLog(): Derivation {
  const tombstones = new DailyTombstones('changes')
  return (tx, written) => {
    if (tx.logged === undefined) return
    const { author } = tx.logged
    const boards = new Set<string>()
    const now = tx.logged.clock()
    const at = timestamp(() => now)
    for (const key of written) {
      const changed = describe(key, tx)
      for (const done of changed?.done ?? []) {
        boards.add(changed!.board_id)
        // V8 takes microseconds to spread several objects into one.
        tx.append(indexes.changes(changed!.board_id), Object.assign({ at, operation: tx.operationOf(key) }, done, author))
      }
    }
    for (const boardId of boards) tombstones.schedule(tx, boardId, now)
  }
}

/** What was done to an object. */
type Done = Pick<ChangeRecord, 'kind' | 'id' | 'action' | 'epoch' | 'attempts' | 'reason' | 'changed' | 'from' | 'last'>

/** What is changed on a board. */
interface Described {
  readonly board_id: string
  readonly done: readonly Done[]
}

/** Where a record is. */
type Place = Readonly<Partial<Record<'board_id' | 'card_id', string>>>

/** The object that a record is: undefined if it is on no board, or if the board or the card has been deleted. */
function describe(key: string, tx: CommittingTransaction): Described | undefined {
  const [kind, id, userId] = key.split(':') as [kind: ChangedKind, id: string, userId?: string]
  if (!kinds.has(kind)) return undefined
  const [old, now] = [tx.before<Place>(key), tx.known<Place>(key)]
  const value = now ?? old
  // It was absent, and is removed.
  if (value === undefined) return undefined
  const board_id = kind === 'board' ? id : (value.board_id ?? tx.known(keys.card(value.card_id!))?.board_id)
  if (board_id === undefined || tx.known(keys.board(board_id)) === undefined) return undefined
  if (kind === 'claim') return { board_id, done: describeClaim(id, tx) }
  const objectId = userId ?? id
  if (now === undefined) {
    const last = lastOf(shownOf(kind, old!, (file) => tx.before(file)))
    return { board_id, done: [{ kind, id: objectId, action: 'deleted', last }] }
  }
  if (old === undefined) return { board_id, done: [{ kind, id: objectId, action: 'created' }] }
  const { changed, from } = differenceOf(
    shownOf(kind, old, (file) => tx.before(file)),
    shownOf(kind, now, (file) => tx.known(file)),
  )
  return { board_id, done: [{ kind, id: objectId, action: 'updated', changed, from }] }
}

/** A record with what is shown of it and another record has: an attachment shows members of its file, if the file was read. */
function shownOf(kind: ChangedKind, record: Place, fileOf: (key: Key<FileRecord>) => FileRecord | undefined): object {
  if (kind !== 'attachment') return record
  const file = fileOf(keys.file((record as AttachmentRecord).file_id))
  return file === undefined ? record : toAttachment(record as AttachmentRecord, file)
}

/** What was done with a claim and with the work on its card. A renewal is nothing, and neither is the end of a claim that was lost. */
function describeClaim(id: string, tx: CommittingTransaction): readonly Done[] {
  const [old, now] = [tx.before(keys.claim(id)), tx.known(keys.claim(id))]
  if (now === undefined) return []
  const { epoch, expires_at, attempts, question_id } = now
  const claim = { kind: 'claim', id, epoch } as const
  const work = { kind: 'work', id } as const
  const isNew = expires_at !== null && epoch !== old?.epoch
  if (old === undefined) return isNew ? [{ ...claim, action: 'claimed' }] : []
  // Not by the time: the commit follows from the time when the claim was read.
  const isLost = now.lost_epoch === old.epoch && old.lost_epoch !== old.epoch
  // What a success forgets in the same commit was an attempt, too.
  const failed = attempts > old.attempts ? attempts : isLost && !old.was_moved ? old.attempts + 1 : undefined
  const isForgotten = (failed !== undefined || old.failed_at !== null) && now.failed_at === null && !hasSucceeded(id, tx)
  const done: readonly (Done | false)[] = [
    old.expires_at !== null && expires_at === null && !isLost && { ...claim, action: 'released' },
    failed !== undefined && { ...work, action: 'failed', attempts: failed, reason: failed === attempts ? now.reason : null },
    isStuck(now, attempts) && !isStuck(old, old.attempts) && { ...work, action: 'stuck' },
    question_id !== null && question_id !== old.question_id && { ...work, action: 'asked' },
    old.question_id !== null && now.answer_id !== old.answer_id && { ...work, action: 'answered' },
    isForgotten && { ...work, action: 'retried' },
    isNew && { ...claim, action: 'claimed' },
  ]
  return done.filter((one) => one !== false)
}

/** Whether a commit completes a card, or moves it to another column: both forget its attempts. */
function hasSucceeded(cardId: string, tx: CommittingTransaction): boolean {
  const [old, now] = [tx.before(keys.card(cardId)), tx.known(keys.card(cardId))]
  return now !== undefined && (now.column_id !== old?.column_id || (now.completed_at !== null && old.completed_at === null))
}
