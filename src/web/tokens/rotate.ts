import { rotateToken } from '../../auth/tokens/issue.ts'
import { expiryOf, stateOf } from '../../auth/tokens/lifecycle.ts'
import { MAX_TOKEN_DAYS, tokenDays } from '../../model/account.ts'
import { DAY } from '../../model/time.ts'
import { allowanceList } from './allowances.ts'
import { notActivePage, notFoundPage } from '../error-pages.ts'
import { html } from '../html.ts'
import { findMemberToken } from '../memberships.ts'
import type { Page, PageResponse, SignedInContext } from '../page-context.ts'
import { brokenRules, rulesOf } from '../workspace/rules.ts'
import { proofPage, withProof } from '../account/re-authentication.ts'
import { showIssued } from './plaintext.ts'
import { daysOf, renderLifetime } from './lifetime.ts'

/** Replaces an active token by a new one, atomically. */
export const rotatePage: Page = {
  path: '/settings/tokens/{workspace}/{token}/rotate',
  keeps: ['days', 'custom_days'],
  get: rotate,
  post: rotate,
}

async function rotate(context: SignedInContext): Promise<PageResponse> {
  const { web, request, query, form, session } = context
  const memberToken = await findMemberToken(context)
  if (memberToken === undefined) return notFoundPage()
  const { workspace, token } = memberToken
  const { id, name, scopes, issued_at } = token
  const now = web.clock()
  if (stateOf(token, now) !== 'active') return notActivePage()
  const rules = await rulesOf(web, workspace.id)
  const isSent = request.method === 'POST'
  const present = Math.round((expiryOf(token) - Date.parse(issued_at)) / DAY)
  const max = Math.min(MAX_TOKEN_DAYS, rules.max_days)
  const chosen = isSent || query.has('days') ? daysOf(isSent ? form : query) : undefined
  const days = chosen ?? String(Math.min(max, Math.max(1, present)))
  const parsed = tokenDays.safeParse(days)
  const error = isSent ? (parsed.error?.issues[0]!.message ?? brokenRules(rules, '', parsed.data!).days?.[0]) : undefined
  const page = {
    title: 'Rotate token',
    heading: html`Rotate <bdi>${name}</bdi>?`,
    scopes,
    fields: html`<p>
        You get a new token with the same name and scope. The current token, <code>${id}</code>, stops working at the same moment.
      </p>
      <h2>What the new token can do in <bdi>${workspace.name}</bdi>, on your behalf</h2>
      ${allowanceList(web.services().engine, scopes, web.hasPolicyPage)} ${renderLifetime({ days, max, error, now })}`,
    button: 'Rotate token',
    cancel: '/settings/tokens',
  }
  if (error !== undefined) return proofPage(context, page, { status: 422 })
  return withProof(context, page, (proved) => {
    const rotation = { userId: session.user_id, tokenId: id, lifetime: parsed.data! * DAY }
    return showIssued(proved, workspace, (tx) => rotateToken(tx, rotation, web), id)
  })
}
