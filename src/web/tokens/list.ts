import type { VNode } from 'preact'
import { expiryOf, stateOf } from '../../auth/tokens/lifecycle.ts'
import { durations } from '../../model/durations.ts'
import { DAY } from '../../model/time.ts'
import { html, notice, renderTime } from '../html.ts'
import { tokensOf, workspacesOf, type ListedToken, type MemberWorkspace } from '../memberships.ts'
import type { Page } from '../page-context.ts'

/** Lists a person's tokens in all their workspaces. */
export const tokensPage: Page = {
  path: '/settings/tokens',
  anonymous: false,
  async get({ web, session, query }) {
    const workspaces = await workspacesOf(web, session.user_id)
    const lists = await Promise.all(workspaces.map(({ id }) => tokensOf(web, session.user_id, id)))
    const body = html`
      <h1>API tokens</h1>
      ${query.has('revoked') && notice('done', 'The token is revoked. It no longer works.')}
      <p>
        A token lets an agent or a tool act on your behalf in one workspace. It can do what its scope allows, but never more than you can. A
        token is shown only once. If you lose it, rotate it to get a new one.
      </p>
      ${workspaces.length === 0 && notice('warning', 'You are not a member of any workspace. Ask your administrator to add you to one.')}
      ${workspaces.map((workspace, i) => renderWorkspace(workspace, lists[i]!, web.clock()))}
    `
    return { title: 'API tokens', body }
  },
}

function renderWorkspace(workspace: MemberWorkspace, tokens: readonly ListedToken[], now: number): VNode {
  const headingId = `workspace-${workspace.id}`
  const rank = (token: ListedToken) => Number(stateOf(token, now) !== 'active')
  return html`<section aria-labelledby=${headingId}>
    <div class="head">
      <h2 id=${headingId}>${workspace.name} <span class="hint">your role: ${workspace.role}</span></h2>
      <a class="button primary" href="/settings/tokens/new?workspace=${workspace.id}"
        >New token<span class="unseen"> in ${workspace.name}</span></a
      >
    </div>
    ${
      tokens.length === 0
        ? html`<p class="hint">No tokens yet.</p>`
        : html`<ul class="tokens">
            ${tokens.toSorted((a, b) => rank(a) - rank(b)).map((token) => renderToken(workspace, token, now))}
          </ul>`
    }
  </section>`
}

function renderToken(workspace: MemberWorkspace, token: ListedToken, now: number): VNode {
  const state = stateOf(token, now)
  const base = `/settings/tokens/${workspace.id}/${token.id}`
  return html`<li class="token ${state}">
    <div class="head">
      <h3>${token.name}</h3>
      <span class="state ${state}">${state}</span>
    </div>
    <dl>
      <dt>Scope</dt>
      <dd><code>${token.scopes.join(' ')}</code></dd>
      <dt>ID</dt>
      <dd><code>${token.id}</code></dd>
      <dt>Created</dt>
      <dd>${renderTime(token.issued_at)}</dd>
      <dt>Expires</dt>
      <dd>${renderTime(new Date(expiryOf(token)).toISOString())} ${state === 'active' && renderWarning(expiryOf(token) - now)}</dd>
      ${
        token.revoked_at !== null &&
        html`<dt>Ended</dt>
          <dd>${renderTime(token.revoked_at)}${token.replaced_by !== null && html`, replaced by <code>${token.replaced_by}</code>`}</dd>`
      }
      <dt>Last used</dt>
      <dd>${token.last_used_at === null ? 'never' : renderTime(token.last_used_at)}</dd>
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

/** @param remaining milliseconds until the token expires */
function renderWarning(remaining: number): VNode | undefined {
  if (remaining > durations.tokenExpiryNotice) return undefined
  const days = Math.ceil(remaining / DAY)
  const level = remaining <= DAY ? 'urgent' : remaining <= 7 * DAY ? 'near' : 'ahead'
  return html`<strong class="expires ${level}">${days <= 1 ? 'within a day' : `in ${days} days`}</strong>`
}
