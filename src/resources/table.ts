import { accountOperations } from './account/operations.ts'
import { assigneeOperations } from './cards/assignees.ts'
import { attachmentOperations } from './attachments/operations.ts'
import { boardMemberOperations } from './board-members/operations.ts'
import { boardOperations } from './boards/operations.ts'
import { cardLabelOperations } from './cards/labels.ts'
import { cardListOperations } from './cards/list.ts'
import { cardOperations } from './cards/operations.ts'
import { columnOperations } from './columns/operations.ts'
import { commentOperations } from './comments/operations.ts'
import { coverOperations } from './cards/cover.ts'
import { fileOperations } from './files/operations.ts'
import { labelOperations } from './labels/operations.ts'
import { memberOperations } from './members/operations.ts'
import type { Operation } from './operation.ts'
import { subtaskOperations } from './subtasks/operations.ts'

/** The operations table. What is no row here does not exist. */
export const operations: readonly Operation[] = [
  ...accountOperations,
  ...memberOperations,
  ...boardOperations,
  ...boardMemberOperations,
  ...columnOperations,
  ...cardListOperations,
  ...cardOperations,
  ...labelOperations,
  ...assigneeOperations,
  ...cardLabelOperations,
  ...subtaskOperations,
  ...commentOperations,
  ...attachmentOperations,
  ...coverOperations,
  ...fileOperations,
]
