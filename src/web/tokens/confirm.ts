import { IssueRefused, issueToken } from '../../auth/tokens/issue.ts'
import type { Confirmation, Session } from '../../model/account.ts'
import { DAY } from '../../model/time.ts'
import { StorageUnavailable } from '../../store/port.ts'
import { transact } from '../../store/transact.ts'
import { allowanceList } from './allowances.ts'
import { errorPage, notIssuedPage, refusedPage, sessionChangedPage } from '../error-pages.ts'
import { formPage, type Refusal } from '../form-page.ts'
import { html } from '../html.ts'
import { renderTime } from '../times.ts'
import { workspaceOf, type MemberWorkspace } from '../memberships.ts'
import type { Page, PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { announce } from '../account/notices.ts'
import { passwordField, reauthenticate } from '../account/re-authentication.ts'
import { renderPlaintext } from './plaintext.ts'

/** Shows what a new token can do, and creates it after confirmation, once. */
export const confirmPage: Page = {
  path: '/settings/confirm/{id}',
  anonymous: false,
  async get(context) {
    const pending = await findPending(context)
    return pending === undefined ? renderUsed() : renderConfirm(context, pending)
  },
  async post(context) {
    const pending = await findPending(context)
    return pending === undefined ? renderUsed() : create(context, pending)
  },
}

/** A token that waits for confirmation, with its workspace. */
interface Pending {
  readonly confirmation: Confirmation
  readonly workspace: MemberWorkspace
}

async function findPending({ web, session, params }: SignedInContext): Promise<Pending | undefined> {
  const confirmation = findConfirmation(session, params['id']!)
  const workspace = confirmation && (await workspaceOf(web, session.user_id, confirmation.workspace_id))
  return workspace && { confirmation: confirmation!, workspace }
}

function findConfirmation(session: Session, id: string): Confirmation | undefined {
  return session.confirmations.find((confirmation) => confirmation.id === id)
}

function removeConfirmation(session: Session, id: string): Session | undefined {
  if (findConfirmation(session, id) === undefined) return undefined
  return { ...session, confirmations: session.confirmations.filter((confirmation) => confirmation.id !== id) }
}

async function create(context: SignedInContext, pending: Pending): Promise<PageResponse> {
  const { web, session } = context
  const { id, name, scopes, days, workspace_id } = pending.confirmation
  // The commit that finds the confirmation also removes it, before a token is issued: it never issues two tokens.
  const result = await reauthenticate(context, scopes, (stored) => removeConfirmation(stored, id))
  if (result === 'no_session') return sessionChangedPage()
  if (result === 'refused') return renderUsed()
  if ('error' in result) return renderConfirm(context, pending, result)
  try {
    const request = { userId: session.user_id, name, scopes, lifetime: days * DAY }
    const issued = await transact(web.store, workspace_id, web.random, (tx) => issueToken(tx, request, web.clock, web.random))
    const { token } = issued
    web.log.info(
      { event: 'token.created', token_id: token.id, user_id: token.user_id, workspace_id, scopes, expires_at: token.expires_at },
      'token created',
    )
    await announce(context, 'token_created', token.name)
    const page = renderPlaintext(context, issued, pending.workspace, result, false)
    return { ...page, audit: { operation: 'web.tokens.create', workspaceId: workspace_id, ids: [token.id] } }
  } catch (error) {
    // The session may have been renewed, so every response carries it.
    if (error instanceof StorageUnavailable) return { ...notIssuedPage(error), ...result }
    if (error instanceof IssueRefused) return { ...refusedPage(error), ...result }
    throw error
  }
}

function renderConfirm(
  context: SignedInContext,
  { confirmation: { id, name, scopes, days }, workspace }: Pending,
  refusal: Refusal = {},
): PageView {
  const { web, session } = context
  return formPage(
    {
      title: 'Create token',
      heading: 'Create this token?',
      action: `/settings/confirm/${id}`,
      token: session.form_token,
      fields: html`<dl>
          <dt>Name</dt>
          <dd>${name}</dd>
          <dt>Workspace</dt>
          <dd>${workspace.name}</dd>
          <dt>Scope</dt>
          <dd><code>${scopes.join(' ')}</code></dd>
          <dt>Expires</dt>
          <dd>${renderTime(new Date(web.clock() + days * DAY).toISOString())}, after ${days} ${days === 1 ? 'day' : 'days'}</dd>
        </dl>
        <h2>What the token can do on your behalf</h2>
        ${allowanceList(web.services().engine, scopes, web.hasPolicyPage)}
        <p class="hint">It can never do more than you can. The condition in brackets is checked at every request.</p>
        ${passwordField(context, scopes, refusal.error)}`,
      button: 'Create token',
      cancel: '/settings/tokens',
    },
    refusal,
  )
}

function renderUsed(): PageView {
  return errorPage(
    410,
    'This page has been used or has expired',
    'No further token was created. A token is shown only once: if you did not store it, rotate it in the list.',
  )
}
