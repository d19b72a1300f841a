import { membershipOf } from '../../model/workspace.ts'
import { mailAfter } from '../../model/notice-mail.ts'
import { timestamp } from '../../model/time.ts'
import type { CommittingTransaction, Derivation, Notifying } from '../../store/derivation.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { DailyTombstones } from '../daily-tombstones.ts'
import { causesOf, type Cause } from './causes.ts'
import { recipientsOf } from './recipients.ts'

/**
 * Creates the derivation of the notices: what people have to know of what a commit does (kinds.ts). They are a part of the commit, so none
 * is lost or repeated. Each is a record of its own at the end of the notices of its person, so commits about different things do not
 * conflict. Nobody gets one of a board that they may not read then.
 */
export function createNotices(): Derivation {
  const tombstones = new DailyTombstones('notices')
  return (tx, written) => {
    if (tx.logged === undefined || tx.notifying === undefined) return undefined
    const { byTime } = tx.notifying
    let causes = byTime.length > 0 ? [...(byTime as readonly Cause[])] : undefined
    for (const key of written) {
      const found = causesOf(key, tx, tx.logged.author)
      if (found.length > 0) (causes ??= []).push(...found)
    }
    return causes && notify(tx, causes, tx.notifying, tx.logged.clock(), tombstones)
  }
}

/** Adds the notices of some causes to a transaction. */
async function notify(
  tx: CommittingTransaction,
  causes: readonly Cause[],
  notifying: Notifying,
  now: number,
  tombstones: DailyTombstones,
): Promise<void> {
  notifying.notices = 0
  for (const cause of causes) {
    if (cause.due !== undefined && !(await isTold(tx, cause.due))) continue
    const { board_id, card_id, comment_id, more } = cause
    const by = { actor_id: cause.by.actor_id, token_name: cause.by.token_name ?? null }
    for (const [membership, kind] of await recipientsOf(tx, cause, notifying)) {
      const userId = membership.user_id
      const about = { kind, at: timestamp(() => now), read_at: null, ...membershipOf(membership), board_id, card_id, comment_id }
      tx.append(indexes.notices(userId), { ...about, ...by, ...more })
      tombstones.schedule(tx, userId, now)
      const mail = mailAfter(userId, now)
      tx.putUnread(keys.noticeMail(mail.id), mail)
      notifying.notices++
    }
  }
}

/** Whether time has told of cards that are due later. The commit relies on that, so each card is told once. */
async function isTold(tx: CommittingTransaction, entry: string): Promise<boolean> {
  await tx.read([keys.toldByTime()])
  const due = tx.known(keys.toldByTime())?.due
  return due != null && entry <= due
}
