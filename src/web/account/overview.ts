import type { VNode } from 'preact'
import { relyingParty } from '../../auth/accounts/passkeys.ts'
import { secondFactorOf } from '../../auth/accounts/second-factor.ts'
import { lifetimesOf, liveSessionsOf } from '../../auth/accounts/sessions.ts'
import { identityOf } from '../../auth/provider/identities.ts'
import type { Account, Session } from '../../model/account.ts'
import type { Identity } from '../../model/identity.ts'
import type { SecondFactor } from '../../model/second-factor.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { card, html, renderMessage } from '../html.ts'
import { postForm } from '../form-page.ts'
import { lengthText } from '../time-texts.ts'
import { renderTime } from '../times.ts'
import type { Page, SignedInContext } from '../page-context.ts'
import { toldBy } from '../told.ts'

/** Messages about the last action, by the name of the redirect's parameter. */
const done: Readonly<Record<string, string>> = {
  password: 'Your password is changed, and your other sessions have ended.',
  session: 'The session has ended.',
  sessions: 'Your other sessions have ended.',
  tokens: 'All your tokens are revoked. None of them works any more.',
  passkey: 'The passkey is added. You can sign in with it from now on. If you do not know one of your sessions below, end it.',
  renamed: 'The passkey has its new name.',
  removed: 'The passkey is removed. If you do not know one of your sessions below, end it.',
  authenticator: 'The authenticator app is removed. Your password needs no code any more.',
}

/** A person's account: password, second factor, passkeys and sessions. */
export const accountPage: Page = {
  path: '/settings/account',
  async get(context) {
    const { web, session } = context
    const told = toldBy(context)
    const [factor, sessions, account, identity] = await transact(web.store, GLOBAL, web.random, async (tx) => {
      const [account] = await tx.read([keys.account(session.user_id), keys.secondFactor(session.user_id)])
      const identity = await identityOf(tx, session.user_id)
      return [await secondFactorOf(tx, session.user_id), await liveSessionsOf(tx, session.user_id, web), account, identity] as const
    })
    const text = Object.entries(done).find(([name]) => told.has(name))?.[1]
    const body = html`
      <h1>Your account</h1>
      ${text !== undefined && renderMessage('done', text)} ${renderIdentity(context, identity)}
      ${web.hasPasswords && html`${renderPassword(context, account)} ${renderAuthenticator(factor, account)} ${renderPasskeys(context, factor)}`}
      ${renderSessions(context, sessions)}
      ${card(
        'mails',
        'Mails',
        html`<p>Choose which notices you get mails about, and when.</p>
          <p><a class="button" href="/settings/account/mails">Mails about notices</a></p>`,
      )}
      ${card(
        'tokens',
        'Tokens',
        html`<p>If one of your tokens may be in wrong hands and you do not know which one, revoke all.</p>
          <p><a class="button danger" href="/settings/account/revoke-tokens">Revoke all my tokens</a></p>`,
      )}
    `
    return { title: 'Your account', body }
  },
}

function renderIdentity({ web, session }: SignedInContext, identity: Identity | undefined): VNode | undefined {
  if (web.provider === undefined) return undefined
  const { name } = web.provider
  const content =
    identity === undefined
      ? html`<p>
          Sign in with ${name} once, with your e-mail address <strong>${session.email}</strong>, and it can sign you in from then on.
        </p>`
      : html`<p>You sign in with ${name}, as <strong>${session.email}</strong>, since ${renderTime(identity.bound_at)}.</p>`
  return card('identity', 'Identity provider', content)
}

/** What is not mailed to the address; undefined: everything is, or the service sends no mail. */
function renderUnconfirmed({ web }: SignedInContext, account: Account | undefined): VNode | undefined {
  if (web.mail === undefined || account?.email_confirmed !== false) return undefined
  return html`<p class="hint">
    Nobody has confirmed that this address is yours, so you get mails about the security of your account alone. Your administrator can send
    you a sign-up link for it.
  </p>`
}

