import type { IssueRefused } from '../../auth/tokens/issue.ts'
import { limits } from '../../model/limits.ts'
import { errorPage, notFoundPage } from '../error-pages.ts'
import type { PageView } from '../page-context.ts'

/** What a person is told who has as many active tokens in a workspace as they can have. */
export const TOO_MANY = `You have ${limits.tokensPerPerson} active tokens in this workspace, and cannot have more. Revoke one that you do not need.`

/** What the number of the person's tokens, or the rules of the workspace do not allow: both may have changed in the meantime. */
export function refusedPage({ reason }: IssueRefused): PageView {
  if (reason === 'too_long')
    return errorPage(409, 'No token was created', 'The rules of the workspace allow only a shorter lifetime. Start again from the list.')
  if (reason === 'admin')
    return errorPage(409, 'No token was created', 'The rules of the workspace do not allow new tokens with kanban:admin.')
  if (reason === 'too_many') return errorPage(422, 'No token was created', TOO_MANY)
  return notFoundPage()
}
