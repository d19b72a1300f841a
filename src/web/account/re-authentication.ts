import type { VNode } from 'preact'
import { readAssertion, relyingParty } from '../../auth/accounts/passkeys.ts'
import { renewSession } from '../../auth/accounts/sessions.ts'
import { mayIssue } from '../../auth/tokens/lifecycle.ts'
import type { Session } from '../../model/account.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { setCookie } from '../cookies.ts'
import { sessionChangedPage, tooManyAttempts } from '../error-pages.ts'
import { html } from '../html.ts'
import type { Refusal } from '../form-page.ts'
import type { PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { codeField, passkeyButton, presentPassword } from './proof-fields.ts'

/** Changes of an account require a proof as recent as that of a token with this scope. */
export const ACCOUNT_CHANGE: readonly string[] = ['kanban:admin']
const TOKEN_HINT = 'A token with kanban:admin requires your password, unless you entered it in the last 10 minutes.'
const ACCOUNT_HINT = 'This requires your password, unless you entered it in the last 10 minutes.'
const CODE_REFUSED = 'The code is wrong, or it was used before. Wait for the next one.'

/**
 * The fields of a proof, if these scopes require a recent one and there was none (spec §3): the password, the code of an
 * authenticator app if the person has one, and a button that uses a passkey instead.
 */
export function passwordField(context: SignedInContext, scopes: readonly string[], error?: string): VNode | undefined {
  const { web, session, protection, origin } = context
  if (mayIssue(scopes, Date.parse(session.proved_at), web.clock())) return undefined
  const isOfCode = error === CODE_REFUSED
  const hint = scopes === ACCOUNT_CHANGE ? ACCOUNT_HINT : TOKEN_HINT
  const password = presentPassword('password', 'Your password', isOfCode ? undefined : error, hint)
  const hasPasskey = (protection?.passkeys ?? 0) > 0 && relyingParty(origin) !== undefined
  if (protection?.hasAuthenticator !== true && !hasPasskey) return password
  return html`<div class="proof">
    ${password} ${protection?.hasAuthenticator === true && codeField(isOfCode ? error : undefined)}
    ${hasPasskey && passkeyButton({ purpose: 'prove', field: 'passkey', label: 'Use a passkey instead' })}
  </div>`
}

/** A token may be issued now. The session is a new one if the person proved their identity again. */
export interface Reauthenticated {
  readonly session: Session
}
/** No token may be issued now. */
export interface NotReauthenticated extends Refusal {
  readonly error: string
  readonly status: number
}

/**
 * Does what requires a recent proof.
 * @param ask the page that asks for it
 */
export async function withProof(
  context: SignedInContext,
  scopes: readonly string[],
  ask: (refusal: NotReauthenticated) => PageView | Promise<PageView>,
  run: (proof: Reauthenticated) => Promise<PageResponse>,
): Promise<PageResponse> {
  const proof = await reauthenticate(context, scopes)
  if (proof === 'no_session' || proof === 'refused') return sessionChangedPage()
  return 'error' in proof ? ask(proof) : run(proof)
}

/**
 * Verifies that the person who sent a form proved their identity as recently as these scopes require. If not, the
 * form must contain the proof, and the session is renewed.
 * @param update changes the session in the same commit; if it returns undefined, nothing is changed
 * @returns `no_session` if the session no longer exists, `refused` if `update` returned undefined
 */
export async function reauthenticate(
  context: SignedInContext,
  scopes: readonly string[],
  update: (session: Session) => Session | undefined = (session) => session,
): Promise<Reauthenticated | NotReauthenticated | 'no_session' | 'refused'> {
  const { web, session, origin, pendingCookies } = context
  const isRecent = mayIssue(scopes, Date.parse(session.proved_at), web.clock())
  const failure = isRecent ? undefined : await checkProof(context)
  if (failure !== undefined) return failure
  const result = await transact(web.store, GLOBAL, web.random, async (tx) => {
    const stored = await tx.get(keys.session(session.hash))
    if (stored === undefined) return 'no_session'
    const updated = update(stored)
    if (updated === undefined) return 'refused'
    if (!isRecent) return renewSession(tx, updated, web.clock, web.random)
    if (updated !== stored) tx.put(keys.session(session.hash), updated)
    return { session: updated, secret: undefined }
  })
  if (result === 'no_session' || result === 'refused') return result
  if (result.secret !== undefined) pendingCookies.push(setCookie('session', result.secret, origin))
  return { session: result.session }
}

/** Checks the proof in a form. @returns undefined if it is accepted */
function checkProof(context: SignedInContext): Promise<NotReauthenticated | undefined> {
  const passkey = context.form.get('passkey') ?? ''
  return passkey === '' ? checkPassword(context, context.form.get('password')) : checkPasskey(context, passkey)
}

/**
 * Checks the password of the person who is signed in, and a code if they have an authenticator app.
 * @returns undefined if they are right
 */
export async function checkPassword(
  { web, session, form, requestId, address }: SignedInContext,
  password: string | null,
  withCode = true,
): Promise<NotReauthenticated | undefined> {
  if (password === null) return { status: 403, error: 'Enter your password to continue.' }
  const result = await web.signIn.verifyPassword(session, password, withCode ? (form.get('code') ?? '') : null)
  const members = { user_id: session.user_id, request_id: requestId, address }
  if (result === 'verified') {
    web.log.info({ event: 'web.reauthenticated', ...members }, 're-authenticated')
    return undefined
  }
  if (result === 'refused' || result === 'code_refused') {
    web.log.warn({ event: 'web.reauthentication_refused', ...members }, 're-authentication refused')
    return { status: 403, error: result === 'refused' ? 'The password is wrong. Try again.' : CODE_REFUSED }
  }
  web.log.warn({ event: 'web.reauthentication_throttled', ...members }, 're-authentication throttled')
  return { status: 429, ...tooManyAttempts(result.retryAfterMs) }
}

async function checkPasskey(
  { web, session, origin, requestId, address }: SignedInContext,
  text: string,
): Promise<NotReauthenticated | undefined> {
  const [party, assertion] = [relyingParty(origin), readAssertion(text)]
  const isProved =
    party !== undefined &&
    assertion !== undefined &&
    (await web.secondStep.provePasskey({ party, formToken: session.form_token, assertion }, session))
  const members = { user_id: session.user_id, request_id: requestId, address, passkey: true }
  if (isProved) {
    web.log.info({ event: 'web.reauthenticated', ...members }, 're-authenticated')
    return undefined
  }
  web.log.warn({ event: 'web.reauthentication_refused', ...members }, 're-authentication refused')
  return { status: 403, error: 'The passkey was not accepted. Try again, or enter your password.' }
}
