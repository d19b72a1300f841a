import type { VNode } from 'preact'
import { limits } from '../../model/limits.ts'
import { field, type Refusal } from '../form-page.ts'
import { html } from '../html.ts'

/** The field for a code of an authenticator app, or for a recovery code. */
export function codeField(refusal?: Refusal, more: Record<string, unknown> = {}): VNode {
  const hint = 'The six digits that your authenticator app shows now, or one of your recovery codes.'
  const attributes = { autocomplete: 'one-time-code', autocapitalize: 'off', spellcheck: 'false', required: true, maxlength: 40, ...more }
  return field({ name: 'code', label: 'Code', hint, ...attributes }, refusal)
}

/** Where the script of the pages gets a challenge for each purpose. */
export const challengePaths = {
  sign_in: '/settings/sign-in/passkey-challenge',
  prove: '/settings/account/passkeys/prove',
  register: '/settings/account/passkeys/challenge',
} as const

/**
 * A button that asks the browser for a passkey and sends the form with its answer. Only the script shows it, because there are no
 * passkeys without one.
 * @param field the name of the form's field that gets the answer
 */
export function passkeyButton({
  purpose,
  field,
  label,
  isPrimary = false,
}: {
  readonly purpose: keyof typeof challengePaths
  readonly field: string
  readonly label: string
  readonly isPrimary?: boolean
}): VNode {
  return html`<div data-passkey=${purpose} data-challenge=${challengePaths[purpose]} data-field=${field} hidden>
    <input type="hidden" name=${field} value="" />
    <button type="button" class=${isPrimary ? 'primary' : undefined}>${label}</button>
    <p class="error" role="status"></p>
  </div>`
}

/** The field for the password that a person has. */
export function presentPassword(name: string, label: string, refusal?: Refusal, hint?: string): VNode {
  const attributes = { type: 'password', autocomplete: 'current-password', required: true, maxlength: limits.passwordLongest }
  return field({ name, label, hint, ...attributes }, refusal)
}

/** The fields for a new password, which is entered twice. */
export function newPasswordFields(label: string, refusal?: Refusal): VNode {
  const shared = { type: 'password', autocomplete: 'new-password', required: true, maxlength: limits.passwordLongest }
  const hint = `At least ${limits.passwordShortest} characters. A few words in a row make a good password.`
  return html`${field({ name: 'password', label, hint, minlength: limits.passwordShortest, ...shared }, refusal)}
  ${field({ name: 'again', label: `Repeat the ${label.toLowerCase()}`, ...shared }, refusal)}`
}
