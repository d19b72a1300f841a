import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Alert } from '../../model/second-factor.ts'
import { timestamp } from '../../model/time.ts'
import { keys } from '../../store/keys.ts'
import type { Deps } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'

/** The subject of an alert: the browser that signed in, the token or the passkey; otherwise the account. */
export function thingOf({ kind, name, agent, address }: Pick<Alert, 'kind' | 'name' | 'agent' | 'address'>): string {
  return kind === 'new_sign_in' ? `${agent} ${address}` : (name ?? '')
}

/** Stores that something happened to an account. The oldest of each kind are dropped if there are too many, so no kind pushes out another one. */
export async function addAlert(
  tx: Transaction,
  userId: string,
  members: Omit<Alert, 'id' | 'at'>,
  { clock, random }: Deps,
): Promise<Alert> {
  const alert: Alert = { id: newId('alert', random), at: timestamp(clock), ...members }
  const stored = (await tx.get(keys.alerts(userId)))?.alerts ?? []
  const ofKind = stored.filter(({ kind }) => kind === alert.kind)
  const excess = new Set(ofKind.slice(0, Math.max(0, ofKind.length + 1 - limits.alertsOfKind)))
  const alerts = [...stored.filter((one) => !excess.has(one)), alert]
  tx.put(keys.alerts(userId), { user_id: userId, alerts })
  return alert
}

/**
 * Dismisses alerts of a person.
 * @param ids those that they have seen
 */
export async function dismissAlerts(tx: Transaction, userId: string, ids: ReadonlySet<string>): Promise<void> {
  const stored = await tx.get(keys.alerts(userId))
  const alerts = stored?.alerts.filter(({ id }) => !ids.has(id)) ?? []
  if (stored === undefined || alerts.length === stored.alerts.length) return
  if (alerts.length === 0) tx.remove(keys.alerts(userId))
  else tx.put(keys.alerts(userId), { user_id: userId, alerts })
}

/** Removes all alerts of a person. */
export async function removeAlerts(tx: Transaction, userId: string): Promise<void> {
  if ((await tx.get(keys.alerts(userId))) !== undefined) tx.remove(keys.alerts(userId))
}
