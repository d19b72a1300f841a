import type { VNode } from 'preact'
import { field } from '../html.ts'

/** The field for a code of an authenticator app, or for a recovery code. */
export function codeField(error?: string, attributes: Record<string, unknown> = {}): VNode {
  return field({
    name: 'code',
    label: 'Code',
    hint: 'The six digits that your authenticator app shows now, or one of your recovery codes.',
    error,
    autocomplete: 'one-time-code',
    autocapitalize: 'off',
    spellcheck: 'false',
    required: true,
    maxlength: 40,
    ...attributes,
  })
}
