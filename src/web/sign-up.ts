import { z } from 'zod'
import { hashOf, newSecret } from '../auth/accounts/secrets.ts'
import { networkOf } from '../auth/accounts/sign-in.ts'
import { invited, signUp } from '../auth/accounts/sign-up.ts'
import { emailAddress, newPassword } from '../model/account.ts'
import { limits } from '../model/limits.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { cookieName, setCookie } from './cookies.ts'
import { field, html } from './html.ts'
import { tooMany } from './re-authentication.ts'
import { anonymousForm, YEAR } from './sign-in.ts'
import type { PageResponse, Page, PageView, PageContext } from './page-context.ts'

const WITHIN = 60 * 60
const input = z
  .object({ email: emailAddress, password: newPassword, again: z.string() })
  .refine(({ password, again }) => password === again, {
    path: ['again'],
    message: 'the two passwords are not the same',
  })
type FieldErrors = Readonly<Partial<Record<'email' | 'password' | 'again', string>>>

/** Setting an e-mail address and a password, with the code of a sign-up link. */
export const signUpPage: Page = {
  path: '/settings/sign-up',
  open: true,
  async get(visit) {
    const { query, origin } = visit
    const code = query.get('code')
    // Out of the address bar and the history, before anything is shown.
    if (code !== null) return { redirect: '/settings/sign-up', cookies: [setCookie('sign_up', encodeURIComponent(code), origin, WITHIN)] }
    const name = await invitedName(visit)
    return name === undefined ? renderNoLink() : renderSignUp(visit, name, {}, '')
  },
  async post(visit) {
    const { web, form, origin } = visit
    const name = await invitedName(visit)
    if (name === undefined) return renderNoLink()
    const parsed = input.safeParse(Object.fromEntries(form))
    const email = form.get('email') ?? ''
    if (!parsed.success) return renderSignUp(visit, name, z.flattenError(parsed.error).fieldErrors as never, email)
    const wait = web.signUps.take(networkOf(visit.address)) || web.signUps.take(hashOf(codeOf(visit)))
    if (wait > 0)
      return { ...renderSignUp(visit, name, { email: tooMany(wait).error }, email), status: 429, headers: tooMany(wait).headers }
    const passwordHash = await web.passwords.hash(parsed.data.password)
    const device = newSecret(web.random)
    const came = await signUp(web, { code: codeOf(visit), email: parsed.data.email, passwordHash, device })
    if ('refused' in came)
      return came.refused === 'no_link' ? renderNoLink() : renderSignUp(visit, name, { email: 'is in use already' }, email)
    web.log.info({ event: 'web.signed_up', user_id: came.userId }, 'signed up')
    return {
      redirect: '/settings/sign-in',
      cookies: [setCookie('sign_up', '', origin, 0), setCookie('device', device, origin, YEAR)],
    } satisfies PageResponse
  },
}

function codeOf({ cookies, origin }: PageContext): string {
  return cookies.get(cookieName('sign_up', origin)) ?? ''
}

/** The name of the person that the link was made for. */
async function invitedName(visit: PageContext): Promise<string | undefined> {
  const { store, random, clock } = visit.web
  return transact(store, GLOBAL, random, async (tx) => {
    const userId = await invited(tx, codeOf(visit), clock)
    return userId === undefined ? undefined : (await tx.get(keys.user(userId)))?.display_name
  })
}

function renderSignUp(visit: PageContext, name: string, problems: FieldErrors, email: string): PageView {
  const { token, cookies } = anonymousForm(visit)
  const error = (name: keyof FieldErrors) => (problems[name] === undefined ? undefined : [problems[name]].flat()[0])
  const body = html`
    <h1>Sign up</h1>
    <p>Welcome, ${name}. Choose what you will sign in with. If you had a password before, it ends with this, and all sessions with it.</p>
    <form method="post" action="/settings/sign-up" class="card">
      <input type="hidden" name="form_token" value=${token} />
      ${field({ name: 'email', label: 'E-mail address', hint: 'Only for signing in. The API never shows it.', error: error('email'), type: 'email', autocomplete: 'username', required: true, maxlength: limits.email, value: email })}
      ${field({ name: 'password', label: 'Password', hint: `At least ${limits.passwordShortest} characters. A few words in a row make a good one.`, error: error('password'), type: 'password', autocomplete: 'new-password', required: true, minlength: limits.passwordShortest, maxlength: limits.passwordLongest })}
      ${field({ name: 'again', label: 'Password, again', error: error('again'), type: 'password', autocomplete: 'new-password', required: true, maxlength: limits.passwordLongest })}
      <button class="primary">Sign up</button>
    </form>
  `
  return { title: 'Sign up', body, cookies, status: Object.keys(problems).length > 0 ? 422 : 200 }
}

function renderNoLink(): PageView {
  return {
    title: 'No sign-up',
    status: 404,
    body: html`
      <h1>This link is not good, or no longer</h1>
      <p>A sign-up link works once, for a week, and only the newest one does. Whoever runs this service can give you another.</p>
      <p><a href="/settings/sign-in">Sign in</a></p>
    `,
  }
}
