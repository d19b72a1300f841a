import type { VNode } from 'preact'
import { html } from '../html.ts'

/** Where the script of the pages gets a challenge for each purpose. */
const challengePaths = {
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
