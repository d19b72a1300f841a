import type { VNode } from 'preact'
import { renewSession } from '../../auth/accounts/sessions.ts'
import { mayIssue } from '../../auth/tokens/lifecycle.ts'
import type { Session } from '../../model/account.ts'
import { limits } from '../../model/limits.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { setCookie } from '../cookies.ts'
import { tooManyAttempts } from '../error-pages.ts'
import { field } from '../html.ts'
import type { SignedInContext } from '../page-context.ts'

/** The password field, if these scopes require a recent password entry and there was none (spec §3). */
export function passwordField({ web, session }: SignedInContext, scopes: readonly string[], error?: string): VNode | undefined {
  if (mayIssue(scopes, Date.parse(session.proved_at), web.clock())) return undefined
  return field({
    name: 'password',
    label: 'Your password',
    hint: 'A token with kanban:admin requires your password, unless you entered it in the last 10 minutes.',
    error,
    type: 'password',
    autocomplete: 'current-password',
    required: true,
    maxlength: limits.passwordLongest,
  })
}

/** A token may be issued now. The session is a new one if the password was entered again. */
export interface Reauthenticated {
  readonly session: Session
}
/** No token may be issued now. */
export interface NotReauthenticated {
  readonly error: string
  readonly status: number
  readonly headers?: Record<string, string>
}

/**
 * Verifies that the person who sent a form entered their password as recently as these scopes require. If not, the
 * form must contain the password, and the session is renewed.
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
  const failure = isRecent ? undefined : await checkPassword(context)
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

/** @returns undefined if the form contains the right password */
async function checkPassword({ web, session, form, requestId, address }: SignedInContext): Promise<NotReauthenticated | undefined> {
  const password = form.get('password')
  if (password === null) return { status: 403, error: 'Enter your password to continue.' }
  const result = await web.signIn.verifyPassword(session, password)
  const members = { user_id: session.user_id, request_id: requestId, address }
  if (result === 'verified') {
    web.log.info({ event: 'web.reauthenticated', ...members }, 're-authenticated')
    return undefined
  }
  if (result === 'refused') {
    web.log.warn({ event: 'web.reauthentication_refused', ...members }, 're-authentication refused')
    return { status: 403, error: 'The password is wrong. Try again.' }
  }
  web.log.warn({ event: 'web.reauthentication_throttled', ...members }, 're-authentication throttled')
  return { status: 429, ...tooManyAttempts(result.retryAfterMs) }
}
