import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'

/** Removes what belongs to a webhook: how far its deliveries are, and the last attempts. */
export async function removeDeliveries(tx: Transaction, webhookId: string): Promise<void> {
  const belonging = [keys.webhookProgress(webhookId), keys.webhookDeliveries(webhookId)]
  for (const [i, record] of (await tx.read(belonging)).entries()) if (record !== undefined) tx.remove(belonging[i]!)
}
