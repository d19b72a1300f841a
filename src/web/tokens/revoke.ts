import { endToken, findToken } from '../../auth/tokens/issue.ts'
import { transact } from '../../store/transact.ts'
import { notFoundPage } from '../error-pages.ts'
import { formPage } from '../form-page.ts'
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
    return formPage({
      title: 'Revoke token',
      heading: `Revoke ${token.name}?`,
      action: `/settings/tokens/${workspace.id}/${token.id}/revoke`,
      token: context.session.form_token,
      fields: html`<p>
        Everything that uses <code>${token.id}</code> in ${workspace.name} stops working immediately. This cannot be undone.
      </p>`,
      button: 'Revoke token',
      isDanger: true,
      cancel: '/settings/tokens',
    })
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
