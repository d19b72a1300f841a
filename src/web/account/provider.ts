import { createChallenge, takeChallenge } from '../../auth/accounts/challenges.ts'
import { enter, type Entry } from '../../auth/accounts/entry.ts'
import { endSessions, renewSession } from '../../auth/accounts/sessions.ts'
import { boundUser, findPerson, recognize, type Found, type Nobody } from '../../auth/provider/identities.ts'
import {
  RefusedAnswer,
  UnreachableProvider,
  type Claims,
  type IdentityProvider,
  type SignInSecrets,
} from '../../auth/provider/identity-provider.ts'
import { newSecret, sha256Hex } from '../../auth/secrets.ts'
import { networkOf } from '../../http/client-address.ts'
import { durations } from '../../model/durations.ts'
import type { Session } from '../../model/account.ts'
import type { Challenge } from '../../model/second-factor.ts'
import { timestamp } from '../../model/time.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { cookieOf, setCookie, setSessionCookie } from '../cookies.ts'
import { errorPage, notFoundPage, tooManyAttemptsPage } from '../error-pages.ts'
import { html } from '../html.ts'
import type { Page, PageAudit, PageContext, PageResponse, PageView } from '../page-context.ts'
import { validAddress } from '../return-path.ts'
import { announce } from '../alerts.ts'
import { PROVIDER_PATH } from './provider-button.ts'
import { welcome } from '../workspace/welcome.ts'
import { passPassword, visitOf } from './second-step.ts'

const CALLBACK = `${PROVIDER_PATH}/callback`
const SIGNED_OUT = `${PROVIDER_PATH}/signed-out`
const COOKIE_AGE = durations.challenge / 1000
/** The format of {@link newSecret}. */
const SECRET = /^[\w-]{43}$/

/** Sends a person to the provider. */
export const providerPage: Page = {
  path: PROVIDER_PATH,
  anonymous: true,
  getChanges: true,
  get: (context) => begin(context, null),
}

/** The same for a signed-in person who has to authenticate again (src/auth/identity-provider.md, "Proving it again"). */
export const providerProofPage: Page = {
  path: `${PROVIDER_PATH}/proof`,
  endsAccess: true,
  getChanges: true,
  get: (context) => begin(context, context.session.user_id, validAddress(context.query.get('back') ?? '')),
}

/** Takes the answer of the provider, which a browser brings. */
export const providerCallbackPage: Page = {
  path: CALLBACK,
  anonymous: true,
  getChanges: true,
  async get(context) {
    const { web, query } = context
    if (web.provider === undefined) return notFoundPage()
    const state = query.get('state') ?? ''
    const browser = cookieOf(context, 'provider')
    const challenge = browser === undefined ? undefined : await takeSignIn(context, state, browser)
    if (challenge === undefined) return refuse(context, 'unknown_state', UNKNOWN)
    const claims = await finish(context, web.provider, secretsOf(browser!, state), challenge)
    if ('title' in claims) return claims
    const { user_id: userId } = challenge
    return userId === null ? signIn(context, claims, challenge) : prove(context, claims, userId, challenge)
  },
}

/** Where a browser goes that has signed out here, to sign out at the provider. */
export const providerSignOutPage: Page = {
  path: `${PROVIDER_PATH}/sign-out`,
  anonymous: true,
  async get(context) {
    const { web, url, session } = context
    // A link of somebody else signs nobody out.
    if (session !== undefined || isForeign(context)) return { redirect: '/settings/account', audit: false }
    const address = await web.provider?.endSession(url + SIGNED_OUT).catch((error: unknown) => {
      unreachable(context, error)
    })
    if (address === undefined) return { redirect: '/settings/sign-in?out', audit: false }
    // The redirect of a form to another site would be stopped by the CSP.
    const body = html`<h1>You are signed out</h1>
      <p>You go on to ${web.provider!.name}, to sign out there too.</p>
      <p class="actions"><a class="button" href=${address}>Go on</a></p>`
    return { title: 'You are signed out', body, headers: { refresh: `0; url=${address}` }, audit: false }
  },
}

/** Where the provider sends a browser that has signed out there. */
export const providerSignedOutPage: Page = {
  path: SIGNED_OUT,
  anonymous: true,
  get: () => ({ redirect: '/settings/sign-in?out' }),
}

