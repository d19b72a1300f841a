import { z } from 'zod'
import { weaknessOf } from '../../auth/accounts/new-password.ts'
import { findInvitedUser, signUp } from '../../auth/accounts/sign-up.ts'
import { sha256Hex } from '../../auth/secrets.ts'
import { networkOf } from '../../http/client-address.ts'
import { emailAddress, newPassword } from '../../model/account.ts'
import { limits } from '../../model/limits.ts'
import { HOUR } from '../../model/time.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { cookieOf, setCookie } from '../cookies.ts'
import { notFoundPage, tooManyAttempts } from '../error-pages.ts'
import { anonymousFormToken } from '../forms.ts'
import { html } from '../html.ts'
import { field, formPage, type Refusal } from '../form-page.ts'
import type { Page, PageAudit, PageContext, PageView } from '../page-context.ts'
import { mailAlert } from '../alerts.ts'
import { providerButton } from './provider-button.ts'
import { welcome } from '../workspace/welcome.ts'
import { newPasswordFields } from './proof-fields.ts'
import { passPassword, visitOf } from './second-step.ts'

/** How long the browser keeps the code of a sign-up link: an hour, in seconds. */
const CODE_COOKIE_AGE = HOUR / 1000
const input = z
  .object({ email: emailAddress, password: newPassword, again: z.string() })
  .refine(({ password, again }) => password === again, { path: ['again'], message: 'must be the same as the password above' })

/** Sets a person's e-mail address and password, with the code of a sign-up link. */
export const signUpPage: Page = {
  path: '/settings/sign-up',
  anonymous: true,
  async get(context) {
    const code = context.query.get('code')
    if (code !== null) {
      setCookie(context, 'sign_up', code, CODE_COOKIE_AGE)
      // The redirect keeps the code out of the address bar and the history.
      return { redirect: '/settings/sign-up' }
    }
    const invited = await findInvited(context)
    return invited === undefined ? renderInvalidLink() : renderSignUp(context, invited.name, invited.email)
  },
  async post(context) {
    const { web, form, url, address } = context
    if (!web.hasPasswords) return notFoundPage()
    const invited = await findInvited(context)
    if (invited === undefined) return renderInvalidLink()
    const { name } = invited
    const parsed = input.safeParse(Object.fromEntries(form))
    const email = form.get('email') ?? ''
    if (!parsed.success) return renderSignUp(context, name, email, { errors: z.flattenError(parsed.error).fieldErrors })
    const code = cookieOf(context, 'sign_up') ?? ''
    const wait = web.signUps.take(networkOf(address)) || web.signUps.take(sha256Hex(code))
    if (wait > 0) {
      const { error, ...refusal } = tooManyAttempts(wait)
      return renderSignUp(context, name, email, { ...refusal, errors: { email: [error] } })
    }
    const weakness = await weaknessOf(parsed.data.password, { email: parsed.data.email, name })
    if (weakness !== undefined) return renderSignUp(context, name, email, { errors: { password: [weakness] } })
    const passwordHash = await web.passwords.hash(parsed.data.password)
    const result = await signUp(web, {
      code,
      email: parsed.data.email,
      passwordHash,
      formToken: form.get('form_token')!,
      ...visitOf(context),
    })
    if ('refused' in result) {
      if (result.refused === 'no_link') return renderInvalidLink()
      return renderSignUp(context, name, email, { errors: { email: ['belongs to another account. Enter a different address.'] } })
    }
    const { userId, replaced } = result
    web.log.info({ event: 'web.signed_up', user_id: userId }, 'signed up')
    // The person whose password it was learns of it, also if the address was replaced, too.
    if (replaced !== undefined) mailAlert(web.mail, url, replaced.account, replaced.alert)
    setCookie(context, 'sign_up', '', 0)
    const passed = passPassword(context, result)
    const isFirst = replaced === undefined && result.result === 'signed_in'
    const response = isFirst ? await welcome(context, result.session, passed) : passed
    return { ...response, audit: [{ operation: 'web.sign_up', userId }, response.audit as PageAudit] }
  },
}

/** The person that the link was created for, and the address that it suggests; undefined if the link is not valid. */
async function findInvited(context: PageContext): Promise<{ readonly name: string; readonly email: string } | undefined> {
  const { store, random, clock } = context.web
  return transact(store, GLOBAL, random, async (tx) => {
    const userId = await findInvitedUser(tx, cookieOf(context, 'sign_up') ?? '', clock)
    const user = userId === undefined ? undefined : await tx.get(keys.user(userId))
    return user && { name: user.display_name, email: tx.known(keys.signUp(user.id))?.email ?? '' }
  })
}

function renderSignUp(context: PageContext, name: string, email: string, refusal?: Refusal): PageView {
  const { provider, hasPasswords } = context.web
  if (!hasPasswords)
    return {
      title: 'Sign up',
      body: html`<h1>Sign up</h1>
        <p>Welcome, <bdi>${name}</bdi>.</p>
        ${providerButton(provider!, true)}`,
    }
  return formPage(
    context,
    {
      title: 'Sign up',
      above: html`<p>
          Welcome, <bdi>${name}</bdi>. Choose an e-mail address and a password to sign in with; you are signed in then. If you already have
          a password, the new one replaces it and all your sessions end.
        </p>
        ${
          provider !== undefined &&
          html`<p>Or choose no password:</p>
            ${providerButton(provider, true)}`
        }`,
      token: anonymousFormToken(context),
      fields: html`${field({ name: 'email', label: 'E-mail address', hint: 'Used only to sign in. The API never shows it.', type: 'email', autocomplete: 'username', required: true, maxlength: limits.email, value: email }, refusal)}
      ${newPasswordFields('Password', refusal)}`,
      button: 'Sign up',
    },
    refusal,
  )
}

function renderInvalidLink(): PageView {
  return {
    title: 'Sign-up link not valid',
    status: 404,
    body: html`
      <h1>This sign-up link is not valid</h1>
      <p>A sign-up link works once, expires after 7 days, and is replaced by any newer link. Ask your administrator for a new one.</p>
      <p><a href="/settings/sign-in">Sign in</a></p>
    `,
  }
}
