import {
  addAuthenticator,
  offerAuthenticator,
  pendingSecret,
  removeAuthenticator,
  secondFactorOf,
} from '../../auth/accounts/second-factor.ts'
import { totpUri } from '../../auth/accounts/totp.ts'
import type { Session } from '../../model/account.ts'
import { GLOBAL } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { errorPage, notFoundPage, sessionChangedPage, tooManyAttempts } from '../error-pages.ts'
import { html, notice } from '../html.ts'
import type { Page, PageView, SignedInContext } from '../page-context.ts'
import { codeField } from './code-field.ts'
import { announce } from './notices.ts'
import { qrCode } from './qr-code.ts'
import { ACCOUNT_CHANGE, passwordField, reauthenticate } from './re-authentication.ts'
import { renderRecoveryCodes } from './recovery-codes.ts'

interface Outcome {
  readonly status?: number
  readonly error?: string
  readonly headers?: Record<string, string>
}

/** Begins to set up an authenticator app: shows its secret, once the person has proved their identity. */
export const authenticatorPage: Page = {
  path: '/settings/account/authenticator',
  anonymous: false,
  get: async (context) => renderStart(context),
  async post(context) {
    const { web } = context
    const proof = await reauthenticate(context, ACCOUNT_CHANGE)
    if (proof === 'no_session' || proof === 'refused') return sessionChangedPage()
    if ('error' in proof) return renderStart(context, proof)
    const secret = await transact(web.store, GLOBAL, web.random, (tx) => offerAuthenticator(tx, proof.session, web.clock, web.random))
    return renderSecret(secret, proof.session)
  },
}

/** Adds the authenticator app when its first code has been entered, and shows the recovery codes. */
export const authenticatorCodePage: Page = {
  path: '/settings/account/authenticator/code',
  anonymous: false,
  get: async () => ({ redirect: '/settings/account/authenticator' }),
  async post(context) {
    const { web, session, form, address } = context
    const wait = web.secondStep.limitCodes(session)
    if (wait > 0) return renderWaiting(wait)
    const result = await transact(web.store, GLOBAL, web.random, async (tx) => {
      const secret = pendingSecret(await secondFactorOf(tx, session.user_id), session, web.clock)
      return { secret, codes: await addAuthenticator(tx, session, form.get('code') ?? '', web.clock, web.random) }
    })
    if (result.secret === undefined || result.codes === undefined) return renderExpired()
    if (result.codes === 'refused')
      return {
        ...(await renderSecret(
          result.secret,
          session,
          'The code is wrong. Check the clock of your device, and enter the code that the app shows now.',
        )),
        status: 422,
      }
    web.log.info({ event: 'web.authenticator_added', user_id: session.user_id, address }, 'authenticator app added')
    await announce(context, 'authenticator_added')
    const text = 'Your authenticator app is set up. If you do not know one of your sessions, end it on the next page.'
    return renderRecoveryCodes(result.codes, session, 'Your recovery codes', text)
  },
}

/** Removes the authenticator app and its recovery codes. */
export const removeAuthenticatorPage: Page = {
  path: '/settings/account/authenticator/remove',
  anonymous: false,
  get: async (context) => (context.protection?.hasAuthenticator === true ? renderRemoval(context) : notFoundPage()),
  async post(context) {
    const { web, session, address } = context
    const proof = await reauthenticate(context, ACCOUNT_CHANGE)
    if (proof === 'no_session' || proof === 'refused') return sessionChangedPage()
    if ('error' in proof) return renderRemoval(context, proof)
    if (!(await transact(web.store, GLOBAL, web.random, (tx) => removeAuthenticator(tx, session.user_id))))
      return { redirect: '/settings/account', audit: false }
    web.log.info({ event: 'web.authenticator_removed', user_id: session.user_id, address }, 'authenticator app removed')
    await announce(context, 'authenticator_removed')
    return { redirect: '/settings/account?authenticator' }
  },
}

function renderStart(context: SignedInContext, { status = 200, error, headers = {} }: Outcome = {}): PageView {
  const isReplaced = context.protection?.hasAuthenticator === true
  const body = html`
    <h1>${isReplaced ? 'Replace the authenticator app' : 'Set up an authenticator app'}</h1>
    ${error && notice('error', error)}
    <form method="post" action="/settings/account/authenticator" class="card">
      <input type="hidden" name="form_token" value=${context.session.form_token} />
      <p>
        Any app that computes codes works, such as the one of your password manager. On the next page you scan a QR code with it and enter
        the first code. ${isReplaced && 'Your present app works until then. Your recovery codes are replaced too.'}
      </p>
      ${passwordField(context, ACCOUNT_CHANGE, error)}
      <p class="actions"><button class="primary">Continue</button> <a class="button" href="/settings/account">Cancel</a></p>
    </form>
  `
  return { title: 'Authenticator app', body, status, headers }
}

async function renderSecret(secret: string, session: Session, error?: string): Promise<PageView> {
  const code = await qrCode(await totpUri(secret, session.email), 'QR code for the authenticator app')
  const body = html`
    <h1>Scan the code with your app</h1>
    ${error && notice('error', 'The authenticator app was not added.')}
    <form method="post" action="/settings/account/authenticator/code" class="card">
      <input type="hidden" name="form_token" value=${session.form_token} />
      <div data-once>
        ${code}
        <p>If you cannot scan it, enter this secret in the app: <code class="spaced">${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p>
      </div>
      ${codeField(error, { label: 'First code', hint: 'The six digits that the app shows now.', inputmode: 'numeric', maxlength: 10 })}
      <p class="actions"><button class="primary">Add the app</button> <a class="button" href="/settings/account">Cancel</a></p>
      <p class="hint">This page works for five minutes. The app does not count before its first code is accepted.</p>
    </form>
  `
  return { title: 'Scan the code', body, session }
}

function renderRemoval(context: SignedInContext, { status = 200, error, headers = {} }: Outcome = {}): PageView {
  const body = html`
    <h1>Remove the authenticator app?</h1>
    ${error && notice('error', error)}
    <form method="post" action="/settings/account/authenticator/remove" class="card">
      <input type="hidden" name="form_token" value=${context.session.form_token} />
      <p>From then on your password alone signs you in, and your recovery codes no longer work.</p>
      ${passwordField(context, ACCOUNT_CHANGE, error)}
      <p class="actions"><button class="primary danger">Remove the app</button> <a class="button" href="/settings/account">Cancel</a></p>
    </form>
  `
  return { title: 'Remove the authenticator app', body, status, headers }
}

function renderExpired(): PageView {
  return errorPage(
    410,
    'This page has been used or has expired',
    'No authenticator app was added. Start again on the page of your account.',
  )
}

function renderWaiting(wait: number): PageView {
  const { error, headers } = tooManyAttempts(wait)
  return errorPage(429, 'Too many attempts', error, headers)
}
