import { accessOperations } from './access/operations.ts'
import { accountOperations } from './account/operations.ts'
import { attachmentOperations } from './attachments/operations.ts'
import { batchOperation } from './batch/operations.ts'
import { boardMemberOperations } from './board-members/operations.ts'
import { boardOperations } from './boards/operations.ts'
import { cardOperations } from './cards/operations.ts'
import { blockerOperations } from './cards/blockers.ts'
import { cardRelationOperations } from './cards/relations.ts'
import { changeOperations } from './changes/operations.ts'
import { claimOperations } from './claims/operations.ts'
import { outcomeOperations } from './claims/outcomes.ts'
import { columnOperations } from './columns/operations.ts'
import { commentOperations } from './comments/operations.ts'
import { fileOperations } from './files/operations.ts'
import { labelOperations } from './labels/operations.ts'
import { memberOperations } from './members/operations.ts'
import { noticeOperations } from './notices/operations.ts'
import type { Operation } from './operation.ts'
import { webhookOperations } from './webhooks/operations.ts'
import { subtaskOperations } from './subtasks/operations.ts'

const rows: readonly Operation[] = [
  ...accountOperations,
  ...accessOperations,
  ...memberOperations,
  ...noticeOperations,
  ...boardOperations,
  ...boardMemberOperations,
  ...changeOperations,
  ...columnOperations,
  ...cardOperations,
  ...cardRelationOperations,
  ...blockerOperations,
  ...claimOperations,
  ...outcomeOperations,
  ...labelOperations,
  ...subtaskOperations,
  ...commentOperations,
  ...attachmentOperations,
  ...fileOperations,
  ...webhookOperations,
]

/** The operations table. An operation that is not listed here does not exist. */
export const operations: readonly Operation[] = [...rows, batchOperation(rows)]
