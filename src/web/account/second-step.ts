import { assertionOptions, readAssertion, relyingParty } from '../../auth/accounts/passkeys.ts'
import type { Entry, PasswordEntry, Visit } from '../../auth/accounts/entry.ts'
import { networkOf } from '../../http/client-address.ts'
import { durations } from '../../model/durations.ts'
import { DAY } from '../../model/time.ts'
import { cookieName, setCookie } from '../cookies.ts'
import { tooManyAttempts } from '../error-pages.ts'
import { anonymousFormToken } from '../forms.ts'
import { formPage, type Refusal } from '../form-page.ts'
import { html } from '../html.ts'
import type { Page, PageContext, PageResponse, PageView } from '../page-context.ts'
import { forgetReturn, returnPath } from '../return-path.ts'
import { announce, mailNotice } from './notices.ts'
import { NO_PASSKEYS, tooManyChallenges } from './passkeys.ts'
import { codeField } from './proof-fields.ts'

/** How long the device cookie is kept: a year, in seconds. */
export const DEVICE_COOKIE_AGE = (365 * DAY) / 1000
/** How long the browser keeps the challenge to the second factor, in seconds. */
const CHALLENGE_COOKIE_AGE = durations.challenge / 1000
const PATH = '/settings/sign-in/second-factor'
const EXPIRED = '/settings/sign-in?late'

/** The browser of a request, for an attempt to sign in. */
export function visitOf({ address, agent, cookies, origin, session }: PageContext): Visit {
  return { network: networkOf(address), agent, device: cookies.get(cookieName('device', origin)), currentSession: session?.hash }
}

/** The response to a person who has signed in. */
function welcome(context: PageContext, entry: Entry): PageResponse {
  const { web, origin, requestId, address } = context
  web.log.info({ event: 'web.signed_in', user_id: entry.userId, request_id: requestId, address }, 'signed in')
  if (entry.notice !== undefined) mailNotice(context, entry.session.email, entry.notice)
  return {
    audit: { operation: 'web.sign_in', userId: entry.userId },
    redirect: returnPath(context) ?? '/settings/tokens',
    cookies: [
      ...forgetReturn(context),
      setCookie('session', entry.secret, origin),
      setCookie('device', entry.device, origin, DEVICE_COOKIE_AGE),
      setCookie('form', '', origin, 0),
    ],
  }
}

/** The response to a person whose password is right or was just chosen: they are signed in, or asked for a code. */
export function passPassword(context: PageContext, entry: PasswordEntry): PageResponse {
  if (entry.result === 'signed_in') return welcome(context, entry)
  return {
    redirect: PATH,
    cookies: [setCookie('second_factor', entry.challenge, context.origin, CHALLENGE_COOKIE_AGE)],
    // The client knows the password.
    audit: { operation: 'web.sign_in.password', userId: entry.userId },
  }
}

/** Asks for the code of a person whose password was right. */
export const secondStepPage: Page = {
  path: PATH,
  anonymous: true,
  get: async (context) => (challengeOf(context) === undefined ? { redirect: '/settings/sign-in' } : renderCode(context)),
  async post(context) {
    const { web, form, requestId, address, origin } = context
    const challenge = challengeOf(context)
    if (challenge === undefined) return { redirect: EXPIRED }
    const formToken = form.get('form_token')!
    const attempt = await web.secondStep.attemptCode({ challenge, formToken, code: form.get('code') ?? '', ...visitOf(context) })
    if (attempt.result === 'expired') return { redirect: EXPIRED, cookies: [setCookie('second_factor', '', origin, 0)] }
    const members = { user_id: attempt.userId, request_id: requestId, address }
    if (attempt.result === 'throttled') {
      web.log.warn({ event: 'web.second_factor_throttled', ...members }, 'second factor throttled')
      return renderCode(context, { status: 429, ...tooManyAttempts(attempt.retryAfterMs) })
    }
    if (attempt.result === 'refused') {
      web.log.warn({ event: 'web.second_factor_refused', ...members }, 'second factor refused')
      const page = renderCode(context, { status: 401, error: 'The code is wrong, or it was used before. Wait for the next one.' })
      return { ...page, audit: { operation: 'web.sign_in.second_factor', userId: attempt.userId } }
    }
    if (attempt.used === 'recovery') await announce({ ...context, session: attempt.session }, 'recovery_code_used')
    const response = welcome(context, attempt)
    return { ...response, cookies: [...(response.cookies ?? []), setCookie('second_factor', '', origin, 0)] }
  },
}

function challengeOf({ cookies, origin }: PageContext): string | undefined {
  return cookies.get(cookieName('second_factor', origin))
}

function renderCode(context: PageContext, refusal: Refusal = {}): PageView {
  const { token, cookies } = anonymousFormToken(context)
  const page = formPage(
    {
      title: 'Enter a code',
      action: PATH,
      token,
      fields: codeField(refusal.error, { autofocus: true }),
      button: 'Sign in',
      below: html`<p class="hint">
          You have five minutes. If you lost the device with the app and the recovery codes, ask your administrator.
        </p>
        <p><a href="/settings/sign-in">Start again</a></p>`,
    },
    refusal,
  )
  return { ...page, cookies }
}

/** The challenge with which a browser asks any passkey for this service. */
export const signInChallengePage: Page = {
  path: '/settings/sign-in/passkey-challenge',
  anonymous: true,
  async post({ web, form, origin, address }) {
    const party = relyingParty(origin)
    if (party === undefined) return NO_PASSKEYS
    const members = { purpose: 'sign_in', userId: null, formToken: form.get('form_token')! } as const
    const result = await web.secondStep.challenge(networkOf(address), members)
    return 'retryAfterMs' in result ? tooManyChallenges(result.retryAfterMs) : { json: await assertionOptions(party, result.challenge) }
  },
}

/** Signs a person in with a passkey. @param renderSignIn the page with an error */
export function passkeySignInPage(renderSignIn: (context: PageContext, refusal: Refusal) => PageView): Page {
  return {
    path: '/settings/sign-in/passkey',
    anonymous: true,
    get: async () => ({ redirect: '/settings/sign-in' }),
    async post(context) {
      const { web, form, origin, requestId, address } = context
      const [party, assertion] = [relyingParty(origin), readAssertion(form.get('passkey') ?? '')]
      const attempt =
        party && assertion
          ? await web.secondStep.attemptPasskey({ party, assertion, formToken: form.get('form_token')! }, visitOf(context))
          : ({ result: 'refused', userId: undefined } as const)
      if (attempt.result === 'signed_in') return welcome(context, attempt)
      web.log.warn(
        { event: `web.sign_in_${attempt.result}`, user_id: attempt.userId, request_id: requestId, address, passkey: true },
        'sign-in refused',
      )
      if (attempt.result === 'throttled') return renderSignIn(context, { status: 429, ...tooManyAttempts(attempt.retryAfterMs) })
      const page = renderSignIn(context, { status: 401, error: 'The passkey was not accepted. Try again, or use your password.' })
      return { ...page, audit: { operation: 'web.sign_in.passkey', userId: attempt.userId } }
    },
  }
}
