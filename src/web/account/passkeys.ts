import type { VNode } from 'preact'
import {
  assertionOptions,
  readAttestation,
  registrationOptions,
  relyingParty,
  registerPasskey,
  removePasskey,
  renamePasskey,
} from '../../auth/accounts/passkeys.ts'
import { secondFactorOf } from '../../auth/accounts/second-factor.ts'
import { mayIssue } from '../../auth/tokens/lifecycle.ts'
import type { Session } from '../../model/account.ts'
import { limits } from '../../model/limits.ts'
import type { Passkey } from '../../model/second-factor.ts'
import { nameLine } from '../../model/text.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { notFoundPage, tooManyAttempts } from '../error-pages.ts'
import { html } from '../html.ts'
import { field, formPage, postForm, type Refusal } from '../form-page.ts'
import type { Page, PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { announce } from './notices.ts'
import { ACCOUNT_CHANGE, passwordField, withProof } from './re-authentication.ts'
import { passkeyButton } from './proof-fields.ts'

const passkeyName = nameLine(limits.passkeyName)

/** Adds a passkey: asks for a recent proof, then for a name, and stores what the browser answers. */
export const newPasskeyPage: Page = {
  path: '/settings/account/passkeys/new',
  anonymous: false,
  get: async (context) => renderNew(context, context.session),
  post: (context) =>
    withProof(
      context,
      ACCOUNT_CHANGE,
      (refusal) => renderNew(context, context.session, refusal),
      async (proof) => {
        const { form } = context
        const name = passkeyName.safeParse(form.get('name') ?? '')
        if (!form.has('attestation')) return renderNew(context, proof.session)
        if (!name.success) return renderNew(context, proof.session, { status: 422, nameError: name.error.issues[0]!.message })
        return (await register(context, name.data)) ?? renderNew(context, proof.session, { status: 422, error: REFUSED })
      },
    ),
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
    if (party === undefined) return NO_PASSKEYS
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

/** The response to a script that asked for a challenge where there are none. */
export const NO_PASSKEYS: PageResponse = { json: { error: 'There are no passkeys at an IP address.' }, status: 409 }

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
    if (context.form.get('do') !== 'remove') return rename(context, passkey)
    return withProof(
      context,
      ACCOUNT_CHANGE,
      async (refusal) => renderPasskey(context, (await findPasskey(context))!, refusal),
      () => remove(context, passkey),
    )
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
  const removed = await transact(web.store, GLOBAL, web.random, (tx) => removePasskey(tx, session.user_id, id))
  if (removed === undefined) return { redirect: '/settings/account', audit: false }
  web.log.info({ event: 'web.passkey_removed', user_id: session.user_id, passkey: id, address }, 'passkey removed')
  await announce(context, 'passkey_removed', name)
  return { redirect: '/settings/account?removed' }
}

interface Outcome extends Refusal {
  readonly nameError?: string
}

function renderNew(context: SignedInContext, session: Session, { nameError, ...refusal }: Outcome = {}): PageView {
  const proof = passwordField({ ...context, session }, ACCOUNT_CHANGE, refusal.error)
  const name = context.form.get('name') ?? context.agent
  const fields =
    proof === undefined
      ? html`${nameField(name, nameError, 'So that you recognize it in the list, such as the name of the device.')}
          ${passkeyButton({ purpose: 'register', field: 'attestation', label: 'Create a passkey', isPrimary: true })}
          <p class="hint">
            A passkey needs a browser with JavaScript that knows passkeys, and a device with a fingerprint reader, a camera or a PIN.
          </p>`
      : proof
  const back = html`<p><a href="/settings/account">Back to your account</a></p>`
  const page = formPage(
    {
      title: 'Add a passkey',
      action: '/settings/account/passkeys/new',
      token: session.form_token,
      fields,
      ...(proof !== undefined && { button: 'Continue' }),
      below: back,
    },
    refusal,
  )
  return { ...page, session }
}

function renderPasskey(context: SignedInContext, passkey: Passkey, { nameError, ...refusal }: Outcome = {}): PageView {
  const form = { action: `/settings/account/passkeys/${passkey.id}`, token: context.session.form_token }
  const rename = html`${nameField(passkey.name, nameError)} <button name="do" value="rename">Rename</button>`
  return formPage(
    {
      title: passkey.name,
      above: postForm({ ...form, fields: rename }),
      ...form,
      fields: html`<input type="hidden" name="do" value="remove" />
        <p>Once it is removed here, the passkey no longer signs you in. Delete it on your device too.</p>
        ${passwordField(context, ACCOUNT_CHANGE, refusal.error)}`,
      button: 'Remove the passkey',
      isDanger: true,
      cancel: '/settings/account',
    },
    refusal,
  )
}

function nameField(value: string, error: string | undefined, hint?: string): VNode {
  const attributes = { required: true, maxlength: limits.passkeyName, autocomplete: 'off', value }
  return field({ name: 'name', label: 'Name', ...(hint !== undefined && { hint }), error, ...attributes })
}

/** The challenge with which a person who is signed in proves their identity again. */
export const passkeyProofPage: Page = {
  path: '/settings/account/passkeys/prove',
  anonymous: false,
  async post({ web, session, origin }) {
    const party = relyingParty(origin)
    if (party === undefined) return NO_PASSKEYS
    const { user_id: userId, form_token: formToken } = session
    const result = await web.secondStep.challenge(userId, { purpose: 'prove', userId, formToken })
    if ('retryAfterMs' in result) return tooManyChallenges(result.retryAfterMs)
    return { json: await assertionOptions(party, result.challenge, result.passkeys) }
  },
}
