import { tokenDays } from '../model/account.ts'
import { DAY } from '../model/time.ts'
import { StorageUnavailable } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import type { TokenRecord } from '../model/token.ts'
import { IssueRefused, rotateToken } from '../auth/tokens/issue.ts'
import { expiryOf, stateOf } from '../auth/tokens/lifecycle.ts'
import { allowanceList } from './allowances.ts'
import { tokenOf, type OwnWorkspace } from './memberships.ts'
import { field, html, notice } from './html.ts'
import { passwordField, reauthenticate, renderPlaintext, type Reauthenticated } from './re-authentication.ts'
import { notFoundPage, notIssuedPage, errorPage, sessionChangedPage } from './error-pages.ts'
import type { PageResponse, Page, PageView, SignedInContext } from './page-context.ts'

/** Putting a new token in the place of one, at one stroke. */
export const rotatePage: Page = {
  path: '/settings/tokens/{workspace}/{token}/rotate',
  open: false,
  async get(visit) {
    const found = await find(visit)
    return found === undefined
      ? notFoundPage()
      : stateOf(found.token, visit.web.clock()) === 'active'
        ? renderRotate(visit, found)
        : renderNotActive()
  },
  async post(visit) {
    const found = await find(visit)
    if (found === undefined) return notFoundPage()
    if (stateOf(found.token, visit.web.clock()) !== 'active') return renderNotActive()
    const days = tokenDays.safeParse(visit.form.get('days') ?? '')
    if (!days.success) return renderRotate(visit, found, { status: 422, daysError: days.error.issues[0]!.message })
    const proved = await reauthenticate(visit, found.token.scopes)
    if (proved === 'gone' || proved === 'refused') return sessionChangedPage()
    if ('error' in proved) return renderRotate(visit, found, proved)
    return rotate(visit, found, days.data * DAY, proved)
  },
}

interface Found {
  readonly workspace: OwnWorkspace
  readonly token: TokenRecord
}

function find({ web, session, params }: SignedInContext): Promise<Found | undefined> {
  return tokenOf(web, session.user_id, params['workspace']!, params['token']!)
}

async function rotate(
  visit: SignedInContext,
  { workspace, token: old }: Found,
  lifetime: number,
  proved: Reauthenticated,
): Promise<PageResponse> {
  const { web, session } = visit
  try {
    const request = { userId: session.user_id, tokenId: old.id, lifetime }
    const rotated = await transact(web.store, workspace.id, web.random, (tx) => rotateToken(tx, request, web.clock, web.random))
    const { id, user_id, scopes, expires_at } = rotated.token
    web.log.info(
      { event: 'token.rotated', token_id: id, replaced: old.id, user_id, workspace_id: workspace.id, scopes, expires_at },
      'token rotated',
    )
    return renderPlaintext(visit, rotated, workspace, proved, true)
  } catch (error) {
    if (error instanceof StorageUnavailable) return { ...notIssuedPage(error), ...proved }
    if (!(error instanceof IssueRefused)) throw error
    return { ...(error.because === 'not_active' ? renderNotActive() : notFoundPage()), ...proved }
  }
}

function renderRotate(
  visit: SignedInContext,
  { workspace, token }: Found,
  {
    status = 200,
    error,
    daysError,
    headers = {},
  }: { status?: number; error?: string; daysError?: string; headers?: Record<string, string> } = {},
): PageView {
  const before = Math.round((expiryOf(token) - Date.parse(token.issued_at)) / DAY)
  const body = html`
    <h1>Rotate ${token.name}?</h1>
    ${error && notice('error', error)}
    <form method="post" action="/settings/tokens/${workspace.id}/${token.id}/rotate" class="card">
      <input type="hidden" name="form_token" value=${visit.session.form_token} />
      <p>You get a new token with the same name and scope. The present one, <code>${token.id}</code>, stops working at the same moment.</p>
      <h2>What it will be able to do in ${workspace.name}, as you</h2>
      ${allowanceList(visit.web.engine, token.scopes)}
      ${field({ name: 'days', label: 'Lifetime in days', hint: '1 to 90, from now on.', error: daysError, type: 'number', min: 1, max: 90, required: true, value: visit.form.get('days') ?? String(Math.max(1, before)) })}
      ${passwordField(visit, token.scopes, error)}
      <p class="actions"><button class="primary">Rotate it</button> <a class="button" href="/settings/tokens">Cancel</a></p>
    </form>
  `
  return { title: 'Rotate', body, status, headers }
}

function renderNotActive(): PageView {
  return errorPage(
    409,
    'This token is not active any more',
    'It was rotated, was revoked or has expired. If you pressed twice, the new token is in the list: rotate that one, to see it. If it was not you, revoke it.',
  )
}
