import type { Confirmation, Session } from '../model/account.ts'
import { DAY } from '../model/time.ts'
import { Unavailable } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import { issueToken, NotIssued } from '../auth/tokens/issue.ts'
import { allowanceList } from './allowances.ts'
import { workspaceOf, type OwnWorkspace } from './memberships.ts'
import { html, moment, notice } from './html.ts'
import { passwordField, prove, showPlaintext } from './re-authentication.ts'
import { notFound, notIssued, problem, signedInAgain } from './error-pages.ts'
import type { Answer, Page, Shown, SignedInVisit } from './page-context.ts'

/** What the token will be able to do, before it is issued; and its issuance, once. */
export const confirmPage: Page = {
  path: '/settings/confirm/{id}',
  open: false,
  async get(visit) {
    const confirmation = waiting(visit.session, visit.params['id']!)
    const workspace = confirmation && (await workspaceOf(visit.web, visit.session.user_id, confirmation.workspace_id))
    return workspace === undefined ? used() : show(visit, confirmation!, workspace)
  },
  async post(visit) {
    const confirmation = waiting(visit.session, visit.params['id']!)
    const workspace = confirmation && (await workspaceOf(visit.web, visit.session.user_id, confirmation.workspace_id))
    return workspace === undefined ? used() : create(visit, confirmation!, workspace)
  },
}

async function create(visit: SignedInVisit, { id, ...chosen }: Confirmation, workspace: OwnWorkspace): Promise<Answer> {
  const { web, session } = visit
  // It is used up before anything is issued, and in the commit that finds it there: so never twice.
  const proved = await prove(
    visit,
    chosen.scopes,
    (present) => waiting(present, id) && { ...present, confirmations: present.confirmations.filter((other) => other.id !== id) },
  )
  if (proved === 'gone') return signedInAgain()
  if (proved === 'refused') return used()
  if ('error' in proved) return show(visit, { id, ...chosen }, workspace, proved)
  try {
    const { name, scopes, days, workspace_id } = chosen
    const request = { userId: session.user_id, name, scopes, lifetime: days * DAY }
    const issued = await transact(web.store, workspace_id, web.random, (tx) => issueToken(tx, request, web.clock, web.random))
    const { token } = issued
    web.log.info(
      { event: 'token.created', token_id: token.id, user_id: token.user_id, workspace_id, scopes, expires_at: token.expires_at },
      'token created',
    )
    return showPlaintext(visit, issued, workspace, proved, false)
  } catch (error) {
    if (error instanceof Unavailable) return { ...notIssued(error), ...proved }
    if (error instanceof NotIssued) return { ...notFound(), ...proved }
    throw error
  }
}

function waiting(session: Session, id: string): Confirmation | undefined {
  return session.confirmations.find((confirmation) => confirmation.id === id)
}

function show(
  visit: SignedInVisit,
  { id, name, scopes, days }: Confirmation,
  workspace: OwnWorkspace,
  { status, error, headers = {} }: { status: number; error?: string; headers?: Record<string, string> } = { status: 200 },
): Shown {
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

function used(): Shown {
  return problem(
    410,
    'This was confirmed already, or is too old',
    'Nothing more was issued. A token is shown once: if it was not kept, rotate it.',
  )
}
