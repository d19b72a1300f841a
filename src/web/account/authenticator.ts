import type { VNode } from 'preact'
import {
  addAuthenticator,
  offerAuthenticator,
  pendingSecret,
  removeAuthenticator,
  secondFactorOf,
  totpUri,
} from '../../auth/accounts/second-factor.ts'
import type { Session } from '../../model/account.ts'
import { lazy } from '../../model/lazy.ts'
import { GLOBAL } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { errorPage, notFoundPage, tooManyAttempts } from '../error-pages.ts'
import { formPage, type Refusal } from '../form-page.ts'
import { html } from '../html.ts'
import type { Page, PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { announce } from './notices.ts'
import { ACCOUNT_CHANGE, passwordField, withProof } from './re-authentication.ts'
import { renderRecoveryCodes } from './recovery-codes.ts'
import { codeField } from './proof-fields.ts'

const uqr = lazy(() => import('uqr'))

/** Begins to set up an authenticator app: shows its secret, once the person has proved their identity. */
export const authenticatorPage: Page = {
  path: '/settings/account/authenticator',
  anonymous: false,
  get: async (context) => renderStart(context),
  post: (context) =>
    withProof(
      context,
      ACCOUNT_CHANGE,
      (refusal) => renderStart(context, refusal),
      async ({ session }) => {
        const { store, clock, random } = context.web
        const secret = await transact(store, GLOBAL, random, (tx) => offerAuthenticator(tx, session, clock, random))
        return renderSecret(secret, session)
      },
    ),
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
    if (result.codes === 'refused') {
      const error = 'The code is wrong. Check the clock of your device, and enter the code that the app shows now.'
      return renderSecret(result.secret, session, error)
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
  post: (context) =>
    withProof(
      context,
      ACCOUNT_CHANGE,
      (refusal) => renderRemoval(context, refusal),
      () => remove(context),
    ),
}

async function remove(context: SignedInContext): Promise<PageResponse> {
  const { web, session, address } = context
  if (!(await transact(web.store, GLOBAL, web.random, (tx) => removeAuthenticator(tx, session.user_id))))
    return { redirect: '/settings/account', audit: false }
  web.log.info({ event: 'web.authenticator_removed', user_id: session.user_id, address }, 'authenticator app removed')
  await announce(context, 'authenticator_removed')
  return { redirect: '/settings/account?authenticator' }
}

function renderStart(context: SignedInContext, refusal?: Refusal): PageView {
  const isReplaced = context.protection?.hasAuthenticator === true
  return formPage(
    {
      title: 'Authenticator app',
      heading: isReplaced ? 'Replace the authenticator app' : 'Set up an authenticator app',
      action: '/settings/account/authenticator',
      token: context.session.form_token,
      fields: html`<p>
          Any app that computes codes works, such as the one of your password manager. On the next page you scan a QR code with it and enter
          the first code. ${isReplaced && 'Your present app works until then. Your recovery codes are replaced too.'}
        </p>
        ${passwordField(context, ACCOUNT_CHANGE, refusal?.error)}`,
      button: 'Continue',
      cancel: '/settings/account',
    },
    refusal,
  )
}

async function renderSecret(secret: string, session: Session, error?: string): Promise<PageView> {
  const code = await qrCode(await totpUri(secret, session.email), 'QR code for the authenticator app')
  const spaced = secret.replaceAll(/(.{4})(?=.)/g, '$1 ')
  const page = formPage(
    {
      title: 'Scan the code',
      heading: 'Scan the code with your app',
      action: '/settings/account/authenticator/code',
      token: session.form_token,
      fields: html`<div data-once>
          ${code}
          <p>If you cannot scan it, enter this secret in the app: <code class="spaced">${spaced}</code></p>
        </div>
        ${codeField(error, { label: 'First code', hint: 'The six digits that the app shows now.', inputmode: 'numeric', maxlength: 10 })}`,
      button: 'Add the app',
      cancel: '/settings/account',
      note: 'This page works for five minutes. The app does not count before its first code is accepted.',
    },
    error === undefined ? {} : { status: 422, error: 'The authenticator app was not added.' },
  )
  return { ...page, session }
}

function renderRemoval(context: SignedInContext, refusal?: Refusal): PageView {
  return formPage(
    {
      title: 'Remove the authenticator app',
      heading: 'Remove the authenticator app?',
      action: '/settings/account/authenticator/remove',
      token: context.session.form_token,
      fields: html`<p>From then on your password alone signs you in, and your recovery codes no longer work.</p>
        ${passwordField(context, ACCOUNT_CHANGE, refusal?.error)}`,
      button: 'Remove the app',
      isDanger: true,
      cancel: '/settings/account',
    },
    refusal,
  )
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

/** A QR code as an image in the page: dark squares on a white ground, in the dark look too, so that every camera reads it. */
async function qrCode(text: string, label: string): Promise<VNode> {
  const { encode } = await uqr()
  const { data, size } = encode(text, { ecc: 'M', border: 4 })
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label=${label} shape-rendering="crispEdges">
    <rect width=${size} height=${size} fill="#fff" />
    <path d=${squares.join('')} fill="#000" />
  </svg>`
}
