import { endToken, findToken } from '../../auth/tokens/issue.ts'
import { stateOf } from '../../auth/tokens/lifecycle.ts'
import { isId } from '../../model/ids.ts'
import type { TokenRecord } from '../../model/token.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { errorPage, notFoundPage } from '../error-pages.ts'
import { renderHeldCards } from '../tokens/held-cards.ts'
import { logRevoked, revokeForm } from '../tokens/revoke.ts'
import type { Page } from '../page-context.ts'
import { tellingAddress } from '../told.ts'
import { ifAllowed } from './permission.ts'

/** Revokes a token of a member, after a confirmation. */
export const revokeMemberTokenPage: Page = {
  path: '/settings/workspace/{workspace}/tokens/{token}/revoke',
  endsAccess: true,
  async get(context) {
    const { web, params } = context
    const decided = await ifAllowed(context, 'workspace.revoke_token', async (tx, workspace) => ({
      workspace,
      found: await findWithHolder(tx, params['token']!),
    }))
    if ('page' in decided) return decided.page
    const { workspace, found } = decided.result
    if (found === undefined) return notFoundPage()
    if (stateOf(found.token, web.clock()) !== 'active')
      return errorPage(409, 'This token is no longer active', 'It was rotated or revoked, or it has expired.')
    return revokeForm(context, found.token, {
      workspace: workspace.name,
      holder: found.holder,
      held: await renderHeldCards(context, workspace.id, found.token.id),
      cancel: `/settings/workspace/${workspace.id}`,
    })
  },
  async post(context) {
    const { web, session, params } = context
    const decided = await ifAllowed(context, 'workspace.revoke_token', async (tx) => {
      const found = await findWithHolder(tx, params['token']!)
      if (found === undefined) return undefined
      const by = found.token.user_id === session.user_id ? undefined : session.user_id
      return { ...found, isChanged: endToken(tx, found.token, web.clock, by) !== found.token }
    })
    if ('page' in decided) return decided.page
    if (decided.result === undefined) return notFoundPage()
    const { token, isChanged } = decided.result
    const workspaceId = params['workspace']!
    const redirect = tellingAddress(context, `/settings/workspace/${workspaceId}`, { revoked: '' })
    if (!isChanged) return { redirect, audit: false }
    logRevoked(web, workspaceId, token, session.user_id)
    return {
      redirect,
      audit: { operation: 'web.workspace.revoke_token', workspaceId, ids: [token.id], rows: [decided.row], subjectId: token.user_id },
    }
  },
}

/** A token, and the name of its user. */
async function findWithHolder(
  tx: Transaction,
  tokenId: string,
): Promise<{ readonly token: TokenRecord; readonly holder: string } | undefined> {
  const token = isId('token', tokenId) ? await findToken(tx, tokenId) : undefined
  const holder = token && (await tx.get(keys.membership(token.user_id)))
  return token && { token, holder: holder?.display_name ?? token.user_id }
}
