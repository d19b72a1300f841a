import type { VNode } from 'preact'
import { renewSession } from '../auth/accounts/sessions.ts'
import type { Session } from '../model/account.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { expiryOf, mayIssue } from '../auth/tokens/lifecycle.ts'
import type { IssuedToken } from '../auth/tokens/issue.ts'
import { setCookie } from './cookies.ts'
import { field, html, moment, notice } from './html.ts'
import type { OwnWorkspace } from './memberships.ts'
import type { PageView, SignedInContext } from './page-context.ts'

/** The password field, where these scopes ask for it and it was not given within ten minutes (spec §3). */
export function passwordField({ web, session }: SignedInContext, scopes: readonly string[], error?: string): VNode | undefined {
  if (mayIssue(scopes, Date.parse(session.proved_at), web.clock())) return undefined
  const hint = 'A token with kanban:admin asks for your password again, where you did not give it within the last ten minutes.'
  return field({
    name: 'password',
    label: 'Your password',
    hint,
    error,
    type: 'password',
    autocomplete: 'current-password',
    required: true,
    maxlength: 200,
  })
}

/** The session with which something may be issued now: the same one or, once the password was given again, a new one. */
export interface Reauthenticated {
  readonly session: Session
}
/** Why nothing may be issued now. */
export interface NotReauthenticated {
  readonly error: string
  readonly status: number
  readonly headers?: Record<string, string>
}

/**
 * Sees to it that whoever sends a form has proved who he is as lately as these scopes ask.
 * @param alter what happens to the session in the same commit; undefined where it cannot be, and then nothing happens
 * @returns `gone` where the session is not there any more, `refused` where `alter` would not
 */
export async function reauthenticate(
  { web, session, form, origin, setAnyway, requestId, address }: SignedInContext,
  scopes: readonly string[],
  alter: (session: Session) => Session | undefined = (same) => same,
): Promise<Reauthenticated | NotReauthenticated | 'gone' | 'refused'> {
  let anew = false
  if (!mayIssue(scopes, Date.parse(session.proved_at), web.clock())) {
    const password = form.get('password')
    if (password === null) return { status: 403, error: 'Give your password again.' }
    const came = await web.signIn.verifyPassword(session, password)
    const event = { user_id: session.user_id, request_id: requestId, address }
    if (came === 'proved') web.log.info({ event: 'web.proved', ...event }, 'gave the password again')
    else
      web.log.warn(
        { event: came === 'refused' ? 'web.proof_refused' : 'web.proof_throttled', ...event },
        'a password that was asked for again',
      )
    if (came === 'refused') return { status: 403, error: 'This is not your password.' }
    if (came !== 'proved') return { status: 429, ...tooMany(came.milliseconds) }
    anew = true
  }
  const proved = await transact(web.store, GLOBAL, web.random, async (tx) => {
    const present = await tx.get(keys.session(session.hash))
    if (present === undefined) return 'gone'
    const altered = alter(present)
    if (altered === undefined) return 'refused'
    if (anew) return renewSession(tx, altered, web.clock, web.random)
    if (altered !== present) tx.put(keys.session(session.hash), altered)
    return { session: altered, secret: undefined }
  })
  if (proved === 'gone' || proved === 'refused') return proved
  if (proved.secret !== undefined) setAnyway.push(setCookie('session', proved.secret, origin))
  return { session: proved.session }
}

/** What is said, and sent, where somebody tried too often. */
export function tooMany(milliseconds: number): { error: string; headers: Record<string, string> } {
  const seconds = Math.ceil(milliseconds / 1000)
  const wait = seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`
  return { error: `Too many attempts. Try again in ${wait}.`, headers: { 'retry-after': String(seconds) } }
}

/** The one time that a plaintext is shown. */
export function renderPlaintext(
  { origin }: SignedInContext,
  { plaintext, token }: IssuedToken,
  workspace: OwnWorkspace,
  proved: Reauthenticated,
  replaced: boolean,
): PageView {
  const body = html`
    <h1>${replaced ? 'Rotated: your new token' : 'Your new token'}</h1>
    ${notice('warning', 'This is the only time that it is shown. Keep it where nobody else can read it.')}
    <div class="card" data-once>
      ${secret('plaintext', `${token.name}, in ${workspace.name}`, plaintext)}
      ${secret('curl', 'Try it', `curl -s ${origin}/v1/account -H 'Authorization: Bearer ${plaintext}'`)}
      <p role="status" data-copied></p>
    </div>
    <p>
      <code>${token.scopes.join(' ')}</code>, until ${moment(new Date(expiryOf(token)).toISOString())}.
      ${replaced ? ' The token that it replaces has stopped working.' : ''}
    </p>
    <p><a class="button primary" href="/settings/tokens">I have kept it</a></p>
  `
  return { title: replaced ? 'Rotated' : 'New token', body, ...proved }
}

// No input: a browser would keep what is in one for when its page is shown again.
function secret(id: string, label: string, text: string): VNode {
  return html`<div class="secret">
    <h2 id="${id}-label">${label}</h2>
    <pre><code id=${id} tabindex="0" role="textbox" aria-readonly="true" aria-labelledby="${id}-label">${text}</code></pre>
    <button type="button" data-copy=${id} hidden>Copy<span class="unseen"> ${label}</span></button>
  </div>`
}
