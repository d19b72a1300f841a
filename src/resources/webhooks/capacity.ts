import { indexes } from '../../store/indexes.ts'
import { requireCapacity } from '../capacity.ts'
import type { OperationRequest } from '../operation.ts'

/**
 * Requires that the caller, and the workspace, may have one more webhook.
 * @throws {ApiError} `conflict`
 */
export async function requireFurtherCapacity({ tx, caller }: Pick<OperationRequest, 'tx' | 'caller'>): Promise<void> {
  const [ofPerson, all] = [indexes.webhooksOf(caller.userId), indexes.workspaceWebhooks()]
  await tx.prefetch({ counts: [ofPerson, all] })
  await requireCapacity(tx, ofPerson, 'webhooksPerPerson')
  await requireCapacity(tx, all, 'webhooksPerWorkspace')
}
