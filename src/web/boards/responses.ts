import { ApiError } from '../../model/errors.ts'
import { errorPage, notFoundPage } from '../error-pages.ts'
import type { PageResponse, SignedInContext } from '../page-context.ts'

/** The script of the boards, besides that of every page. */
export const BOARD_SCRIPTS: readonly string[] = ['/settings/assets/boards.js']

/**
 * Makes the response of a page. What the person has no access to is answered like what does not exist, as below /v1.
 * @param operation what the page is about, for the audit trail
 */
export async function ifFound({ params }: SignedInContext, operation: string, respond: () => Promise<PageResponse>): Promise<PageResponse> {
  try {
    return await respond()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { workspace: workspaceId, ...others } = params
    const audit = { operation: `web.${operation}`, workspaceId, ids: Object.values(others) }
    if (error.code === 'not_found') return { ...notFoundPage(), audit }
    if (error.code === 'forbidden') return { ...errorPage(403, 'You may not see this', error.message), audit }
    if (error.code === 'validation_failed')
      return errorPage(422, 'This link is not complete', 'Open the board again, and go on from there.')
    throw error
  }
}
