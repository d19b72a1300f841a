import type { VNode } from 'preact'
import type { IssuedToken } from '../../auth/tokens/issue.ts'
import { expiryOf } from '../../auth/tokens/lifecycle.ts'
import { html, notice, renderTime } from '../html.ts'
import type { MemberWorkspace } from '../memberships.ts'
import type { PageView, SignedInContext } from '../page-context.ts'
import type { Reauthenticated } from '../account/re-authentication.ts'

/** The page that shows the plaintext of a new token, the only time that it is shown. */
export function renderPlaintext(
  { origin }: SignedInContext,
  { plaintext, token }: IssuedToken,
  workspace: MemberWorkspace,
  { session }: Reauthenticated,
  rotated: boolean,
): PageView {
  const body = html`
    <h1>${rotated ? 'Token rotated: your new token' : 'Your new token'}</h1>
    ${notice('warning', 'The token is shown only this once. Copy it now, and store it in a safe place such as a password manager.')}
    <div class="card" data-once>
      ${renderSecret('plaintext', `${token.name}, in ${workspace.name}`, plaintext)}
      ${renderSecret('curl', 'Try it', `curl -s ${origin}/v1/account -H 'Authorization: Bearer ${plaintext}'`)}
      <p role="status" data-copied></p>
    </div>
    <p>
      Scope <code>${token.scopes.join(' ')}</code>, expires ${renderTime(new Date(expiryOf(token)).toISOString())}.
      ${rotated ? ' The old token no longer works.' : ''}
    </p>
    <p><a class="button primary" href="/settings/tokens">I have stored it</a></p>
  `
  return { title: rotated ? 'Token rotated' : 'New token', body, session }
}

// Not an input element: a browser may restore the value of an input when the page is shown again.
function renderSecret(id: string, label: string, text: string): VNode {
  return html`<div class="secret">
    <h2 id="${id}-label">${label}</h2>
    <pre><code id=${id} tabindex="0" role="textbox" aria-readonly="true" aria-labelledby="${id}-label">${text}</code></pre>
    <button type="button" data-copy=${id} hidden>Copy<span class="unseen"> ${label}</span></button>
  </div>`
}
