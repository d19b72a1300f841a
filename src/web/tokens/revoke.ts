import { endToken, findToken } from '../../auth/tokens/issue.ts'
import { transact } from '../../store/transact.ts'
import { notFoundPage } from '../error-pages.ts'
import { html } from '../html.ts'
import { findMemberToken } from '../memberships.ts'
import type { Page } from '../page-context.ts'

/** Revokes a token. */
export const revokePage: Page = {
  path: '/settings/tokens/{workspace}/{token}/revoke',
  anonymous: false,
  async get(context) {
    const memberToken = await findMemberToken(context)
    if (memberToken === undefined) return notFoundPage()
    const { workspace, token } = memberToken
    const body = html`
      <h1>Revoke ${token.name}?</h1>
      <form method="post" action="/settings/tokens/${workspace.id}/${token.id}/revoke" class="card">
        <input type="hidden" name="form_token" value=${context.session.form_token} />
        <p>Everything that uses <code>${token.id}</code> in ${workspace.name} stops working immediately. This cannot be undone.</p>
        <p class="actions"><button class="primary danger">Revoke token</button> <a class="button" href="/settings/tokens">Cancel</a></p>
      </form>
    `
    return { title: 'Revoke token', body }
  },
  async post(context) {
    const memberToken = await findMemberToken(context)
    if (memberToken === undefined) return notFoundPage()
    const { workspace, token } = memberToken
    const { web, session } = context
    const ended = await transact(web.store, workspace.id, web.random, async (tx) => {
      const stored = await findToken(tx, token.id)
      return stored !== undefined && endToken(tx, stored, 'revoke', web.clock) !== stored
    })
    const event = { event: 'token.revoked', token_id: token.id, user_id: session.user_id, workspace_id: workspace.id, by: 'owner' }
    if (!ended) return { redirect: '/settings/tokens?revoked', audit: false }
    web.log.info(event, 'token revoked')
    return { redirect: '/settings/tokens?revoked' }
  },
}
