import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Notice } from '../../model/second-factor.ts'
import { timestamp } from '../../model/time.ts'
import { keys } from '../../store/keys.ts'
import type { Deps } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'

/** Stores that something happened to an account. The oldest notices are dropped if there are too many. */
export async function addNotice(
  tx: Transaction,
  userId: string,
  members: Omit<Notice, 'id' | 'at'>,
  { clock, random }: Deps,
): Promise<Notice> {
  const notice: Notice = { id: newId('notice', random), at: timestamp(clock), ...members }
  const stored = await tx.get(keys.notices(userId))
  const notices = [...(stored?.notices ?? []), notice].slice(-limits.noticesPerPerson)
  tx.put(keys.notices(userId), { user_id: userId, notices })
  return notice
}

/** Dismisses notices of a person. @param ids those that they have seen */
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
