import { endSessions } from '../../auth/accounts/sessions.ts'
import { GLOBAL } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { html } from '../html.ts'
import type { Page } from '../page-context.ts'
import { tellingAddress } from '../told.ts'
import { isProved, proofPage, withProof } from './re-authentication.ts'

/** Ends one session of a person, or all others. A stolen session cannot lock its owner out: a recent proof is required. */
export const sessionsPage: Page = {
  path: '/settings/account/sessions',
  endsAccess: true,
  get: () => ({ redirect: '/settings/account' }),
  async post(context) {
    const { form, address } = context
    const which = form.get('end') ?? ''
    const isAll = which === 'others'
    const page = {
      title: 'End sessions',
      heading: isAll ? 'End all other sessions?' : 'End this session?',
      hidden: { end: which },
      fields: html`<p>The browser is signed out at its next request. Your tokens stay valid.</p>`,
      button: isAll ? 'End the sessions' : 'End the session',
      isDanger: true,
      cancel: '/settings/account',
    }
    // The button in the list sends no proof.
    if (!isProved(context) && !form.has('password')) return proofPage(context, page)
    return withProof(context, page, async (proved) => {
      const { web, session } = proved
      const { user_id, hash } = session
      const ended = await transact(web.store, GLOBAL, web.random, (tx) =>
        endSessions(tx, user_id, (one) => (isAll ? one.hash !== hash : one.id === which)),
      )
      if (!isAll && ended === 0) return { redirect: '/settings/account', audit: false }
      web.log.info({ event: 'web.sessions_ended', user_id, which, address }, 'sessions ended')
      return { redirect: tellingAddress(proved, '/settings/account', { [isAll ? 'sessions' : 'session']: '' }) }
    })
  },
}
