import { networkOf } from '../auth/accounts/sign-in.ts'
import { newSecret } from '../auth/accounts/secrets.ts'
import { endSession, endSessions } from '../auth/accounts/sessions.ts'
import { GLOBAL } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { cookieName, setCookie } from './cookies.ts'
import { isFormToken } from './guard.ts'
import { field, html, notice } from './html.ts'
import { tooMany } from './re-authentication.ts'
import type { Page, PageView, PageContext } from './page-context.ts'

/** So long a browser is remembered, in seconds. */
export const YEAR = 365 * 24 * 60 * 60
const REFUSED = 'This e-mail address and this password do not go together.'

/** What a form carries while nobody is signed in, and the cookie that it must fit. */
export function anonymousForm({ web, cookies, origin }: PageContext): { token: string; cookies: string[] } {
  const present = cookies.get(cookieName('form', origin))
  if (present !== undefined && isFormToken(present)) return { token: present, cookies: [] }
  const token = newSecret(web.random)
  return { token, cookies: [setCookie('form', token, origin)] }
}

function renderSignIn(
  visit: PageContext,
  {
    status = 200,
    error,
    email = '',
    headers = {},
  }: { status?: number; error?: string; email?: string; headers?: Record<string, string> } = {},
): PageView {
  const { token, cookies } = anonymousForm(visit)
  const body = html`
    <h1>Sign in</h1>
    ${error && notice('error', error)}
    ${visit.query.has('over') && notice('warning', 'You are not signed in, or no longer. Sign in to go on.')}
    ${visit.query.has('out') && notice('done', 'You are signed out.')}
    <form method="post" action="/settings/sign-in" class="card">
      <input type="hidden" name="form_token" value=${token} />
      ${field({ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', required: true, maxlength: 254, value: email })}
      ${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', required: true, maxlength: 200 })}
      <button class="primary">Sign in</button>
    </form>
    <p class="hint">No account yet, or the password is lost? Whoever runs this service can give you a sign-up link.</p>
  `
  return { title: 'Sign in', body, status, cookies, headers }
}

/** Signing in. A new session begins with it, whatever cookie came along. */
export const signInPage: Page = {
  path: '/settings/sign-in',
  open: true,
  get: async (visit) => renderSignIn(visit),
  async post(visit) {
    const { web, form, origin, address, cookies } = visit
    const email = (form.get('email') ?? '').trim().toLowerCase()
    const attempt = {
      email,
      password: form.get('password') ?? '',
      address: networkOf(address),
      device: cookies.get(cookieName('device', origin)),
      present: visit.session?.hash,
    }
    const came = await web.signIn.attempt(attempt)
    const who = { user_id: came.userId, request_id: visit.requestId, address }
    if (came.result === 'throttled') {
      web.log.warn({ event: 'web.sign_in_throttled', ...who }, 'sign-in throttled')
      return renderSignIn(visit, { status: 429, ...tooMany(came.milliseconds), email })
    }
    if (came.result === 'refused') {
      web.log.warn({ event: 'web.sign_in_refused', ...who }, 'sign-in refused')
      return renderSignIn(visit, { status: 401, error: REFUSED, email })
    }
    web.log.info({ event: 'web.signed_in', ...who }, 'signed in')
    const set = [
      setCookie('session', came.secret, origin),
      setCookie('device', came.device, origin, YEAR),
      setCookie('form', '', origin, 0),
    ]
    return { redirect: '/settings/tokens', cookies: set }
  },
}

/** Signing out, of this browser or of all. */
export const signOutPage: Page = {
  path: '/settings/sign-out',
  open: false,
  async post({ web, session, form, origin }) {
    await transact(web.store, GLOBAL, web.random, async (tx) => {
      if (form.get('where') === 'everywhere') return endSessions(tx, session.user_id)
      return endSession(tx, session.hash)
    })
    web.log.info({ event: 'web.signed_out', user_id: session.user_id, everywhere: form.get('where') === 'everywhere' }, 'signed out')
    return { redirect: '/settings/sign-in?out', cookies: [setCookie('session', '', origin, 0)], headers: { 'clear-site-data': '"cache"' } }
  },
}
