import type { IssueRefused } from '../../auth/tokens/issue.ts'
import { errorPage, notFoundPage } from '../error-pages.ts'
import type { PageView } from '../page-context.ts'

/** What the rules of the workspace, which an owner or admin may have changed in the meantime, do not allow. */
export function refusedPage({ reason }: IssueRefused): PageView {
  if (reason === 'too_long')
    return errorPage(409, 'No token was created', 'The rules of the workspace allow only a shorter lifetime. Start again from the list.')
  if (reason === 'admin')
    return errorPage(409, 'No token was created', 'The rules of the workspace do not allow new tokens with kanban:admin.')
  return notFoundPage()
}
