import { limits } from '../../model/limits.ts'
import { isFollowing, RESTORED, type DeliveryRecord } from '../../model/webhook.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { restoredCursor } from '../changes/feed.ts'

/** The last attempts of a webhook, the newest first. */
export async function readDeliveries(tx: Transaction, webhookId: string): Promise<readonly DeliveryRecord[]> {
  return (await tx.get(keys.webhookDeliveries(webhookId)))?.deliveries ?? []
}

/** Adds an attempt to the attempts of a webhook. */
export async function addDelivery(tx: Transaction, webhookId: string, delivery: DeliveryRecord): Promise<void> {
  const deliveries = [delivery, ...(await readDeliveries(tx, webhookId))].slice(0, limits.deliveriesKept)
  tx.put(keys.webhookDeliveries(webhookId), { webhook_id: webhookId, deliveries })
}

/** Removes what belongs to a webhook: how far its deliveries are, and the last attempts. */
export async function removeDeliveries(tx: Transaction, webhookId: string): Promise<void> {
  const belonging = [keys.webhookProgress(webhookId), keys.webhookDeliveries(webhookId)]
  for (const [i, record] of (await tx.read(belonging)).entries()) if (record !== undefined) tx.remove(belonging[i]!)
}

/**
 * Brings a webhook to a storage that was restored: it can go on where it was, and does so when somebody enables it.
 * @returns whether it is disabled by that
 */
export async function restoreProgress(tx: Transaction, webhookId: string): Promise<boolean> {
  const key = keys.webhookProgress(webhookId)
  const progress = await tx.get(key)
  if (progress === undefined) return false
  const { board_id } = progress
  const cursor = await restoredCursor(tx, board_id, progress.cursor)
  const delivered_to = await restoredCursor(tx, board_id, progress.delivered_to)
  const isHeld = isFollowing(progress) || progress.restored === true
  tx.put(key, { ...progress, cursor, delivered_to, ...(isHeld && RESTORED) })
  return isHeld
}
