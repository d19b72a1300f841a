import type { VNode } from 'preact'
import {
  addAuthenticator,
  offerAuthenticator,
  removeAuthenticator,
  renewRecoveryCodes,
  totpUri,
} from '../../auth/accounts/second-factor.ts'
import type { Awaitable } from '../../model/awaitable.ts'
import { lazy } from '../../model/lazy.ts'
import { errorPage, notFoundPage, tooManyAttemptsPage } from '../error-pages.ts'
import { formPage } from '../form-page.ts'
import { html, renderMessage, textToCopy } from '../html.ts'
import type { Page, PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { tellingAddress } from '../told.ts'
import { reportChange } from '../alerts.ts'
import { withProof } from './re-authentication.ts'
import { codeField } from './proof-fields.ts'

const uqr = lazy(() => import('uqr'))
const PATH = '/settings/account/authenticator'

/** Begins to set up an authenticator app: shows its secret, once the person has proved their identity. */
export const authenticatorPage: Page = { path: PATH, get: begin, post: begin }

function begin(context: SignedInContext): Awaitable<PageResponse> {
  if (context.web.secretKeys.ids.length === 0) {
    const text = 'The operator of this service has to set LANEKEEPER_SECRET_KEY first: it encrypts the secret of the app.'
    return errorPage(503, 'No authenticator app can be added', text)
  }
  const isReplaced = context.protection.hasAuthenticator
  const form = {
    title: 'Authenticator app',
    heading: isReplaced ? 'Replace the authenticator app' : 'Set up an authenticator app',
    fields: html`<p>
      Any app that computes codes works, such as the one of your password manager. On the next page you scan a QR code with it and enter the
      first code. ${isReplaced && 'Your present app works until then. Your recovery codes are replaced too.'}
    </p>`,
    button: 'Continue',
    cancel: '/settings/account',
  }
  return withProof(context, form, async (proved) => renderSecret(proved, await offerAuthenticator(proved.web, proved.session)))
}

/** Adds the authenticator app when its first code has been entered, and shows the recovery codes. */
export const authenticatorCodePage: Page = {
  path: `${PATH}/code`,
  get: () => ({ redirect: PATH }),
  async post(context) {
    const { web, session, form } = context
    const wait = web.secondStep.limitCodes(session)
    if (wait > 0) return tooManyAttemptsPage(wait)
    const { secret, codes } = await addAuthenticator(web, session, form.get('code') ?? '')
    if (secret === undefined) {
      const text = 'No authenticator app was added. Start again on the page of your account.'
      return errorPage(410, 'This page has been used or has expired', text)
    }
    if (codes === undefined) {
      const error = 'The code is wrong. Check the clock of your device, and enter the code that the app shows now.'
      return renderSecret(context, secret, error)
    }
    await reportChange(context, 'authenticator_added')
    const text = 'Your authenticator app is set up. If you do not know one of your sessions, end it on the next page.'
    return renderRecoveryCodes(codes, 'Your recovery codes', text)
  },
}

/** Removes the authenticator app and its recovery codes. */
export const removeAuthenticatorPage: Page = { path: `${PATH}/remove`, get: ifPresent(remove), post: remove }

function remove(context: SignedInContext): Promise<PageResponse> {
  const form = {
    title: 'Remove the authenticator app',
    heading: 'Remove the authenticator app?',
    fields: html`<p>From then on your password alone signs you in, and your recovery codes no longer work.</p>`,
    button: 'Remove the app',
    isDanger: true,
    cancel: '/settings/account',
  }
  return withProof(context, form, async (proved) => {
    const { web, session } = proved
    if (!(await removeAuthenticator(web, session.user_id))) return { redirect: '/settings/account', audit: false }
    await reportChange(context, 'authenticator_removed')
    return { redirect: tellingAddress(proved, '/settings/account', { authenticator: '' }) }
  })
}

/** Replaces a person's recovery codes. */
export const recoveryCodesPage: Page = { path: '/settings/account/recovery-codes', get: ifPresent(renewCodes), post: renewCodes }

function renewCodes(context: SignedInContext): Promise<PageResponse> {
  const form = {
    title: 'Recovery codes',
    heading: 'Make new recovery codes?',
    fields: html`<p>You get ten new codes. The earlier ones stop working.</p>`,
    button: 'Make new codes',
    cancel: '/settings/account',
  }
  return withProof(context, form, async ({ web, session }) => {
    const codes = await renewRecoveryCodes(web, session.user_id)
    if (codes === undefined) return notFoundPage()
    await reportChange(context, 'recovery_codes_made')
    return renderRecoveryCodes(codes, 'New recovery codes', 'The earlier codes no longer work.')
  })
}

/** A page about the authenticator app of a person, who may have none. */
function ifPresent(answer: (context: SignedInContext) => Promise<PageResponse>) {
  return (context: SignedInContext) => (context.protection.hasAuthenticator ? answer(context) : notFoundPage())
}

async function renderSecret(context: SignedInContext, secret: string, error?: string): Promise<PageView> {
  const code = await qrCode(await totpUri(secret, context.session.email), 'QR code for the authenticator app')
  const spaced = secret.replaceAll(/(.{4})(?=.)/g, '$1 ')
  const refusal = error === undefined ? undefined : { error: 'The authenticator app was not added.', errors: { code: [error] } }
  return formPage(
    context,
    {
      title: 'Scan the code',
      heading: 'Scan the code with your app',
      action: `${PATH}/code`,
      fields: html`<div data-once>
          ${code}
          <p>If you cannot scan it, enter this secret in the app: <code class="spaced">${spaced}</code></p>
        </div>
        ${codeField(refusal, { label: 'First code', hint: 'The six digits that the app shows now.', inputmode: 'numeric', maxlength: 10 })}`,
      button: 'Add the app',
      cancel: '/settings/account',
      note: 'This page works for five minutes. The app does not count before its first code is accepted.',
    },
    refusal,
  )
}

/** The page that shows recovery codes, the only time that they are shown. */
function renderRecoveryCodes(codes: readonly string[], title: string, text: string): PageView {
  const body = html`
    <h1>${title}</h1>
    ${renderMessage('done', text)}
    ${renderMessage('warning', 'The recovery codes are shown only this once. Store them in a safe place, not on the device with the authenticator app.')}
    <div class="card secret" data-once>
      <h2 id="codes-label">Recovery codes</h2>
      <p class="hint">Each one works once, in place of a code, if you lose the device with the app.</p>
      ${textToCopy('codes', codes.join('\n'), 'the recovery codes')}
    </div>
    <p><a class="button primary" href="/settings/account">I have stored them</a></p>
  `
  return { title, body }
}

/** A QR code as an image in the page: dark squares on a white ground, in the dark look too, so that every camera reads it. */
async function qrCode(text: string, label: string): Promise<VNode> {
  const { renderSVG } = await uqr()
  const image = renderSVG(text, { ecc: 'M', border: 4, pixelSize: 1 })
  return html`<div class="qr" role="img" aria-label=${label} dangerouslySetInnerHTML=${{ __html: image }}></div>`
}
