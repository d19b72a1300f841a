import { endListedSession, endOtherSessions } from '../../auth/accounts/sessions.ts'
import { GLOBAL } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { sessionChangedPage } from '../error-pages.ts'
import { html, notice } from '../html.ts'
import type { Page, PageView, SignedInContext } from '../page-context.ts'
import { ACCOUNT_CHANGE, passwordField, reauthenticate, type NotReauthenticated } from './re-authentication.ts'

/** Ends one session of a person, or all others. A stolen session cannot lock its owner out: a recent proof is required. */
export const sessionsPage: Page = {
  path: '/settings/account/sessions',
  anonymous: false,
  get: async () => ({ redirect: '/settings/account' }),
  async post(context) {
    const { web, session, form } = context
    const which = form.get('end') ?? ''
    const proof = await reauthenticate(context, ACCOUNT_CHANGE)
    if (proof === 'no_session' || proof === 'refused') return sessionChangedPage()
    if ('error' in proof) return renderProof(context, which, proof)
    const hasEnded = await transact(web.store, GLOBAL, web.random, async (tx) => {
      if (which !== 'others') return endListedSession(tx, session.user_id, which)
      await endOtherSessions(tx, proof.session)
      return true
    })
    if (!hasEnded) return { redirect: '/settings/account', audit: false }
    web.log.info({ event: 'web.sessions_ended', user_id: session.user_id, which, address: context.address }, 'sessions ended')
    return { redirect: `/settings/account?${which === 'others' ? 'sessions' : 'session'}` }
  },
}

function renderProof(context: SignedInContext, which: string, { status, error, headers = {} }: NotReauthenticated): PageView {
  const isFirst = !context.form.has('password')
  const body = html`
    <h1>${which === 'others' ? 'End all other sessions?' : 'End this session?'}</h1>
    ${!isFirst && notice('error', error)}
    <form method="post" action="/settings/account/sessions" class="card">
      <input type="hidden" name="form_token" value=${context.session.form_token} />
      <input type="hidden" name="end" value=${which} />
      <p>The browser is signed out at its next request. Your tokens stay valid.</p>
      ${passwordField(context, ACCOUNT_CHANGE, isFirst ? undefined : error)}
      <p class="actions">
        <button class="primary danger">${which === 'others' ? 'End the sessions' : 'End the session'}</button>
        <a class="button" href="/settings/account">Cancel</a>
      </p>
    </form>
  `
  return { title: 'End sessions', body, status: isFirst ? 200 : status, headers }
}
