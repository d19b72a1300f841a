import { renewRecoveryCodes } from '../../auth/accounts/second-factor.ts'
import type { Session } from '../../model/account.ts'
import { GLOBAL } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { notFoundPage } from '../error-pages.ts'
import { formPage, type Refusal } from '../form-page.ts'
import { copyButton, html, notice } from '../html.ts'
import type { Page, PageView, SignedInContext } from '../page-context.ts'
import { announce } from './notices.ts'
import { ACCOUNT_CHANGE, passwordField, withProof } from './re-authentication.ts'

/** Replaces a person's recovery codes. */
export const recoveryCodesPage: Page = {
  path: '/settings/account/recovery-codes',
  anonymous: false,
  get: async (context) => (context.protection?.hasAuthenticator === true ? renderRenewal(context) : notFoundPage()),
  post: (context) =>
    withProof(
      context,
      ACCOUNT_CHANGE,
      (refusal) => renderRenewal(context, refusal),
      async (proof) => {
        const { web, session, address } = context
        const codes = await transact(web.store, GLOBAL, web.random, (tx) => renewRecoveryCodes(tx, session.user_id, web.random))
        if (codes === undefined) return { ...notFoundPage(), session: proof.session }
        web.log.info({ event: 'web.recovery_codes_made', user_id: session.user_id, address }, 'recovery codes made')
        await announce(context, 'recovery_codes_made')
        return renderRecoveryCodes(codes, proof.session, 'New recovery codes', 'The earlier codes no longer work.')
      },
    ),
}

function renderRenewal(context: SignedInContext, refusal?: Refusal): PageView {
  return formPage(
    {
      title: 'Recovery codes',
      heading: 'Make new recovery codes?',
      action: '/settings/account/recovery-codes',
      token: context.session.form_token,
      fields: html`<p>You get ten new codes. The earlier ones stop working.</p>
        ${passwordField(context, ACCOUNT_CHANGE, refusal?.error)}`,
      button: 'Make new codes',
      cancel: '/settings/account',
    },
    refusal,
  )
}

/** The page that shows recovery codes, the only time that they are shown. */
export function renderRecoveryCodes(codes: readonly string[], session: Session, title: string, text: string): PageView {
  const body = html`
    <h1>${title}</h1>
    ${notice('done', text)}
    ${notice('warning', 'The recovery codes are shown only this once. Store them in a safe place, not on the device with the authenticator app.')}
    <div class="card secret" data-once>
      <h2 id="codes-label">Recovery codes</h2>
      <p class="hint">Each one works once, in place of a code, if you lose the device with the app.</p>
      <pre><code id="codes" tabindex="0" role="textbox" aria-readonly="true" aria-multiline="true" aria-labelledby="codes-label">${codes.join('\n')}</code></pre>
      ${copyButton('codes', 'the recovery codes')}
    </div>
    <p><a class="button primary" href="/settings/account">I have stored them</a></p>
  `
  return { title, body, session }
}