/**
 * @param userId whose proof it is; null: it is a sign-in
 * @param returnTo the page that a proof returns to
 */
async function begin(context: PageContext, userId: string | null, returnTo?: string): Promise<PageResponse> {
  const { web, query, url, address } = context
  const { provider } = web
  if (provider === undefined) return notFoundPage()
  if (isForeign(context)) return { redirect: '/settings/sign-in' }
  const wait = web.providerSignIns.take(userId ?? networkOf(address))
  if (wait > 0) return tooManyAttemptsPage(wait)
  const present = cookieOf(context, 'provider')
  const browser = present !== undefined && SECRET.test(present) ? present : newSecret(web.random)
  setCookie(context, 'provider', browser, COOKIE_AGE)
  // Only who has come from the page of a sign-up link, which says whose it is, uses the link.
  const code = query.has('link') ? cookieOf(context, 'sign_up') : undefined
  const credential = code === undefined ? null : sha256Hex(code)
  const members = { user_id: userId, credential, formToken: browser, ...(returnTo !== undefined && { return_to: returnTo }) }
  const state = await transact(web.store, GLOBAL, web.random, (tx) => createChallenge(tx, { purpose: 'provider', ...members }, web))
  try {
    return { redirect: await provider.begin(secretsOf(browser, state), url + CALLBACK, userId !== null), audit: false }
  } catch (error) {
    return unreachable(context, error)
  }
}

/** Another site must not begin what this browser then completes, nor choose where it returns to. */
function isForeign({ request }: PageContext): boolean {
  return request.headers.get('sec-fetch-site') === 'cross-site'
}

/** What only this browser and this attempt have. Nothing but the state leaves the service, or is stored. */
function secretsOf(browser: string, state: string): SignInSecrets {
  return { state, nonce: sha256Hex(`nonce ${browser} ${state}`), verifier: sha256Hex(`verifier ${browser} ${state}`) }
}

/** The sign-in in progress that a state belongs to, once; undefined if it is not this browser's. */
function takeSignIn({ web }: PageContext, state: string, browser: string): Promise<Challenge | undefined> {
  const answered = { secret: state, formToken: browser, purpose: 'provider' } as const
  return transact(web.store, GLOBAL, web.random, (tx) => takeChallenge(tx, answered, web.clock))
}

async function finish(
  context: PageContext,
  provider: IdentityProvider,
  secrets: SignInSecrets,
  { user_id: userId }: Challenge,
): Promise<Claims | PageView> {
  const { url, query, web } = context
  const isBound = (identity: Pick<Claims, 'issuer' | 'subject'>) =>
    transact(web.store, GLOBAL, web.random, async (tx) => (await boundUser(tx, identity)) !== undefined)
  try {
    return await provider.finish(secrets, new URL(`${url}${CALLBACK}?${query}`), userId !== null, isBound)
  } catch (error) {
    if (!(error instanceof RefusedAnswer)) return unreachable(context, error)
    const { code } = error
    const reason = code === undefined ? error.message : `${error.message}: ${code}`
    return refuse(context, reason, code === 'access_denied' ? CANCELLED : NOT_ACCEPTED, userId === null ? [] : [proofOf(userId)])
  }
}

async function signIn(context: PageContext, claims: Claims, { credential }: Challenge): Promise<PageResponse> {
  const { web, address } = context
  const link = cookieOf(context, 'sign_up') ?? ''
  const code = credential === sha256Hex(link) ? link : ''
  // A provider that has not just asked for the person's password has proved nothing for tokens with kanban:admin.
  const proved_at = timestamp(() => claims.provedAt ?? 0)
  const found = await transact(web.store, GLOBAL, web.random, async (tx): Promise<(Found & { readonly entry: Entry }) | Nobody> => {
    const person = await findPerson(tx, claims, code, web.clock)
    if ('reason' in person) return person
    // Sessions that began with a password belong to whoever chose the address of the account.
    if (person.isNew) await endSessions(tx, person.account.user_id)
    return { ...person, entry: await enter(tx, person.account, visitOf(context), web, { way: 'provider', proved_at }) }
  })
  if ('reason' in found) {
    const { reason, userIds = [] } = found
    return refuse(context, reason, NOBODY, userIds.map(signInOf))
  }
  const { account, entry, isNew } = found
  const { userId } = entry
  web.providerSignIns.refund(networkOf(address))
  if (code !== '') setCookie(context, 'sign_up', '', 0)
  if (isNew && account.password_hash !== null) await announceBinding(context, entry.session)
  const passed = passPassword(context, entry)
  // Who is new has no password. An operator who has unbound a person may have them welcomed once more.
  const response = isNew && account.password_hash === null ? await welcome(context, entry.session, passed) : passed
  return { ...response, audit: [...(isNew ? [bindingOf(userId)] : []), signInOf(userId)] }
}

