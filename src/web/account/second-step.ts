import type { PasswordEntry, Visit } from '../../auth/accounts/entry.ts'
import type { FailedAttempt } from '../../auth/accounts/sign-in.ts'
import { networkOf } from '../../http/client-address.ts'
import { durations } from '../../model/durations.ts'
import { DAY } from '../../model/time.ts'
import { cookieOf, setCookie, setSessionCookie } from '../cookies.ts'
import { tooManyAttempts } from '../error-pages.ts'
import { anonymousFormToken } from '../forms.ts'
import { formPage, type Refusal } from '../form-page.ts'
import { html } from '../html.ts'
import type { Page, PageContext, PageResponse, PageView } from '../page-context.ts'
import { forgetReturn, returnPath } from '../return-path.ts'
import { tellingAddress } from '../told.ts'
import { announce, mailAlert } from '../alerts.ts'
import { codeField } from './proof-fields.ts'

/** How long the device cookie is kept: a year, in seconds. */
export const DEVICE_COOKIE_AGE = (365 * DAY) / 1000
/** How long the browser keeps the challenge to the second factor, in seconds. */
const CHALLENGE_COOKIE_AGE = durations.challenge / 1000
const PATH = '/settings/sign-in/second-factor'

/** The browser of a request, for an attempt to sign in. */
export function visitOf(context: PageContext): Visit {
  const { address, agent, session } = context
  return { network: networkOf(address), agent, device: cookieOf(context, 'device'), currentSession: session?.hash }
}

/** What an attempt to sign in has led to. */
export type Attempted = PasswordEntry | FailedAttempt

/** How a page of signing in answers an attempt. */
interface AttemptPage {
  /** what the log calls the attempt */
  readonly what: 'sign_in' | 'second_factor'
  /** what the audit trail calls a refused one */
  readonly operation: string
  /** what the person is told if it is refused */
  readonly error: string
  /** the page that asks again */
  readonly ask: (refusal: Refusal) => PageView
  /** for the log */
  readonly members?: object
}

/** The response to an attempt to sign in: the person is signed in, asked for a code, or asked again. */
export function answerAttempt(
  context: PageContext,
  attempt: Attempted,
  { what, operation, error, ask, members }: AttemptPage,
): PageResponse {
  const { web, requestId, address } = context
  const { result, userId } = attempt
  if (result === 'signed_in' || result === 'second_factor') return passPassword(context, attempt)
  const event = { event: `web.${what}_${result}`, user_id: userId, request_id: requestId, address, ...members }
  web.log.warn(event, `${what === 'sign_in' ? 'sign-in' : 'second factor'} ${result}`)
  if (result === 'throttled') return ask(tooManyAttempts(attempt.retryAfterMs))
  return { ...ask({ status: 401, error }), audit: { operation, userId } }
}

/**
 * The response to a person whose identity is proved, or whose password is right or was just chosen: they are signed in, or asked for a
 * code.
 */
export function passPassword(context: PageContext, entry: PasswordEntry): PageResponse {
  const { web, url, requestId, address } = context
  const { userId } = entry
  if (entry.result === 'second_factor') {
    setCookie(context, 'second_factor', entry.challenge, CHALLENGE_COOKIE_AGE)
    // The client knows the password.
    return { redirect: PATH, audit: { operation: 'web.sign_in.password', userId } }
  }
  web.log.info({ event: 'web.signed_in', user_id: userId, request_id: requestId, address }, 'signed in')
  if (entry.alert !== undefined) mailAlert(web.mail, url, entry.account, entry.alert)
  forgetReturn(context)
  setSessionCookie(context, entry)
  setCookie(context, 'device', entry.device, DEVICE_COOKIE_AGE)
  setCookie(context, 'form', '', 0)
  return { audit: { operation: 'web.sign_in', userId }, redirect: returnPath(context) ?? '/settings/tokens' }
}

/** Asks for the code of a person whose password was right. */
export const secondStepPage: Page = {
  path: PATH,
  anonymous: true,
  get: (context) => (cookieOf(context, 'second_factor') === undefined ? { redirect: '/settings/sign-in' } : renderCode(context)),
  async post(context) {
    const { web, form } = context
    const challenge = cookieOf(context, 'second_factor')
    const expired = tellingAddress(context, '/settings/sign-in', { late: '' })
    if (challenge === undefined) return { redirect: expired }
    const formToken = form.get('form_token')!
    const attempt = await web.secondStep.attemptCode({ challenge, formToken, code: form.get('code') ?? '', ...visitOf(context) })
    if (attempt.result === 'expired' || attempt.result === 'signed_in') setCookie(context, 'second_factor', '', 0)
    if (attempt.result === 'expired') return { redirect: expired }
    if (attempt.result === 'signed_in' && attempt.used === 'recovery')
      await announce({ ...context, session: attempt.session }, 'recovery_code_used')
    return answerAttempt(context, attempt, {
      what: 'second_factor',
      operation: 'web.sign_in.second_factor',
      error: 'The code is wrong, or it was used before. Wait for the next one.',
      ask: (refusal) => renderCode(context, refusal),
    })
  },
}

function renderCode(context: PageContext, refusal?: Refusal): PageView {
  return formPage(
    context,
    {
      title: 'Enter a code',
      token: anonymousFormToken(context),
      fields: codeField(refusal && { errors: { code: [refusal.error!] } }),
      button: 'Sign in',
      below: html`<p class="hint">
          You have five minutes. If you lost the device with the app and the recovery codes, ask your administrator.
        </p>
        <p><a href="/settings/sign-in">Start again</a></p>`,
    },
    refusal,
  )
}
