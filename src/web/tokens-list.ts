import type { VNode } from 'preact'
import { DAY } from '../model/time.ts'
import { expiryOf, stateOf, type TokenState } from '../auth/tokens/lifecycle.ts'
import { tokensOf, workspacesOf, type OwnToken, type OwnWorkspace } from './memberships.ts'
import { html, moment, notice } from './html.ts'
import type { Page } from './page-context.ts'

const STATES: Record<TokenState, string> = { active: 'active', rotated: 'rotated', revoked: 'revoked', expired: 'expired' }

/** Settings → API tokens: what there is, and what can be done with it. */
export const tokensPage: Page = {
  path: '/settings/tokens',
  open: false,
  async get({ web, session, query }) {
    const workspaces = await workspacesOf(web, session.user_id)
    const lists = await Promise.all(workspaces.map(({ id }) => tokensOf(web, session.user_id, id)))
    const body = html`
      <h1>API tokens</h1>
      ${query.has('revoked') && notice('done', 'The token is revoked. Its very next request fails.')}
      <p>
        A token lets an agent or a tool do on your behalf, in one workspace, what its scope allows and you could do yourself. It is shown
        once and cannot be recovered: a token that was lost can only be rotated.
      </p>
      ${workspaces.length === 0 && notice('warning', 'You belong to no workspace.')}
      ${workspaces.map((workspace, i) => section(workspace, lists[i]!, web.clock()))}
    `
    return { title: 'API tokens', body }
  },
}

function section(workspace: OwnWorkspace, tokens: readonly OwnToken[], now: number): VNode {
  const heading = `workspace-${workspace.id}`
  const order = (token: OwnToken) => Number(stateOf(token, now) !== 'active')
  return html`<section aria-labelledby=${heading}>
    <div class="head">
      <h2 id=${heading}>${workspace.name} <span class="hint">your role: ${workspace.role}</span></h2>
      <a class="button primary" href="/settings/tokens/new?workspace=${workspace.id}"
        >New token<span class="unseen"> in ${workspace.name}</span></a
      >
    </div>
    ${
      tokens.length === 0
        ? html`<p class="hint">No tokens yet.</p>`
        : html`<ul class="tokens">
            ${tokens.toSorted((a, b) => order(a) - order(b)).map((token) => entry(workspace, token, now))}
          </ul>`
    }
  </section>`
}

function entry(workspace: OwnWorkspace, token: OwnToken, now: number): VNode {
  const state = stateOf(token, now)
  const base = `/settings/tokens/${workspace.id}/${token.id}`
  return html`<li class="token ${state}">
    <div class="head">
      <h3>${token.name}</h3>
      <span class="state ${state}">${STATES[state]}</span>
    </div>
    <dl>
      <dt>Scope</dt>
      <dd><code>${token.scopes.join(' ')}</code></dd>
      <dt>Id</dt>
      <dd><code>${token.id}</code></dd>
      <dt>Created</dt>
      <dd>${moment(token.issued_at)}</dd>
      <dt>Expires</dt>
      <dd>${moment(new Date(expiryOf(token)).toISOString())} ${state === 'active' && warning(expiryOf(token) - now)}</dd>
      ${
        token.revoked_at !== null &&
        html`<dt>Ended</dt>
          <dd>${moment(token.revoked_at)}${token.replaced_by !== null && html`, replaced by <code>${token.replaced_by}</code>`}</dd>`
      }
      <dt>Last used</dt>
      <dd>${token.last_used_at === null ? 'never' : moment(token.last_used_at)}</dd>
    </dl>
    ${
      state === 'active' &&
      html`<p class="actions">
        <a class="button" href="${base}/rotate">Rotate<span class="unseen"> ${token.name}</span></a>
        <a class="button danger" href="${base}/revoke">Revoke<span class="unseen"> ${token.name}</span></a>
      </p>`
    }
  </li>`
}

/** @param left milliseconds until it expires */
function warning(left: number): VNode | undefined {
  if (left > 14 * DAY) return undefined
  const days = Math.ceil(left / DAY)
  const level = left <= DAY ? 'urgent' : left <= 7 * DAY ? 'near' : 'ahead'
  return html`<strong class="expires ${level}">${days <= 1 ? 'within a day' : `in ${days} days`}</strong>`
}
