import type { VNode } from 'preact'
import { endSession, endSessions } from '../../auth/accounts/sessions.ts'
import { readAnswer, relyingParty } from '../../auth/accounts/passkeys.ts'
import { limits } from '../../model/limits.ts'
import { GLOBAL } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { cookieOf, setCookie } from '../cookies.ts'
import { notFoundPage } from '../error-pages.ts'
import { anonymousFormToken } from '../forms.ts'
import { html, renderMessage } from '../html.ts'
import { field, formPage, postForm, type Refusal } from '../form-page.ts'
import type { Page, PageContext, PageView } from '../page-context.ts'
import { forgetReturn } from '../return-path.ts'
import { toldBy } from '../told.ts'
import { answerAttempt, visitOf, type Attempted } from './second-step.ts'
import { passkeyButton, presentPassword } from './proof-fields.ts'
import { providerSignOutPage } from './provider.ts'
import { providerButton } from './provider-button.ts'

const PATH = '/settings/sign-in'

/** Signs a person in. A new session always begins: the session of an existing cookie is never reused. */
export const signInPage: Page = {
  path: PATH,
  anonymous: true,
  get: (context) => renderSignIn(context),
  async post(context) {
    const { web, form } = context
    if (!web.hasPasswords) return notFoundPage()
    const [email, password] = [(form.get('email') ?? '').trim().toLowerCase(), form.get('password') ?? '']
    const attempt = await web.signIn.attempt({ email, password, formToken: form.get('form_token')!, ...visitOf(context) })
    return answerAttempt(context, attempt, {
      what: 'sign_in',
      operation: 'web.sign_in',
      error: 'The e-mail address or the password is wrong. Check both and try again.',
      ask: (refusal) => renderSignIn(context, refusal, email),
    })
  },
}

/** Signs a person in with a passkey. */
export const signInWithPasskeyPage: Page = {
  path: `${PATH}/passkey`,
  anonymous: true,
  get: () => ({ redirect: PATH }),
  async post(context) {
    const { web, form, origin } = context
    const assertion = readAnswer(form.get('passkey') ?? '', origin)
    const attempt: Attempted =
      assertion === undefined
        ? { result: 'refused', userId: undefined }
        : await web.secondStep.attemptPasskey({ assertion, formToken: form.get('form_token')! }, visitOf(context))
    return answerAttempt(context, attempt, {
      what: 'sign_in',
      operation: 'web.sign_in.passkey',
      error: 'The passkey was not accepted. Try again, or use your password.',
      ask: (refusal) => renderSignIn(context, refusal),
      members: { passkey: true },
    })
  },
}

/** Signs a person out, in this browser or in all. */
export const signOutPage: Page = {
  path: '/settings/sign-out',
  endsAccess: true,
  async post(context) {
    const { web, session, form } = context
    const everywhere = form.get('where') === 'everywhere'
    await transact(web.store, GLOBAL, web.random, async (tx) => {
      if (everywhere) await endSessions(tx, session.user_id)
      else await endSession(tx, session.hash)
    })
    web.log.info({ event: 'web.signed_out', user_id: session.user_id, everywhere }, 'signed out')
    setCookie(context, 'session', '', 0)
    forgetReturn(context)
    const isAtProvider = session.way === 'provider' && web.provider !== undefined
    const redirect = isAtProvider ? providerSignOutPage.path : '/settings/sign-in?out'
    return { redirect, headers: { 'clear-site-data': '"cache"' } }
  },
}

function renderSignIn(context: PageContext, refusal?: Refusal, email = ''): PageView {
  const { web, query, origin, session } = context
  // The address can say anything: what it says of the session is shown only if it is so.
  const hasEnded = session === undefined && cookieOf(context, 'session') !== undefined
  const above = html`
    ${query.has('over') && hasEnded && renderMessage('warning', 'Your session has ended. Sign in to continue where you were.')}
    ${toldBy(context).has('late') && web.hasPasswords && renderMessage('warning', 'The sign-in took too long, or your password was changed in the meantime. Start again.')}
    ${query.has('out') && session === undefined && renderMessage('done', 'You are signed out.')}
    ${web.provider !== undefined && providerButton(web.provider)}
  `
  if (!web.hasPasswords)
    return {
      title: 'Sign in',
      body: html`<h1>Sign in</h1>
        ${above}`,
    }
  const token = anonymousFormToken(context)
  return formPage(
    context,
    {
      title: 'Sign in',
      above,
      action: PATH,
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
}

function signInWithPasskey(token: string): VNode {
  const button = passkeyButton({ purpose: 'sign_in', field: 'passkey', label: 'Sign in with a passkey' })
  return postForm({ action: `${PATH}/passkey`, token, fields: button }, 'passkey')
}
