import type { VNode } from 'preact'
import { readAnswer, relyingParty } from '../../auth/accounts/passkeys.ts'
import { renewSession } from '../../auth/accounts/sessions.ts'
import { mayIssue } from '../../auth/tokens/lifecycle.ts'
import type { Session } from '../../model/account.ts'
import type { Awaitable } from '../../model/awaitable.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { setSessionCookie } from '../cookies.ts'
import { sessionChangedPage, tooManyAttempts } from '../error-pages.ts'
import { html } from '../html.ts'
import { formPage, type FormPage, type Refusal } from '../form-page.ts'
import type { PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { addressOf, keptFields } from '../return-path.ts'
import { proofButton } from './provider-button.ts'
import { codeField, passkeyButton, presentPassword } from './proof-fields.ts'

/** Changes of an account require a proof as recent as a token with this scope does. */
const ACCOUNT_CHANGE: readonly string[] = ['kanban:admin']
const TOKEN_HINT = 'A token with kanban:admin requires your password, unless you entered it in the last 10 minutes.'
const ACCOUNT_HINT = 'This requires your password, unless you entered it in the last 10 minutes.'

/** What a person is told whose proof was not accepted. */
const refusals = {
  refused: 'The password is wrong. Try again.',
  code_refused: 'The code is wrong, or it was used before. Wait for the next one.',
  passkey_refused: 'The passkey was not accepted. Try again, or enter your password.',
}

/** Why a proof was not accepted. */
type RefusedProof = Refusal & { readonly error: string }

/** A form that requires a recent proof. */
export interface ProofForm extends FormPage {
  /** the scopes of a token that is issued; default: the account is changed */
  readonly scopes?: readonly string[]
}

/** Whether the person proved their identity as recently as a change of the account, or a token with these scopes, requires. */
export function isProved({ web, session }: SignedInContext, scopes = ACCOUNT_CHANGE): boolean {
  return mayIssue(scopes, Date.parse(session.proved_at), web.clock())
}

/** Whether the provider says who the person is: they have signed in with it, or have no password here. */
function isProvedByProvider({ web, session }: SignedInContext): boolean {
  return web.provider !== undefined && (session.way === 'provider' || !web.hasPasswords)
}

/** The page of a form that requires a recent proof. It asks for the proof below the fields of the form. */
export function proofPage(context: SignedInContext, { scopes, fields, ...page }: ProofForm, refusal?: Refusal): PageView {
  return formPage(context, { ...page, fields: html`${fields} ${proofFields(context, scopes, refusal?.error)}` }, refusal)
}

/** A session with a recent proof. Its response has the session, which may be a new one. */
export interface Proved {
  readonly context: SignedInContext
}

/**
 * Requires a recent proof: the session's, or the one in the form, which renews the session.
 * @param update changes the session in the same commit; if it returns a page, nothing is changed, and this page is the response
 */
export async function requireProof(
  context: SignedInContext,
  scopes?: readonly string[],
  update: (session: Session) => Session | PageView = (session) => session,
): Promise<Proved | RefusedProof | PageView> {
  const { web } = context
  const isRecent = isProved(context, scopes)
  if (!isRecent && isProvedByProvider(context)) return { status: 403, error: 'Sign in again to continue.' }
  const refusal = isRecent ? undefined : await checkProof(context)
  if (refusal !== undefined) return refusal
  const result = await transact(web.store, GLOBAL, web.random, async (tx) => {
    const stored = await tx.get(keys.session(context.session.hash))
    if (stored === undefined) return sessionChangedPage()
    const session = update(stored)
    if ('title' in session) return session
    if (!isRecent) return renewSession(tx, session, web)
    if (session !== stored) tx.put(keys.session(session.hash), session)
    return { session, secret: undefined }
  })
  if ('title' in result) return result
  const { session, secret } = result
  if (secret !== undefined) setSessionCookie(context, { secret, session })
  return { context: { ...context, session } }
}

/**
 * The fields of a proof, if these scopes require a recent one and there was none (spec §3): the password, the code of an
 * authenticator app if the person has one, and a button that uses a passkey instead.
 */
function proofFields(context: SignedInContext, scopes = ACCOUNT_CHANGE, error?: string): VNode | undefined {
  const { protection, origin } = context
  if (isProved(context, scopes)) return undefined
  if (isProvedByProvider(context)) {
    const { web, path, query, form, keeps, request } = context
    return proofButton(web.provider!, addressOf(path, request.method === 'POST' ? keptFields(form, keeps) : query))
  }
  const refusal = error === undefined ? undefined : { errors: { [error === refusals.code_refused ? 'code' : 'password']: [error] } }
  const hint = scopes === ACCOUNT_CHANGE ? ACCOUNT_HINT : TOKEN_HINT
  const password = presentPassword('password', 'Your password', refusal, hint)
  const hasPasskey = protection.passkeys > 0 && relyingParty(origin) !== undefined
  if (!protection.hasAuthenticator && !hasPasskey) return password
  return html`<div class="proof">
    ${password} ${protection.hasAuthenticator && codeField(refusal)}
    ${hasPasskey && passkeyButton({ purpose: 'prove', field: 'passkey', label: 'Use a passkey instead' })}
  </div>`
}

/**
 * Answers a form that requires a recent proof: GET shows it, and POST does what it is for. Without a recent proof the form must contain
 * one, and the session is renewed.
 * @param run gets the context with the renewed session, which its response has too
 * @param update changes the session in the same commit; if it returns a page, nothing is changed, and this page is the response
 */
export async function withProof(
  context: SignedInContext,
  form: ProofForm,
  run: (context: SignedInContext) => Awaitable<PageResponse>,
  update: (session: Session) => Session | PageView = (session) => session,
): Promise<PageResponse> {
  if (context.request.method !== 'POST') return proofPage(context, form)
  const proved = await requireProof(context, form.scopes, update)
  if ('title' in proved) return proved
  if (!('context' in proved)) return proofPage(context, form, proved)
  const { session } = proved.context
  return { session, ...(await run(proved.context)) }
}

/**
 * Checks the proof in a form.
 * @returns undefined if it is accepted
 */
async function checkProof(context: SignedInContext): Promise<RefusedProof | undefined> {
  const { web, session, origin, form } = context
  const answer = form.get('passkey') ?? ''
  if (answer === '') return checkPassword(context, form.get('password'))
  const assertion = readAnswer(answer, origin)
  const isAccepted = assertion !== undefined && (await web.secondStep.provePasskey({ assertion, formToken: session.form_token }, session))
  return report(context, isAccepted ? 'verified' : 'passkey_refused', { passkey: true })
}

/**
 * Checks the password of the person who is signed in, and a code if they have an authenticator app.
 * @returns undefined if they are right
 */
export async function checkPassword(context: SignedInContext, password: string | null, withCode = true): Promise<RefusedProof | undefined> {
  if (password === null) return { status: 403, error: 'Enter your password to continue.' }
  const { web, session, form } = context
  return report(context, await web.signIn.verifyPassword(session, password, withCode ? (form.get('code') ?? '') : null))
}

/**
 * Logs the result of a proof.
 * @returns what its person is told; undefined if it is accepted
 */
function report(
  { web, session, requestId, address }: SignedInContext,
  result: 'verified' | keyof typeof refusals | { readonly retryAfterMs: number },
  more: object = {},
): RefusedProof | undefined {
  const members = { user_id: session.user_id, request_id: requestId, address, ...more }
  if (result === 'verified') {
    web.log.info({ event: 'web.reauthenticated', ...members }, 're-authenticated')
    return undefined
  }
  if (typeof result === 'string') {
    web.log.warn({ event: 'web.reauthentication_refused', ...members }, 're-authentication refused')
    return { status: 403, error: refusals[result] }
  }
  web.log.warn({ event: 'web.reauthentication_throttled', ...members }, 're-authentication throttled')
  return tooManyAttempts(result.retryAfterMs)
}
