import { z } from 'zod'
import { changePassword } from '../../auth/accounts/change-password.ts'
import { weaknessOf } from '../../auth/accounts/new-password.ts'
import { mayIssue } from '../../auth/tokens/lifecycle.ts'
import { newPassword } from '../../model/account.ts'
import { limits } from '../../model/limits.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { setCookie } from '../cookies.ts'
import { sessionChangedPage } from '../error-pages.ts'
import { formPage, type Refusal } from '../form-page.ts'
import { html } from '../html.ts'
import type { Page, PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { announce } from './notices.ts'
import { ACCOUNT_CHANGE, checkPassword } from './re-authentication.ts'
import { DEVICE_COOKIE_AGE } from './second-step.ts'
import { codeField, newPasswordFields, presentPassword } from './proof-fields.ts'

const input = z
  .object({ present: z.string().max(limits.passwordLongest, 'is wrong'), password: newPassword, again: z.string() })
  .refine(({ password, again }) => password === again, { path: ['again'], message: 'must be the same as the new password' })
  .refine(({ password, present }) => password !== present, { path: ['password'], message: 'must differ from the present one' })
type FieldErrors = Readonly<Partial<Record<'present' | 'password' | 'again' | 'code', readonly string[]>>>

/** Changes a person's password. It asks for the present one each time, and for a code if none was entered a short time ago. */
export const passwordPage: Page = {
  path: '/settings/account/password',
  anonymous: false,
  get: async (context) => renderPassword(context),
  async post(context) {
    const parsed = input.safeParse(Object.fromEntries(context.form))
    if (!parsed.success) return renderPassword(context, { status: 422, errors: z.flattenError(parsed.error).fieldErrors })
    const { present, password } = parsed.data
    const failure = await checkPassword(context, present, needsCode(context))
    if (failure !== undefined) {
      const { error, ...rest } = failure
      return renderPassword(context, { ...rest, errors: error.startsWith('The code') ? { code: [error] } : { present: [error] } })
    }
    const weakness = await weaknessOf(password, await personOf(context))
    if (weakness !== undefined) return renderPassword(context, { status: 422, errors: { password: [weakness] } })
    return change(context, password)
  },
}

function needsCode({ web, session, protection }: SignedInContext): boolean {
  return protection?.hasAuthenticator === true && !mayIssue(ACCOUNT_CHANGE, Date.parse(session.proved_at), web.clock())
}

async function personOf({ web, session }: SignedInContext): Promise<{ email: string; name: string }> {
  const user = await transact(web.store, GLOBAL, web.random, (tx) => tx.get(keys.user(session.user_id)))
  return { email: session.email, name: user?.display_name ?? '' }
}

async function change(context: SignedInContext, password: string): Promise<PageResponse> {
  const { web, session, origin, address } = context
  const changed = await changePassword(web, { session, passwordHash: await web.passwords.hash(password) })
  if (changed === undefined) return sessionChangedPage()
  web.log.info({ event: 'web.password_changed', user_id: session.user_id, address }, 'password changed')
  await announce(context, 'password_changed')
  return {
    redirect: '/settings/account?password',
    cookies: [setCookie('session', changed.secret, origin), setCookie('device', changed.device, origin, DEVICE_COOKIE_AGE)],
  }
}

function renderPassword(context: SignedInContext, { errors = {}, ...refusal }: Refusal & { errors?: FieldErrors } = {}): PageView {
  const { email, form_token: token } = context.session
  const isRefused = Object.keys(errors).length > 0
  return formPage(
    {
      title: 'Change password',
      action: '/settings/account/password',
      token,
      fields: html`<input type="email" name="email" value=${email} autocomplete="username" readonly hidden />
        ${presentPassword('present', 'Present password', errors.present?.[0])} ${needsCode(context) && codeField(errors.code?.[0])}
        ${newPasswordFields('New password', errors)}
        <p class="hint">All your other sessions end. Your tokens stay valid.</p>`,
      button: 'Change password',
      cancel: '/settings/account',
    },
    { ...refusal, ...(isRefused && { error: 'The password was not changed.' }) },
  )
}