function renderPassword(context: SignedInContext, account: Account | undefined): VNode | undefined {
  if (account?.password_hash === null) return undefined
  return card(
    'password',
    'Password',
    html`<p>You sign in as <strong>${context.session.email}</strong>.</p>
      ${renderUnconfirmed(context, account)}
      <p><a class="button" href="/settings/account/password">Change password</a></p>`,
  )
}

function renderAuthenticator({ authenticator, recovery_hashes }: SecondFactor, account: Account | undefined): VNode | undefined {
  // Its code is asked for after a password.
  if (account?.password_hash === null && authenticator === null) return undefined
  const left = recovery_hashes.length
  const content =
    authenticator === null
      ? html`<p>With an authenticator app, a stolen password alone lets no one in: each sign-in also asks for a code.</p>
          <p><a class="button" href="/settings/account/authenticator">Set up an authenticator app</a></p>`
      : html`<p>
            <span class="state active">on</span> since${' '}
            ${renderTime(authenticator.added_at)}.${` ${left === 1 ? '1 recovery code is' : `${left} recovery codes are`} left.`}
          </p>
          <p class="actions">
            <a class="button" href="/settings/account/recovery-codes">New recovery codes</a>
            <a class="button" href="/settings/account/authenticator">Replace the app</a>
            <a class="button danger" href="/settings/account/authenticator/remove">Remove the app</a>
          </p>`
  return card('authenticator', 'Authenticator app', content)
}

function renderPasskeys({ origin }: SignedInContext, { passkeys }: SecondFactor): VNode {
  const content = html`<p>A passkey signs you in with your fingerprint, your face or the PIN of a device, without a password.</p>
    ${
      passkeys.length > 0 &&
      html`<ul class="entries">
        ${passkeys.map(
          ({ id, name, added_at, used_at }) =>
            html`<li>
              <div>
                <strong dir="auto">${name}</strong>
                <p class="hint">
                  added ${renderTime(added_at)}, ${used_at === null ? 'not used yet' : html`last used ${renderTime(used_at)}`}
                </p>
              </div>
              <a class="button" href="/settings/account/passkeys/${id}"
                >Change<span class="unseen"> <bdi>${name}</bdi></span></a
              >
            </li>`,
        )}
      </ul>`
    }
    ${
      relyingParty(origin) === undefined
        ? html`<p class="hint">Browsers allow no passkeys at an IP address. Open this page under a host name.</p>`
        : html`<p><a class="button" href="/settings/account/passkeys/new">Add a passkey</a></p>`
    }`
  return card('passkeys', 'Passkeys', content)
}

function renderSessions({ session: current, web }: SignedInContext, sessions: readonly Session[]): VNode {
  const { idle, max } = lifetimesOf(web)
  const fields = html`<ul class="entries">
      ${sessions.map((session) => renderSession(session, session.hash === current.hash))}
    </ul>
    ${sessions.length > 1 && html`<button class="danger" name="end" value="others">End all other sessions</button>`}`
  const content = html`<p>
      Where you are signed in. A session ends after ${lengthText(idle)} without use, and ${lengthText(max)} after the sign-in in any case.
    </p>
    ${postForm({ action: '/settings/account/sessions', token: current.form_token, fields }, null)}`
  return card('sessions', 'Sessions', content)
}

function renderSession(session: Session, isCurrent: boolean): VNode {
  const { id, agent, address, begun_at, seen_at } = session
  return html`<li>
    <div>
      <strong>${agent}</strong> ${isCurrent && html`<span class="state active">this session</span>`}
      <p class="hint">${address}, begun ${renderTime(begun_at)}, last seen ${renderTime(seen_at)}</p>
    </div>
    ${!isCurrent && html`<button name="end" value=${id}>End<span class="unseen"> the session of ${agent}, ${address}</span></button>`}
  </li>`
}
