import { IssueRefused, rotateToken } from '../../auth/tokens/issue.ts'
import { expiryOf, stateOf } from '../../auth/tokens/lifecycle.ts'
import { MAX_TOKEN_DAYS, tokenDays } from '../../model/account.ts'
import { DAY } from '../../model/time.ts'
import { StorageUnavailable } from '../../store/port.ts'
import { transact } from '../../store/transact.ts'
import { allowanceList } from './allowances.ts'
import { errorPage, notFoundPage, notIssuedPage, refusedPage } from '../error-pages.ts'
import { formPage, type Refusal } from '../form-page.ts'
import { html } from '../html.ts'
import { findMemberToken, type MemberToken } from '../memberships.ts'
import type { Page, PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { brokenRules, rulesOf } from '../workspace/rules.ts'
import { announce } from '../account/notices.ts'
import { passwordField, withProof, type Reauthenticated } from '../account/re-authentication.ts'
import { renderPlaintext } from './plaintext.ts'
import { daysOf, renderLifetime } from './lifetime.ts'

/** Replaces an active token by a new one, atomically. */
export const rotatePage: Page = {
  path: '/settings/tokens/{workspace}/{token}/rotate',
  anonymous: false,
  async get(context) {
    const memberToken = await findMemberToken(context)
    if (memberToken === undefined) return notFoundPage()
    return isActive(context, memberToken) ? renderRotate(context, memberToken) : renderNotActive()
  },
  async post(context) {
    const memberToken = await findMemberToken(context)
    if (memberToken === undefined) return notFoundPage()
    if (!isActive(context, memberToken)) return renderNotActive()
    const days = tokenDays.safeParse(daysOf(context.form))
    if (!days.success) return renderRotate(context, memberToken, { status: 422, daysError: days.error.issues[0]!.message })
    const broken = brokenRules(await rulesOf(context.web, memberToken.workspace.id), '', days.data)
    if (broken.days !== undefined) return renderRotate(context, memberToken, { status: 422, daysError: broken.days[0] })
    return withProof(
      context,
      memberToken.token.scopes,
      (refusal) => renderRotate(context, memberToken, refusal),
      (proof) => rotate(context, memberToken, days.data * DAY, proof),
    )
  },
}

function isActive({ web }: SignedInContext, { token }: MemberToken): boolean {
  return stateOf(token, web.clock()) === 'active'
}

async function rotate(
  context: SignedInContext,
  { workspace, token: old }: MemberToken,
  lifetime: number,
  reauthenticated: Reauthenticated,
): Promise<PageResponse> {
  const { web, session } = context
  try {
    const request = { userId: session.user_id, tokenId: old.id, lifetime }
    const rotated = await transact(web.store, workspace.id, web.random, (tx) => rotateToken(tx, request, web.clock, web.random))
    const { id, user_id, scopes, expires_at } = rotated.token
    web.log.info(
      { event: 'token.rotated', token_id: id, replaced: old.id, user_id, workspace_id: workspace.id, scopes, expires_at },
      'token rotated',
    )
    await announce(context, 'token_created', rotated.token.name)
    const page = renderPlaintext(context, rotated, workspace, reauthenticated, true)
    return { ...page, audit: { workspaceId: workspace.id, ids: [old.id, id] } }
  } catch (error) {
    // The session may have been renewed, so every response carries it.
    if (error instanceof StorageUnavailable) return { ...notIssuedPage(error), ...reauthenticated }
    if (!(error instanceof IssueRefused)) throw error
    return { ...(error.reason === 'not_active' ? renderNotActive() : refusedPage(error)), ...reauthenticated }
  }
}

async function renderRotate(
  context: SignedInContext,
  { workspace, token }: MemberToken,
  { daysError, ...refusal }: Refusal & { daysError?: string } = {},
): Promise<PageView> {
  const { web, form, session } = context
  const max = Math.min(MAX_TOKEN_DAYS, (await rulesOf(web, workspace.id)).max_days)
  const present = Math.round((expiryOf(token) - Date.parse(token.issued_at)) / DAY)
  const days = form.has('days') ? daysOf(form) : String(Math.min(max, Math.max(1, present)))
  return formPage(
    {
      title: 'Rotate token',
      heading: `Rotate ${token.name}?`,
      action: `/settings/tokens/${workspace.id}/${token.id}/rotate`,
      token: session.form_token,
      fields: html`<p>
          You get a new token with the same name and scope. The current token, <code>${token.id}</code>, stops working at the same moment.
        </p>
        <h2>What the new token can do in ${workspace.name}, on your behalf</h2>
        ${allowanceList(web.services().engine, token.scopes, web.hasPolicyPage)}
        ${renderLifetime({ days, max, error: daysError, now: web.clock() })} ${passwordField(context, token.scopes, refusal.error)}`,
      button: 'Rotate token',
      cancel: '/settings/tokens',
    },
    refusal,
  )
}

function renderNotActive(): PageView {
  return errorPage(
    409,
    'This token is no longer active',
    'It was rotated or revoked, or it has expired. If you sent the form twice, the list contains a new token that you have not seen: rotate that one. If someone else rotated this token, revoke the new one.',
  )
}
