import { issueToken } from '../../auth/tokens/issue.ts'
import { DAY } from '../../model/time.ts'
import { allowanceList } from './allowances.ts'
import { errorPage } from '../error-pages.ts'
import { html } from '../html.ts'
import { renderTime } from '../times.ts'
import { workspaceOf } from '../memberships.ts'
import type { Page, PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { withProof } from '../account/re-authentication.ts'
import { showIssued } from './plaintext.ts'

/** Shows what a new token can do, and creates it after confirmation, once. */
export const confirmPage: Page = { path: '/settings/confirm/{id}', get: confirm, post: confirm }

async function confirm(context: SignedInContext): Promise<PageResponse> {
  const { web, session } = context
  const confirmation = session.confirmations.find(({ id }) => id === context.params['id'])
  const workspace = confirmation && (await workspaceOf(web, session.user_id, confirmation.workspace_id))
  if (confirmation === undefined || workspace === undefined) return renderUsed()
  const { id, name, scopes, days } = confirmation
  const form = {
    title: 'Create token',
    heading: 'Create this token?',
    scopes,
    fields: html`<dl>
        <dt>Name</dt>
        <dd><bdi>${name}</bdi></dd>
        <dt>Workspace</dt>
        <dd><bdi>${workspace.name}</bdi></dd>
        <dt>Scope</dt>
        <dd><code>${scopes.join(' ')}</code></dd>
        <dt>Expires</dt>
        <dd>${renderTime(new Date(web.clock() + days * DAY).toISOString())}, after ${days} ${days === 1 ? 'day' : 'days'}</dd>
      </dl>
      <h2>What the token can do on your behalf</h2>
      ${allowanceList(web.services().engine, scopes, web.hasPolicyPage)}
      <p class="hint">It can never do more than you can. The condition in brackets is checked at every request.</p>`,
    button: 'Create token',
    cancel: '/settings/tokens',
  }
  const request = { userId: session.user_id, name, scopes, lifetime: days * DAY }
  return withProof(
    context,
    form,
    (proved) => showIssued(proved, workspace, (tx) => issueToken(tx, request, web)),
    // The commit that finds the confirmation also removes it, before a token is issued: it never issues two tokens.
    ({ confirmations, ...stored }) => {
      const others = confirmations.filter((one) => one.id !== id)
      return others.length === confirmations.length ? renderUsed() : { ...stored, confirmations: others }
    },
  )
}

function renderUsed(): PageView {
  return errorPage(
    410,
    'This page has been used or has expired',
    'No further token was created. A token is shown only once: if you did not store it, rotate it in the list.',
  )
}
