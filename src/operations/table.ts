import { accountOperations } from './account.ts'
import { boardMemberOperations } from './board-members.ts'
import { boardOperations } from './boards.ts'
import { memberOperations } from './members.ts'
import type { Operation } from './operation.ts'

/** The operations table. What is no row here does not exist. */
export const operations: readonly Operation[] = [...accountOperations, ...memberOperations, ...boardOperations, ...boardMemberOperations]
