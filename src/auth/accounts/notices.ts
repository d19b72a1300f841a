import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Notice, NoticeKind } from '../../model/second-factor.ts'
import { timestamp } from '../../model/time.ts'
import { keys } from '../../store/keys.ts'
import type { Deps } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'

/** The kinds of notices that do not concern who can use an account. All others are about its security. */
const ABOUT_WORK: ReadonlySet<NoticeKind> = new Set(['webhook_disabled'])

/** Whether a notice is about who can use an account. Nothing else may push it out, or use up its mails. */
export function isOfSecurity({ kind }: Pick<Notice, 'kind'>): boolean {
  return !ABOUT_WORK.has(kind)
}

/** The subject of a notice: the webhook, the browser that signed in, the token or the passkey; otherwise the account. */
export function thingOf({ kind, name, agent, address }: Pick<Notice, 'kind' | 'name' | 'agent' | 'address'>): string {
  if (kind === 'webhook_disabled') return address
  return kind === 'new_sign_in' ? `${agent} ${address}` : (name ?? '')
}

/**
 * Stores that something happened to an account. The oldest of each kind are dropped if there are too many, so no kind pushes out another
 * one. What happens to the same thing again is one notice, unless it is about security.
 */
export async function addNotice(
  tx: Transaction,
  userId: string,
  members: Omit<Notice, 'id' | 'at'>,
  { clock, random }: Deps,
): Promise<Notice> {
  const notice: Notice = { id: newId('notice', random), at: timestamp(clock), ...members }
  const stored = (await tx.get(keys.notices(userId)))?.notices ?? []
  const isSame = (one: Notice) => one.kind === notice.kind && !isOfSecurity(notice) && thingOf(one) === thingOf(notice)
  const others = stored.filter((one) => !isSame(one))
  const ofKind = others.filter(({ kind }) => kind === notice.kind)
  const excess = new Set(ofKind.slice(0, Math.max(0, ofKind.length + 1 - limits.noticesOfKind)))
  const notices = [...others.filter((one) => !excess.has(one)), notice]
  tx.put(keys.notices(userId), { user_id: userId, notices })
  return notice
}

/**
 * Dismisses notices of a person.
 * @param ids those that they have seen
 */
export async function dismissNotices(tx: Transaction, userId: string, ids: ReadonlySet<string>): Promise<void> {
  const stored = await tx.get(keys.notices(userId))
  const notices = stored?.notices.filter(({ id }) => !ids.has(id)) ?? []
  if (stored === undefined || notices.length === stored.notices.length) return
  if (notices.length === 0) tx.remove(keys.notices(userId))
  else tx.put(keys.notices(userId), { user_id: userId, notices })
}

/** Removes all notices of a person. */
export async function removeNotices(tx: Transaction, userId: string): Promise<void> {
  if ((await tx.get(keys.notices(userId))) !== undefined) tx.remove(keys.notices(userId))
}
