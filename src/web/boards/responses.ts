import { ApiError } from '../../model/errors.ts'
import { isAnyId } from '../../model/ids.ts'
import type { PageAudit } from '../activity/page-audit.ts'
import { errorPage, notFoundPage } from '../error-pages.ts'
import { workspaceOf } from '../memberships.ts'
import type { PageResponse, SignedInContext } from '../page-context.ts'

/** The script of the boards, besides that of every page. */
export const BOARD_SCRIPTS: readonly string[] = ['/settings/assets/boards.js']

/**
 * Makes the response of a page. What the person has no access to is answered like what does not exist, as below /v1.
 * @param operation what the page is about, for the audit trail
 */
export async function ifFound(context: SignedInContext, operation: string, respond: () => Promise<PageResponse>): Promise<PageResponse> {
  try {
    return await respond()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'not_found') return { ...notFoundPage(), audit: await auditOf(context, operation) }
    if (error.code === 'forbidden')
      return { ...errorPage(403, 'You may not see this', error.message), audit: await auditOf(context, operation) }
    if (error.code === 'validation_failed')
      return errorPage(422, 'This link is not complete', 'Open the board again, and go on from there.')
    throw error
  }
}

/** The entry of a denial. The trail of a workspace has only what its members did; the address can name any other one, and anything as an id. */
async function auditOf({ web, session, params }: SignedInContext, operation: string): Promise<PageAudit> {
  const { workspace = '', ...others } = params
  const member = await workspaceOf(web, session.user_id, workspace)
  return { operation: `web.${operation}`, workspaceId: member?.id, ids: Object.values(others).filter(isAnyId) }
}
