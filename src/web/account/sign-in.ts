import type { VNode } from 'preact'
import { endSession, endSessions } from '../../auth/accounts/sessions.ts'
import { relyingParty } from '../../auth/accounts/passkeys.ts'
import { limits } from '../../model/limits.ts'
import { GLOBAL } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { setCookie } from '../cookies.ts'
import { tooManyAttempts } from '../error-pages.ts'
import { anonymousFormToken } from '../forms.ts'
import { html, notice } from '../html.ts'
import { field, formPage, postForm, type Refusal } from '../form-page.ts'
import type { Page, PageContext, PageView } from '../page-context.ts'
import { forgetReturn } from '../return-path.ts'
import { passkeySignInPage, passPassword, visitOf } from './second-step.ts'
import { passkeyButton, presentPassword } from './proof-fields.ts'

/** Signs a person in. A new session always begins: the session of an existing cookie is never reused. */
export const signInPage: Page = {
  path: '/settings/sign-in',
  anonymous: true,
  get: async (context) => renderSignIn(context),
  async post(context) {
    const { web, form, address } = context
    const email = (form.get('email') ?? '').trim().toLowerCase()
    const attempt = await web.signIn.attempt({
      email,
      password: form.get('password') ?? '',
      formToken: form.get('form_token')!,
      ...visitOf(context),
    })
    const members = { user_id: attempt.userId, request_id: context.requestId, address }
    if (attempt.result === 'throttled') {
      web.log.warn({ event: 'web.sign_in_throttled', ...members }, 'sign-in throttled')
      return renderSignIn(context, { status: 429, ...tooManyAttempts(attempt.retryAfterMs), email })
    }
    if (attempt.result === 'refused') {
      web.log.warn({ event: 'web.sign_in_refused', ...members }, 'sign-in refused')
      const page = renderSignIn(context, {
        status: 401,
        error: 'The e-mail address or the password is wrong. Check both and try again.',
        email,
      })
      return { ...page, audit: { operation: 'web.sign_in', userId: attempt.userId } }
    }
    return passPassword(context, attempt)
  },
}

/** Signs a person in with a passkey. */
export const signInWithPasskeyPage: Page = passkeySignInPage(renderSignIn)

/** Signs a person out, in this browser or in all. */
export const signOutPage: Page = {
  path: '/settings/sign-out',
  anonymous: false,
  async post({ web, session, form, origin, cookies }) {
    const everywhere = form.get('where') === 'everywhere'
    await transact(web.store, GLOBAL, web.random, (tx) => (everywhere ? endSessions(tx, session.user_id) : endSession(tx, session.hash)))
    web.log.info({ event: 'web.signed_out', user_id: session.user_id, everywhere }, 'signed out')
    return {
      redirect: '/settings/sign-in?out',
      cookies: [setCookie('session', '', origin, 0), ...forgetReturn({ cookies, origin })],
      headers: { 'clear-site-data': '"cache"' },
    }
  },
}

function renderSignIn(context: PageContext, { email = '', ...refusal }: Refusal & { email?: string } = {}): PageView {
  const { query, origin } = context
  const { token, cookies } = anonymousFormToken(context)
  const page = formPage(
    {
      title: 'Sign in',
      above: html`
        ${query.has('over') && notice('warning', 'Your session has ended. Sign in to continue where you were.')}
        ${query.has('late') && notice('warning', 'The sign-in took too long, or your password was changed in the meantime. Start again.')}
        ${query.has('out') && notice('done', 'You are signed out.')}
      `,
      action: '/settings/sign-in',
      token,
      fields: html`${field({ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', required: true, maxlength: limits.email, value: email })}
      ${presentPassword('password', 'Password')}`,
      button: 'Sign in',
      below: html`
        ${relyingParty(origin) && signInWithPasskey(token)}
        <p class="hint">No account yet, or password forgotten? Ask your administrator for a sign-up link.</p>
      `,
    },
    refusal,
  )
  return { ...page, cookies }
}

function signInWithPasskey(token: string): VNode {
  const button = passkeyButton({ purpose: 'sign_in', field: 'passkey', label: 'Sign in with a passkey' })
  return postForm({ action: '/settings/sign-in/passkey', token, fields: button }, 'passkey')
}
