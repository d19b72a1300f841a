import { accountOperations } from './account.ts'
import { assigneeOperations } from './assignees.ts'
import { attachmentOperations } from './attachments.ts'
import { boardMemberOperations } from './board-members.ts'
import { boardOperations } from './boards.ts'
import { cardLabelOperations } from './card-labels.ts'
import { cardListOperations } from './card-list.ts'
import { cardOperations } from './cards.ts'
import { columnOperations } from './columns.ts'
import { commentOperations } from './comments.ts'
import { coverOperations } from './covers.ts'
import { fileOperations } from './files.ts'
import { labelOperations } from './labels.ts'
import { memberOperations } from './members.ts'
import type { Operation } from './operation.ts'
import { subtaskOperations } from './subtasks.ts'

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
