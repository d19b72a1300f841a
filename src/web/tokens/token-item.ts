import type { VNode } from 'preact'
import { expiryTextOf, stateOf } from '../../auth/tokens/lifecycle.ts'
import { durations } from '../../model/durations.ts'
import { DAY } from '../../model/time.ts'
import { renderUsage } from '../activity/usage-view.ts'
import { html } from '../html.ts'
import type { ListedToken, UsedToken } from '../memberships.ts'
import { renderDistance, renderTime } from '../times.ts'

/** What a list shows of a token. */
type ShownToken = UsedToken & Partial<Pick<ListedToken, 'revoker'>>

/**
 * A token in a list.
 * @param heading the level of its name
 * @param actions what can be done with it while it is active
 */
export function renderToken(token: ShownToken, now: number, heading: 'h3' | 'h4', actions: VNode): VNode {
  const state = stateOf(token, now)
  const expires = expiryTextOf(token)
  return html`<li class="token ${state}">
    <div class="head">
      <${heading} dir="auto">${token.name}<//>
      <span class="marks"
        >${state !== 'active' && html`<span class="state ${state}">${state}</span> `}<code class="scope"
          >${token.scopes.join(' ')}</code
        ></span
      >
    </div>
    <dl>
      ${
        state === 'active' &&
        html`<dt>Expires</dt>
          <dd>${renderExpiry(expires, now)}</dd>`
      }
      ${
        state !== 'active' &&
        html`<dt>Ended</dt>
          <dd>${renderDistance(token.revoked_at ?? expires, now)}${renderReason(token)}</dd>`
      }
      <dt>Created</dt>
      <dd>${renderTime(token.issued_at)}</dd>
      ${renderUsage(token.use, now)}
      <dt>ID</dt>
      <dd><code>${token.id}</code></dd>
    </dl>
    ${state === 'active' && html`<p class="actions">${actions}</p>`}
  </li>`
}

function renderReason({ replaced_by, revoker }: ShownToken): unknown {
  return html`${replaced_by !== null && html`, replaced by <code>${replaced_by}</code>`}${revoker !== undefined && html`, revoked by <strong dir="auto">${revoker}</strong>, an owner or admin of the workspace`}`
}

function renderExpiry(expires: string, now: number): VNode {
  const remaining = Date.parse(expires) - now
  const time = renderDistance(expires, now)
  if (remaining > durations.tokenEndsSoon) return time
  const level = remaining <= DAY ? 'urgent' : remaining <= 7 * DAY ? 'near' : 'ahead'
  return html`<strong class="expires ${level}">${time}</strong>`
}
