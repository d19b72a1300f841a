import type { VNode } from 'preact'
import { changePasskey, readAnswer, registerPasskey } from '../../auth/accounts/passkeys.ts'
import { secondFactorOf } from '../../auth/accounts/second-factor.ts'
import { limits } from '../../model/limits.ts'
import { nameLine } from '../../model/text.ts'
import { GLOBAL } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { notFoundPage } from '../error-pages.ts'
import { html } from '../html.ts'
import { field, formPage, postForm, type Refusal } from '../form-page.ts'
import type { Page, PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { tellingAddress } from '../told.ts'
import { reportChange } from '../alerts.ts'
import { isProved, proofPage, withProof } from './re-authentication.ts'
import { passkeyButton } from './proof-fields.ts'

const passkeyName = nameLine(limits.passkeyName)
const REFUSED = `The passkey was not added. Try again. You can have ${limits.passkeysPerPerson} passkeys.`

/** Adds a passkey: asks for a recent proof, then for a name, and stores what the browser answers. */
export const newPasskeyPage: Page = { path: '/settings/account/passkeys/new', get: add, post: add }

function add(context: SignedInContext): Promise<PageResponse> | PageView {
  if (context.request.method !== 'POST' && isProved(context)) return renderNew(context)
  return withProof(context, { ...newPasskey, fields: '', button: 'Continue' }, register)
}

async function register(context: SignedInContext): Promise<PageResponse> {
  const { web, session, origin, form } = context
  if (!form.has('attestation')) return renderNew(context)
  const name = passkeyName.safeParse(form.get('name') ?? '')
  if (!name.success) return renderNew(context, { errors: { name: [name.error.issues[0]!.message] } })
  const attestation = readAnswer(form.get('attestation')!, origin)
  const passkey = attestation && (await registerPasskey(web, { session, attestation, name: name.data }))
  if (passkey === undefined) return renderNew(context, { error: REFUSED })
  await reportChange(context, 'passkey_added', passkey)
  return { redirect: tellingAddress(context, '/settings/account', { passkey: '' }) }
}

const newPasskey = { title: 'Add a passkey', below: html`<p><a href="/settings/account">Back to your account</a></p>` }

function renderNew(context: SignedInContext, refusal?: Refusal): PageView {
  const { form, agent } = context
  const fields = html`${nameField(form.get('name') ?? agent, refusal, 'So that you recognize it in the list, such as the name of the device.')}
    ${passkeyButton({ purpose: 'register', field: 'attestation', label: 'Create a passkey', isPrimary: true })}
    <p class="hint">
      A passkey needs a browser with JavaScript that knows passkeys, and a device with a fingerprint reader, a camera or a PIN.
    </p>`
  return formPage(context, { ...newPasskey, fields }, refusal)
}

/** Renames or removes a passkey. */
export const passkeyPage: Page = { path: '/settings/account/passkeys/{passkey}', get: change, post: change }

async function change(context: SignedInContext): Promise<PageResponse> {
  const { web, session, params, form, path } = context
  const { passkeys } = await transact(web.store, GLOBAL, web.random, (tx) => secondFactorOf(tx, session.user_id))
  const passkey = passkeys.find(({ id }) => id === params['passkey'])
  if (passkey === undefined) return notFoundPage()
  const { id, name } = passkey
  const isRenamed = context.request.method === 'POST' && form.get('do') !== 'remove'
  const newName = passkeyName.safeParse(form.get('name') ?? '')
  const refusal = isRenamed && !newName.success ? { errors: { name: [newName.error.issues[0]!.message] } } : undefined
  if (isRenamed && newName.success) {
    await changePasskey(web, session.user_id, id, (one) => ({ ...one, name: newName.data }))
    return { redirect: tellingAddress(context, '/settings/account', { renamed: '' }) }
  }
  const rename = html`${nameField(name, refusal)} <button name="do" value="rename">Rename</button>`
  const removal = {
    title: name,
    above: postForm({ action: path, token: session.form_token, fields: rename }),
    hidden: { do: 'remove' },
    fields: html`<p>Once it is removed here, the passkey no longer signs you in. Delete it on your device too.</p>`,
    button: 'Remove the passkey',
    isDanger: true,
    cancel: '/settings/account',
  }
  if (refusal !== undefined) return proofPage(context, removal, refusal)
  return withProof(context, removal, async (proved) => {
    const removed = await changePasskey(web, session.user_id, id, () => undefined)
    if (removed === undefined) return { redirect: '/settings/account', audit: false }
    await reportChange(context, 'passkey_removed', removed)
    return { redirect: tellingAddress(proved, '/settings/account', { removed: '' }) }
  })
}

function nameField(value: string, refusal: Refusal | undefined, hint?: string): VNode {
  const attributes = { required: true, dir: 'auto', maxlength: limits.passkeyName, autocomplete: 'off', value }
  return field({ name: 'name', label: 'Name', hint, ...attributes }, refusal)
}
