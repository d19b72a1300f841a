import { readAttestation, registrationOptions, relyingParty } from '../../auth/accounts/passkeys.ts'
import { registerPasskey, removePasskey, renamePasskey } from '../../auth/accounts/register-passkey.ts'
import { secondFactorOf } from '../../auth/accounts/second-factor.ts'
import { mayIssue } from '../../auth/tokens/lifecycle.ts'
import type { Session } from '../../model/account.ts'
import { limits } from '../../model/limits.ts'
import type { Passkey } from '../../model/second-factor.ts'
import { nameLine } from '../../model/text.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { notFoundPage, sessionChangedPage, tooManyAttempts } from '../error-pages.ts'
import { field, html, notice } from '../html.ts'
import type { Page, PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { announce } from './notices.ts'
import { passkeyButton } from './passkey-button.ts'
import { ACCOUNT_CHANGE, passwordField, reauthenticate } from './re-authentication.ts'

const passkeyName = nameLine(limits.passkeyName)

/** Adds a passkey: asks for a recent proof, then for a name, and stores what the browser answers. */
export const newPasskeyPage: Page = {
  path: '/settings/account/passkeys/new',
  anonymous: false,
  get: async (context) => renderNew(context, context.session),
  async post(context) {
    const { form } = context
    const proof = await reauthenticate(context, ACCOUNT_CHANGE)
    if (proof === 'no_session' || proof === 'refused') return sessionChangedPage()
    if ('error' in proof) return renderNew(context, context.session, proof)
    const name = passkeyName.safeParse(form.get('name') ?? '')
    if (!form.has('attestation')) return renderNew(context, proof.session)
    if (!name.success) return renderNew(context, proof.session, { status: 422, nameError: name.error.issues[0]!.message })
    return (await register(context, name.data)) ?? renderNew(context, proof.session, { status: 422, error: REFUSED })
  },
}
const REFUSED = `The passkey was not added. Try again. You can have ${limits.passkeysPerPerson} passkeys.`

async function register(context: SignedInContext, name: string): Promise<PageResponse | undefined> {
  const { web, session, origin, form, address } = context
  const [party, attestation] = [relyingParty(origin), readAttestation(form.get('attestation') ?? '')]
  const passkey = party && attestation && (await registerPasskey(web, { party, session, attestation, name }))
  if (passkey === undefined) return undefined
  web.log.info({ event: 'web.passkey_added', user_id: session.user_id, passkey: passkey.id, address }, 'passkey added')
  await announce(context, 'passkey_added', passkey.name)
  return { redirect: '/settings/account?passkey' }
}

/** The challenge with which the browser makes a passkey. */
export const passkeyChallengePage: Page = {
  path: '/settings/account/passkeys/challenge',
  anonymous: false,
  async post(context) {
    const { web, session, origin } = context
    const party = relyingParty(origin)
    if (party === undefined) return { json: { error: 'There are no passkeys at an IP address.' }, status: 409 }
    if (!mayIssue(ACCOUNT_CHANGE, Date.parse(session.proved_at), web.clock()))
      return { json: { error: 'Your password is needed again. Open the page again.' }, status: 403 }
    const { user_id: userId, email, form_token: formToken } = session
    const result = await web.secondStep.challenge(userId, { purpose: 'register', userId, formToken })
    if ('retryAfterMs' in result) return tooManyChallenges(result.retryAfterMs)
    const user = await transact(web.store, GLOBAL, web.random, (tx) => tx.get(keys.user(userId)))
    const person = { userId, email, name: user?.display_name ?? email, passkeys: result.passkeys }
    return { json: await registrationOptions(party, result.challenge, person) }
  },
}

/** The response to a script that asked for too many challenges. */
export function tooManyChallenges(retryAfterMs: number): PageResponse {
  const { error, headers } = tooManyAttempts(retryAfterMs)
  return { json: { error }, status: 429, headers }
}

/** Renames or removes a passkey. */
export const passkeyPage: Page = {
  path: '/settings/account/passkeys/{passkey}',
  anonymous: false,
  async get(context) {
    const passkey = await findPasskey(context)
    return passkey === undefined ? notFoundPage() : renderPasskey(context, passkey)
  },
  async post(context) {
    const passkey = await findPasskey(context)
    if (passkey === undefined) return notFoundPage()
    return context.form.get('do') === 'remove' ? remove(context, passkey) : rename(context, passkey)
  },
}

async function findPasskey({ web, session, params }: SignedInContext): Promise<Passkey | undefined> {
  const { passkeys } = await transact(web.store, GLOBAL, web.random, (tx) => secondFactorOf(tx, session.user_id))
  return passkeys.find(({ id }) => id === params['passkey'])
}

async function rename(context: SignedInContext, passkey: Passkey): Promise<PageResponse> {
  const { web, session, form } = context
  const name = passkeyName.safeParse(form.get('name') ?? '')
  if (!name.success) return renderPasskey(context, passkey, { status: 422, nameError: name.error.issues[0]!.message })
  await transact(web.store, GLOBAL, web.random, (tx) => renamePasskey(tx, session.user_id, passkey.id, name.data))
  return { redirect: '/settings/account?renamed' }
}

async function remove(context: SignedInContext, { id, name }: Passkey): Promise<PageResponse> {
  const { web, session, address } = context
  const proof = await reauthenticate(context, ACCOUNT_CHANGE)
  if (proof === 'no_session' || proof === 'refused') return sessionChangedPage()
  if ('error' in proof) return renderPasskey(context, (await findPasskey(context))!, proof)
  const removed = await transact(web.store, GLOBAL, web.random, (tx) => removePasskey(tx, session.user_id, id))
  if (removed === undefined) return { redirect: '/settings/account', audit: false }
  web.log.info({ event: 'web.passkey_removed', user_id: session.user_id, passkey: id, address }, 'passkey removed')
  await announce(context, 'passkey_removed', name)
  return { redirect: '/settings/account?removed' }
}

interface Outcome {
  readonly status?: number
  readonly error?: string
  readonly nameError?: string
  readonly headers?: Record<string, string>
}

function renderNew(context: SignedInContext, session: Session, { status = 200, error, nameError, headers = {} }: Outcome = {}): PageView {
  const proof = passwordField({ ...context, session }, ACCOUNT_CHANGE, error)
  const body = html`
    <h1>Add a passkey</h1>
    ${error && notice('error', error)}
    <form method="post" action="/settings/account/passkeys/new" class="card">
      <input type="hidden" name="form_token" value=${session.form_token} />
      ${
        proof === undefined
          ? html`${field({ name: 'name', label: 'Name', hint: 'So that you recognize it in the list, such as the name of the device.', error: nameError, required: true, maxlength: limits.passkeyName, autocomplete: 'off', value: context.form.get('name') ?? context.agent })}
              ${passkeyButton({ purpose: 'register', field: 'attestation', label: 'Create a passkey', isPrimary: true })}
              <p class="hint">
                A passkey needs a browser with JavaScript that knows passkeys, and a device with a fingerprint reader, a camera or a PIN.
              </p>`
          : html`${proof}
              <p><button class="primary">Continue</button></p>`
      }
      <p><a href="/settings/account">Back to your account</a></p>
    </form>
  `
  return { title: 'Add a passkey', body, status, headers, session }
}

function renderPasskey(
  context: SignedInContext,
  passkey: Passkey,
  { status = 200, error, nameError, headers = {} }: Outcome = {},
): PageView {
  const action = `/settings/account/passkeys/${passkey.id}`
  const token = html`<input type="hidden" name="form_token" value=${context.session.form_token} />`
  const body = html`
    <h1>${passkey.name}</h1>
    ${error && notice('error', error)}
    <form method="post" action=${action} class="card">
      ${token}
      ${field({ name: 'name', label: 'Name', error: nameError, required: true, maxlength: limits.passkeyName, autocomplete: 'off', value: passkey.name })}
      <button name="do" value="rename">Rename</button>
    </form>
    <form method="post" action=${action} class="card">
      ${token}
      <input type="hidden" name="do" value="remove" />
      <p>Once it is removed here, the passkey no longer signs you in. Delete it on your device too.</p>
      ${passwordField(context, ACCOUNT_CHANGE, error)}
      <p class="actions">
        <button class="primary danger">Remove the passkey</button> <a class="button" href="/settings/account">Cancel</a>
      </p>
    </form>
  `
  return { title: passkey.name, body, status, headers }
}
