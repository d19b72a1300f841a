import { z } from 'zod'
import { changePassword } from '../../auth/accounts/change-password.ts'
import { weaknessOf } from '../../auth/accounts/new-password.ts'
import { newPassword } from '../../model/account.ts'
import { limits } from '../../model/limits.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { setCookie, setSessionCookie } from '../cookies.ts'
import { notFoundPage, sessionChangedPage } from '../error-pages.ts'
import { formPage, type Refusal } from '../form-page.ts'
import { html } from '../html.ts'
import type { Page, PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { tellingAddress } from '../told.ts'
import { reportChange } from '../alerts.ts'
import { checkPassword, isProved } from './re-authentication.ts'
import { DEVICE_COOKIE_AGE } from './second-step.ts'
import { codeField, newPasswordFields, presentPassword } from './proof-fields.ts'

const input = z
  .object({ present: z.string().max(limits.passwordLongest, 'is wrong'), password: newPassword, again: z.string() })
  .refine(({ password, again }) => password === again, { path: ['again'], message: 'must be the same as the new password' })
  .refine(({ password, present }) => password !== present, { path: ['password'], message: 'must differ from the present one' })

/** Changes a person's password. It asks for the present one each time, and for a code if none was entered a short time ago. */
export const passwordPage: Page = {
  path: '/settings/account/password',
  endsAccess: true,
  get: async (context) => ((await hasPassword(context)) ? renderPassword(context) : notFoundPage()),
  async post(context) {
    if (!(await hasPassword(context))) return notFoundPage()
    const parsed = input.safeParse(Object.fromEntries(context.form))
    if (!parsed.success) return renderPassword(context, { errors: z.flattenError(parsed.error).fieldErrors })
    const { present, password } = parsed.data
    const failure = await checkPassword(context, present, needsCode(context))
    if (failure !== undefined) {
      const { error, ...rest } = failure
      return renderPassword(context, { ...rest, errors: { [error.startsWith('The code') ? 'code' : 'present']: [error] } })
    }
    const weakness = await weaknessOf(password, await personOf(context))
    if (weakness !== undefined) return renderPassword(context, { errors: { password: [weakness] } })
    return change(context, password)
  },
}

/** Whether the person has a password: who signs in with the identity provider may have none. */
async function hasPassword({ web, session }: SignedInContext): Promise<boolean> {
  const account = await transact(web.store, GLOBAL, web.random, (tx) => tx.get(keys.account(session.user_id)))
  return account !== undefined && account.password_hash !== null
}

function needsCode(context: SignedInContext): boolean {
  return context.protection.hasAuthenticator && !isProved(context)
}

async function personOf({ web, session }: SignedInContext): Promise<{ email: string; name: string }> {
  const user = await transact(web.store, GLOBAL, web.random, (tx) => tx.get(keys.user(session.user_id)))
  return { email: session.email, name: user?.display_name ?? '' }
}

async function change(context: SignedInContext, password: string): Promise<PageResponse> {
  const { web, session } = context
  const changed = await changePassword(web, { session, passwordHash: await web.passwords.hash(password) })
  if (changed === undefined) return sessionChangedPage()
  setSessionCookie(context, changed)
  setCookie(context, 'device', changed.device, DEVICE_COOKIE_AGE)
  await reportChange(context, 'password_changed')
  return { redirect: tellingAddress({ ...context, session: changed.session }, '/settings/account', { password: '' }) }
}

function renderPassword(context: SignedInContext, refusal?: Refusal): PageView {
  return formPage(
    context,
    {
      title: 'Change password',
      fields: html`<input type="email" name="email" value=${context.session.email} autocomplete="username" readonly hidden />
        ${presentPassword('present', 'Present password', refusal)} ${needsCode(context) && codeField(refusal)}
        ${newPasswordFields('New password', refusal)}
        <p class="hint">All your other sessions end. Your tokens stay valid.</p>`,
      button: 'Change password',
      cancel: '/settings/account',
    },
    refusal && { ...refusal, error: 'The password was not changed.' },
  )
}
