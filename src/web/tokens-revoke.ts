import { transact } from '../store/transact.ts'
import { endToken, findToken } from '../auth/tokens/issue.ts'
import { tokenOf } from './memberships.ts'
import { html } from './html.ts'
import { notFoundPage } from './error-pages.ts'
import type { Page } from './page-context.ts'

/** Ending a token for good. */
export const revokePage: Page = {
  path: '/settings/tokens/{workspace}/{token}/revoke',
  open: false,
  async get({ web, session, params }) {
    const found = await tokenOf(web, session.user_id, params['workspace']!, params['token']!)
    if (found === undefined) return notFoundPage()
    const { workspace, token } = found
    const body = html`
      <h1>Revoke ${token.name}?</h1>
      <form method="post" action="/settings/tokens/${workspace.id}/${token.id}/revoke" class="card">
        <input type="hidden" name="form_token" value=${session.form_token} />
        <p>Whatever uses <code>${token.id}</code> in ${workspace.name} stops working with its very next request. This cannot be undone.</p>
        <p class="actions"><button class="primary danger">Revoke it</button> <a class="button" href="/settings/tokens">Cancel</a></p>
      </form>
    `
    return { title: 'Revoke', body }
  },
  async post({ web, session, params }) {
    const found = await tokenOf(web, session.user_id, params['workspace']!, params['token']!)
    if (found === undefined) return notFoundPage()
    const { workspace, token } = found
    const ended = await transact(web.store, workspace.id, web.random, async (tx) => {
      const present = await findToken(tx, token.id)
      return present !== undefined && endToken(tx, present, 'revoke', web.clock) !== present
    })
    const event = { event: 'token.revoked', token_id: token.id, user_id: session.user_id, workspace_id: workspace.id, by: 'owner' }
    if (ended) web.log.info(event, 'token revoked')
    return { redirect: '/settings/tokens?revoked' }
  },
}
