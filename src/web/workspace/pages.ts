import type { Page } from '../page-context.ts'
import { workspaceAuditPage } from './audit.ts'
import { workspacePage, workspacesPage } from './page.ts'
import { revokeMemberTokenPage } from './revoke.ts'

/** The pages of owners and admins. */
export const workspacePages: readonly Page[] = [workspacesPage, workspacePage, revokeMemberTokenPage, workspaceAuditPage]
