import { endListedSession, endOtherSessions } from '../../auth/accounts/sessions.ts'
import { GLOBAL } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { formPage } from '../form-page.ts'
import { html } from '../html.ts'
import type { Page, PageView, SignedInContext } from '../page-context.ts'
import { ACCOUNT_CHANGE, passwordField, withProof, type NotReauthenticated } from './re-authentication.ts'

/** Ends one session of a person, or all others. A stolen session cannot lock its owner out: a recent proof is required. */
export const sessionsPage: Page = {
  path: '/settings/account/sessions',
  anonymous: false,
  get: async () => ({ redirect: '/settings/account' }),
  async post(context) {
    const { web, session, form } = context
    const which = form.get('end') ?? ''
    return withProof(
      context,
      ACCOUNT_CHANGE,
      (refusal) => renderProof(context, which, refusal),
      async (proof) => {
        const hasEnded = await transact(web.store, GLOBAL, web.random, async (tx) => {
          if (which !== 'others') return endListedSession(tx, session.user_id, which)
          await endOtherSessions(tx, proof.session)
          return true
        })
        if (!hasEnded) return { redirect: '/settings/account', audit: false }
        web.log.info({ event: 'web.sessions_ended', user_id: session.user_id, which, address: context.address }, 'sessions ended')
        return { redirect: `/settings/account?${which === 'others' ? 'sessions' : 'session'}` }
      },
    )
  },
}

function renderProof(context: SignedInContext, which: string, refusal: NotReauthenticated): PageView {
  const isFirst = !context.form.has('password')
  const isAll = which === 'others'
  return formPage(
    {
      title: 'End sessions',
      heading: isAll ? 'End all other sessions?' : 'End this session?',
      action: '/settings/account/sessions',
      token: context.session.form_token,
      fields: html`<input type="hidden" name="end" value=${which} />
        <p>The browser is signed out at its next request. Your tokens stay valid.</p>
        ${passwordField(context, ACCOUNT_CHANGE, isFirst ? undefined : refusal.error)}`,
      button: isAll ? 'End the sessions' : 'End the session',
      isDanger: true,
      cancel: '/settings/account',
    },
    isFirst ? {} : refusal,
  )
}
