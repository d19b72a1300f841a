import type { Confirmation, Session } from '../model/account.ts'
import { DAY } from '../model/time.ts'
import { StorageUnavailable } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import { issueToken, IssueRefused } from '../auth/tokens/issue.ts'
import { allowanceList } from './allowances.ts'
import { workspaceOf, type OwnWorkspace } from './memberships.ts'
import { html, moment, notice } from './html.ts'
import { passwordField, reauthenticate, renderPlaintext } from './re-authentication.ts'
import { notFoundPage, notIssuedPage, errorPage, sessionChangedPage } from './error-pages.ts'
import type { PageResponse, Page, PageView, SignedInContext } from './page-context.ts'

/** What the token will be able to do, before it is issued; and its issuance, once. */
export const confirmPage: Page = {
  path: '/settings/confirm/{id}',
  open: false,
  async get(visit) {
    const confirmation = findConfirmation(visit.session, visit.params['id']!)
    const workspace = confirmation && (await workspaceOf(visit.web, visit.session.user_id, confirmation.workspace_id))
    return workspace === undefined ? renderUsed() : renderConfirm(visit, confirmation!, workspace)
  },
  async post(visit) {
    const confirmation = findConfirmation(visit.session, visit.params['id']!)
    const workspace = confirmation && (await workspaceOf(visit.web, visit.session.user_id, confirmation.workspace_id))
    return workspace === undefined ? renderUsed() : create(visit, confirmation!, workspace)
  },
}

async function create(visit: SignedInContext, { id, ...chosen }: Confirmation, workspace: OwnWorkspace): Promise<PageResponse> {
  const { web, session } = visit
  // It is used up before anything is issued, and in the commit that finds it there: so never twice.
  const proved = await reauthenticate(
    visit,
    chosen.scopes,
    (present) => findConfirmation(present, id) && { ...present, confirmations: present.confirmations.filter((other) => other.id !== id) },
  )
  if (proved === 'gone') return sessionChangedPage()
  if (proved === 'refused') return renderUsed()
  if ('error' in proved) return renderConfirm(visit, { id, ...chosen }, workspace, proved)
  try {
    const { name, scopes, days, workspace_id } = chosen
    const request = { userId: session.user_id, name, scopes, lifetime: days * DAY }
    const issued = await transact(web.store, workspace_id, web.random, (tx) => issueToken(tx, request, web.clock, web.random))
    const { token } = issued
    web.log.info(
      { event: 'token.created', token_id: token.id, user_id: token.user_id, workspace_id, scopes, expires_at: token.expires_at },
      'token created',
    )
    return renderPlaintext(visit, issued, workspace, proved, false)
  } catch (error) {
    if (error instanceof StorageUnavailable) return { ...notIssuedPage(error), ...proved }
    if (error instanceof IssueRefused) return { ...notFoundPage(), ...proved }
    throw error
  }
}

function findConfirmation(session: Session, id: string): Confirmation | undefined {
  return session.confirmations.find((confirmation) => confirmation.id === id)
}

function renderConfirm(
  visit: SignedInContext,
  { id, name, scopes, days }: Confirmation,
  workspace: OwnWorkspace,
  { status, error, headers = {} }: { status: number; error?: string; headers?: Record<string, string> } = { status: 200 },
): PageView {
  const { web, session } = visit
  const body = html`
    <h1>Issue this token?</h1>
    ${error && notice('error', error)}
    <form method="post" action="/settings/confirm/${id}" class="card">
      <input type="hidden" name="form_token" value=${session.form_token} />
      <dl>
        <dt>Name</dt>
        <dd>${name}</dd>
        <dt>Workspace</dt>
        <dd>${workspace.name}</dd>
        <dt>Scope</dt>
        <dd><code>${scopes.join(' ')}</code></dd>
        <dt>Expires</dt>
        <dd>${moment(new Date(web.clock() + days * DAY).toISOString())}, after ${days} ${days === 1 ? 'day' : 'days'}</dd>
      </dl>
      <h2>What it will be able to do, as you</h2>
      ${allowanceList(web.engine, scopes)}
      <p class="hint">Never more than you could do yourself: what is in brackets is asked of you at each request.</p>
      ${passwordField(visit, scopes, error)}
      <p class="actions"><button class="primary">Issue it</button> <a class="button" href="/settings/tokens">Cancel</a></p>
    </form>
  `
  return { title: 'Confirm', body, status, headers }
}

function renderUsed(): PageView {
  return errorPage(
    410,
    'This was confirmed already, or is too old',
    'Nothing more was issued. A token is shown once: if it was not kept, rotate it.',
  )
}
