import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'

/** Removes what belongs to a webhook: how far its deliveries are, and the last attempts. */
export async function removeDeliveries(tx: Transaction, webhookId: string): Promise<void> {
  if ((await tx.get(keys.webhookDeliveries(webhookId))) !== undefined) tx.remove(keys.webhookDeliveries(webhookId))
  tx.remove(keys.webhookProgress(webhookId))
}