/** The person who is signed in has authenticated again. Somebody else who has signed in at the provider proves nothing. */
async function prove(context: PageContext, claims: Claims, userId: string, { return_to }: Challenge): Promise<PageResponse> {
  const { web, session } = context
  const proved = await transact(web.store, GLOBAL, web.random, async (tx) => {
    const stored = session && (await tx.get(keys.session(session.hash)))
    if (stored === undefined) return 'over'
    const recognized = stored.user_id === userId ? await recognize(tx, claims, userId, web.clock) : undefined
    if (recognized === undefined) return 'another_person'
    if (recognized.isNew) await endSessions(tx, userId, ({ hash }) => hash !== stored.hash)
    return { ...(await renewSession(tx, { ...stored, way: 'provider' }, web, claims.provedAt)), ...recognized }
  })
  if (proved === 'over') return { redirect: '/settings/sign-in?over', audit: false }
  if (proved === 'another_person') return refuse(context, proved, OTHER, [proofOf(userId)])
  web.providerSignIns.refund(userId)
  setSessionCookie(context, proved)
  if (proved.isNew) await announceBinding(context, proved.session)
  web.log.info({ event: 'web.reauthenticated', user_id: userId, request_id: context.requestId, provider: true }, 're-authenticated')
  return { redirect: return_to ?? '/settings/account', audit: proved.isNew ? bindingOf(userId) : false }
}

const signInOf = (userId: string): PageAudit => ({ operation: 'web.sign_in.provider', userId })
const proofOf = (userId: string): PageAudit => ({ operation: 'web.account.prove', userId })
const bindingOf = (userId: string): PageAudit => ({ operation: 'web.account.bind_identity', userId })

/** A person who has a password learns that they are bound: somebody else may know it. */
async function announceBinding(context: PageContext, session: Session): Promise<void> {
  if (context.web.hasPasswords) await announce({ ...context, session }, 'identity_bound')
}

/** What a person is told who does not get in: the title, and what to do. Nothing of it says who exists. */
type Told = readonly [status: number, title: string, advice: string]
const UNKNOWN: Told = [400, 'This sign-in has ended', 'It took too long, it was completed before, or it began in another browser.']
const CANCELLED: Told = [401, 'You are not signed in', 'The identity provider says that the sign-in was cancelled or refused.']
const NOT_ACCEPTED: Told = [401, 'You are not signed in', 'The answer of the identity provider was not accepted.']
const OTHER: Told = [403, 'This was somebody else', 'You have to sign in at the identity provider as the person who is signed in here.']
const NOBODY: Told = [
  403,
  'You have no account here',
  'Ask your administrator to invite the e-mail address that you have at the identity provider.',
]

/**
 * @param reason for the log
 * @param audit of those whom it concerns; a refusal of a stranger is in the log only
 */
function refuse(
  { web, requestId, address }: PageContext,
  reason: string,
  [status, title, advice]: Told,
  audit: readonly PageAudit[] = [],
): PageView {
  const members = { reason, user_ids: audit.map(({ userId }) => userId), request_id: requestId, address }
  web.log.warn({ event: 'web.provider_refused', ...members }, 'sign-in by the provider refused')
  const body = html`<h1>${title}</h1>
    <p>${advice}</p>
    <p class="actions"><a class="button" href="/settings/sign-in">Sign in</a></p>
    <p class="hint">Request ${requestId}</p>`
  return { title, status, body, audit }
}

/** @throws what is no failure of the provider */
function unreachable({ web, requestId }: PageContext, error: unknown): PageView {
  if (!(error instanceof UnreachableProvider)) throw error
  web.log.error(
    { event: 'web.provider_unreachable', reason: error.message, request_id: requestId },
    'the identity provider cannot be reached',
  )
  return errorPage(503, 'The identity provider cannot be reached', 'Try again in a few minutes. People who are signed in stay signed in.')
}
